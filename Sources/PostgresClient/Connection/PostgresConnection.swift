import CLibPQ
import Dispatch
import Foundation
public import Logging
import Synchronization

/// One session on a PostgreSQL server.
///
/// Statements run one after the other; those of concurrent callers are queued. All calls of libpq are made on an
/// executor of the connection's own, with a non-blocking socket. No thread of Swift's cooperative pool ever waits for
/// the server or for name resolution, which blocks only the connection's own dispatch queue.
///
///     func serverVersion(configuration: PostgresConfiguration, logger: Logger) async throws -> String {
///       try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
///         let rows = try await connection.query("SELECT version()")
///         return try rows[0].decode("version", as: String.self)
///       }
///     }
public actor PostgresConnection {
  /// The executor that isolates the connection's state.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The state of the session, which the pool reads without a hop to the queue.
  enum Activity: UInt8, AtomicRepresentable {
    case idle
    case inTransaction
    case busy
    case closed
  }

  /// A caller and its result.
  private struct Completion: Sendable {
    var continuation: StatementBatch.Continuation
    var result: Result<[PostgresRows], any Error>
  }

  let executor = QueueExecutor(label: "tidings.postgres.connection")
  /// The event loop that watches the socket.
  let loop = PostgresExecutor.shared.next()
  let configuration: PostgresConfiguration
  let logger: Logger
  let activity = Atomic<Activity>(.busy)
  /// The time of the last answer, in nanoseconds of uptime.
  let lastAnswer = Atomic<UInt64>(0)
  /// The id of the server process; 0 before the session is open.
  let serverProcess = Atomic<Int32>(0)
  /// The socket that is polled before a lease; nil unless the session is open.
  let polledSocket = Mutex<SocketHandle?>(nil)
  let notificationHandler: (@Sendable (_ payload: String, _ sender: Int32) -> Void)?
  let closeHandler: (@Sendable () -> Void)?

  var handle: ConnectionHandle?
  var connectWatch: SocketEventLoop.Watch?
  var writeWatch: SocketEventLoop.Watch?
  /// The batch that was sent last, and whose answers are outstanding.
  var current: StatementBatch?
  /// The results of finished batches. Their callers resume once the executor is free, so that their next statement
  /// finds it free.
  private var completed: [Completion] = []
  /// The batches that wait for the end of the current one.
  var pending: [StatementBatch] = []
  var statements: StatementCache
  var flushWaiter: CheckedContinuation<Void, any Error>?
  var timer: (any DispatchSourceTimer)?
  var timerDeadline = UInt64.max
  /// The reason why the session ended; nil while it is open.
  var closeReason: PostgresError?
  var isClosed: Bool { closeReason != nil }

  init(
    configuration: PostgresConfiguration, logger: Logger,
    notificationHandler: (@Sendable (String, Int32) -> Void)? = nil, closeHandler: (@Sendable () -> Void)? = nil
  ) {
    self.configuration = configuration
    self.logger = logger
    self.notificationHandler = notificationHandler
    self.closeHandler = closeHandler
    statements = StatementCache(capacity: configuration.preparedStatementLimit)
  }

  /// Opens a session.
  ///
  /// - Throws: `PostgresError` with `.connectionFailed`, `.connectTimedOut` or `.cancelled`, or the error of a
  ///   statement that sets up the session.
  public static func connect(configuration: PostgresConfiguration, logger: Logger) async throws -> PostgresConnection {
    let connection = PostgresConnection(configuration: configuration, logger: logger)
    try await connection.open()
    return connection
  }

  /// Opens a session for the body and closes it afterwards, whether the body returns or throws.
  ///
  /// - Throws: The errors of `connect` and of the body.
  public nonisolated(nonsending) static func with<Result>(
    configuration: PostgresConfiguration, logger: Logger, _ body: (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    let connection = try await connect(configuration: configuration, logger: logger)
    do {
      let result = try await body(connection)
      await connection.close()
      return result
    } catch {
      await connection.close()
      throw error
    }
  }

  /// Runs a statement and returns its rows.
  ///
  /// Cancelling the task cancels the statement on the server.
  ///
  /// - Throws: `PostgresError`
  public nonisolated func query(_ query: PostgresQuery) async throws -> PostgresRows {
    try await firstResult(StatementBatch(.pipeline([query])))
  }

  /// Runs statements in one round trip and, unless they contain transaction commands, in one transaction. The first
  /// error skips the rest and is thrown.
  ///
  /// - Returns: The rows of each statement, in order.
  /// - Throws: `PostgresError`
  public nonisolated func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    queries.isEmpty ? [] : try await perform(StatementBatch(.pipeline(queries)))
  }

  /// Runs a script of any number of statements by the simple query protocol, in one transaction unless it contains
  /// transaction commands.
  ///
  /// - Throws: The first error, as `PostgresError`.
  public nonisolated func execute(script: String) async throws {
    _ = try await perform(StatementBatch(.simple(script, copies: false)))
  }

  /// Ends the session. Running and queued statements fail with `.shutDown`, a COMMIT that was sent with
  /// `.commitOutcomeUnknown`.
  public nonisolated func close() async {
    await withCheckedContinuation { continuation in
      onQueue { connection in
        connection.close(with: PostgresError(.shutDown, "the connection was closed"))
        continuation.resume()
      }
    }
  }

  /// Whether the session has ended.
  public nonisolated var hasEnded: Bool { activity.load(ordering: .acquiring) == .closed }

  /// Whether the last answer left the session inside a transaction. False while a statement runs.
  public nonisolated var isInTransaction: Bool { activity.load(ordering: .acquiring) == .inTransaction }

  /// Whether the session is idle and nothing unexpected has arrived from the server, such as the end of the stream.
  nonisolated var isReadyForLease: Bool {
    guard activity.load(ordering: .acquiring) == .idle else { return false }
    // Polling the socket is a system call. It is skipped for a connection that answered within the last 10 ms.
    if Self.now &- lastAnswer.load(ordering: .relaxed) < 10_000_000 { return true }
    return polledSocket.withLock { $0.map { !$0.hasPendingInput } ?? false }
  }

  /// Rolls back an open transaction, if any, after the batches that are still running.
  nonisolated func rollback() async throws {
    _ = try await firstResult(StatementBatch(.pipeline(["ROLLBACK"]), isShielded: true))
  }

  /// Runs a batch and returns its first result.
  nonisolated func firstResult(_ batch: StatementBatch) async throws -> PostgresRows {
    guard let rows = try await perform(batch).first else {
      throw PostgresError(.protocolViolation, "the server returned no result")
    }
    return rows
  }

  /// Runs a batch and waits for its end.
  nonisolated func perform(_ batch: StatementBatch) async throws -> [PostgresRows] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        batch.continuation = continuation
        runNowOrEnqueue { $0.start(batch) }
      }
    } onCancel: {
      // The flag stops the batch if the cancellation comes before `start`.
      batch.isCancelled = true
      onQueue { $0.cancel(batch, reason: .cancelled) }
    }
  }

  /// Runs `body` on the connection's queue, in the order of the calls.
  nonisolated func onQueue(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) {
    executor.queue.async { self.run(body) }
  }

  /// Runs `body` at once if the executor is free, which saves a thread switch, and on the queue otherwise.
  nonisolated func runNowOrEnqueue(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) {
    var completed: [Completion] = []
    let isFree = executor.runIfFree { completed = self.assumeIsolated { $0.takeCompleted(after: body) } }
    if !isFree { return onQueue(body) }
    for completion in completed { completion.continuation.resume(with: completion.result) }
  }

  private nonisolated func run(_ body: @Sendable (isolated PostgresConnection) -> Void) {
    var completed: [Completion] = []
    executor.run { completed = self.assumeIsolated { $0.takeCompleted(after: body) } }
    for completion in completed { completion.continuation.resume(with: completion.result) }
  }

  /// Reads the data that has arrived, now or as soon as the executor is free.
  private nonisolated func readAvailableData() {
    var completed: [Completion] = []
    executor.runOrDefer { completed += self.assumeIsolated { $0.takeCompleted(after: { $0.readAndRearm() }) } }
    for completion in completed { completion.continuation.resume(with: completion.result) }
  }

  private func readAndRearm() {
    let batch = current
    receive()
    // libpq may have left data in the socket's buffer. After a complete answer this loses nothing: later data is read
    // with the next answer, or found when the connection is leased. A listener does neither and always rearms.
    if !isClosed, batch == nil || batch === current || notificationHandler != nil { handle?.rearm() }
  }

  /// Registers `readAvailableData` as the handler for new data.
  func watchSocket() {
    let handler: @Sendable () -> Void = { [weak self] in self?.readAvailableData() }
    executor.setReadHandler(handler)
    handle?.watch(handler)
  }

  private func takeCompleted(after body: (isolated PostgresConnection) -> Void) -> [Completion] {
    body(self)
    defer { completed = [] }
    return completed
  }

  /// Records the result of a batch; its caller resumes once the executor is free.
  func complete(_ batch: StatementBatch, with result: Result<[PostgresRows], PostgresError>) {
    guard let continuation = batch.continuation.take() else { return }
    completed.append(Completion(continuation: continuation, result: result.mapError { $0 }))
  }

  /// Returns an event handler that does not keep the connection alive.
  nonisolated func handler(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) -> @Sendable () -> Void {
    { [weak self] in
      self?.run(body)
    }
  }

  /// Returns a handler for a thread that must not wait for the connection. It runs `body` later, on the queue.
  nonisolated func queueHandler(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void)
    -> @Sendable () -> Void
  {
    { [weak self] in self?.onQueue(body) }
  }
}

/// Reads from a connection that may be encrypted.
///
/// libpq reads as much of a TLS record as its buffer has room for, which is at least 8 KiB; a record has up to 16 KiB.
/// The rest is already decrypted and stays in OpenSSL, where it causes no socket event. An answer that ends with such a
/// record would never be complete. libpq's own blocking callers check `pgtls_read_pending` (PostgreSQL 15,
/// `pqReadData`).
enum EncryptedInput {
  private typealias PendingByteCount = @convention(c) (UnsafeMutableRawPointer) -> Int32

  /// `SSL_pending` of the OpenSSL that libpq is linked with. It is looked up at run time, because libpq's headers do
  /// not require those of OpenSSL.
  private static let pendingByteCount: PendingByteCount? = dlsym(nil, "SSL_pending").map {
    unsafeBitCast($0, to: PendingByteCount.self)
  }

  /// The number of further reads that empty a record of 16 KiB, at 8 KiB each, plus one that finds it empty.
  private static let readsPerRecord = 3

  /// Makes libpq read everything that has been received and decrypted. Bytes that the socket still holds make it
  /// readable.
  ///
  /// - Returns: False if the connection is broken.
  static func consume(_ connection: OpaquePointer) -> Bool {
    guard PQconsumeInput(connection) == 1 else { return false }
    if PQsslInUse(connection) == 1, let pendingByteCount, let session = PQsslStruct(connection, "OpenSSL") {
      while pendingByteCount(session) > 0 {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    } else if PQsslInUse(connection) == 1 || PQgssEncInUse(connection) == 1 {
      // Kerberos has packets of 16 KiB and no counterpart of `SSL_pending`.
      for _ in 0..<readsPerRecord {
        guard PQconsumeInput(connection) == 1 else { return false }
      }
    }
    return true
  }
}
