import CLibPQ
import Dispatch
public import Logging
import Synchronization

/// One session on a PostgreSQL server.
///
/// Statements run one after the other; concurrent callers queue up. Everything that concerns libpq happens on an
/// executor of the connection's own, with a non-blocking socket: no thread of Swift's cooperative pool ever waits for the
/// server, nor for the resolution of its name, which has the connection's dispatch queue to itself.
public actor PostgresConnection {
  /// What all state belongs to.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// What the pool needs to know without asking on the queue.
  enum Activity: UInt8, AtomicRepresentable {
    case idle
    case inTransaction
    case busy
    case closed
  }

  /// A caller and what it is told.
  private struct Completion: Sendable {
    var continuation: Exchange.Continuation
    var result: Result<[PostgresRows], any Error>
  }

  let executor = QueueExecutor(label: "tidings.postgres.connection")
  /// What watches the socket.
  let loop = PostgresExecutor.shared.next()
  let configuration: PostgresConfiguration
  let logger: Logger
  let activity = Atomic<Activity>(.busy)
  /// When the last answer came, in nanoseconds of uptime.
  let lastAnswer = Atomic<UInt64>(0)
  let quietSocket = Mutex<SocketHandle?>(nil)
  let notificationHandler: (@Sendable (_ payload: String) -> Void)?
  let closeHandler: (@Sendable () -> Void)?

  var handle: ConnectionHandle?
  var connectWatch: EventLoop.Watch?
  var writeWatch: EventLoop.Watch?
  var current: Exchange?
  /// Whose callers are told as soon as the executor is free again, so that what they do next finds it free.
  private var completed: [Completion] = []
  var pending: [Exchange] = []
  var statements: StatementCache
  var flushWaiter: CheckedContinuation<Void, any Error>?
  var timer: (any DispatchSourceTimer)?
  var timerDue = UInt64.max
  /// Why the session has ended.
  var end: PostgresError?
  var isClosed: Bool { end != nil }

  init(
    configuration: PostgresConfiguration, logger: Logger,
    notificationHandler: (@Sendable (String) -> Void)? = nil, closeHandler: (@Sendable () -> Void)? = nil
  ) {
    self.configuration = configuration
    self.logger = logger
    self.notificationHandler = notificationHandler
    self.closeHandler = closeHandler
    statements = StatementCache(limit: configuration.preparedStatementLimit)
  }

  /// Opens a session.
  ///
  /// - Throws: `PostgresError` with `.connectionFailed`, `.connectTimedOut` or `.cancelled`.
  public static func connect(configuration: PostgresConfiguration, logger: Logger) async throws -> PostgresConnection {
    let connection = PostgresConnection(configuration: configuration, logger: logger)
    try await connection.open()
    return connection
  }

  /// Opens a session for the body and closes it afterwards, whatever happens.
  ///
  /// - Throws: What `connect` and the body throw.
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
    try await single(Exchange(.pipeline([query])))
  }

  /// Runs statements in one round trip and, unless they say otherwise, in one transaction: the first error stops the
  /// rest and is thrown.
  ///
  /// - Returns: the rows of each statement, in order.
  /// - Throws: `PostgresError`
  public nonisolated func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    queries.isEmpty ? [] : try await perform(Exchange(.pipeline(queries)))
  }

  /// Runs a text of any number of statements by the simple protocol: one transaction unless the text says otherwise.
  ///
  /// - Throws: the first error, as `PostgresError`.
  public nonisolated func execute(script: String) async throws {
    _ = try await perform(Exchange(.simple(script, copies: false)))
  }

  /// Ends the session. What is running or waiting fails with `.shutDown`.
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

  /// Whether the last answer left the session inside a transaction.
  public nonisolated var isInTransaction: Bool { activity.load(ordering: .acquiring) == .inTransaction }

  /// Whether the session is idle and nothing unexpected, above all no end, has arrived from the server.
  nonisolated var isReadyForLease: Bool {
    guard activity.load(ordering: .acquiring) == .idle else { return false }
    // The look at the socket is a system call, which one that has just answered can be spared.
    if Self.now &- lastAnswer.load(ordering: .relaxed) < 10_000_000 { return true }
    return quietSocket.withLock { $0?.isQuiet ?? false }
  }

  /// Ends an open transaction, if any, after whatever is still running.
  nonisolated func rollback() async throws {
    _ = try await single(Exchange(.pipeline(["ROLLBACK"]), isShielded: true))
  }

  /// Runs an exchange with one wanted result.
  nonisolated func single(_ exchange: Exchange) async throws -> PostgresRows {
    guard let rows = try await perform(exchange).first else {
      throw PostgresError(.protocolViolation, "there is no result")
    }
    return rows
  }

  /// Runs an exchange and waits for its end.
  nonisolated func perform(_ exchange: Exchange) async throws -> [PostgresRows] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        exchange.continuation = continuation
        ifFree { $0.start(exchange) }
      }
    } onCancel: {
      // The flag serves where this comes before `start`.
      exchange.isCancelled = true
      onQueue { $0.interrupt(exchange, because: .cancelled) }
    }
  }

  /// Runs `body` on the connection's queue, in the order of the calls.
  nonisolated func onQueue(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) {
    executor.queue.async { self.run(body) }
  }

  /// Runs `body` at once if nothing else is running, which saves a change of threads; on the queue otherwise.
  nonisolated func ifFree(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) {
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

  /// Reads what has arrived, now or as soon as the executor is free.
  private nonisolated func readArrived() {
    var completed: [Completion] = []
    executor.runOrLeave { completed += self.assumeIsolated { $0.takeCompleted(after: { $0.readAndRearm() }) } }
    for completion in completed { completion.continuation.resume(with: completion.result) }
  }

  private func readAndRearm() {
    let exchange = current
    receive()
    // libpq may have left something in the socket's buffer. Once an answer is complete nothing is missed thereby: what
    // can follow it is read with the next answer, or found when the connection is lent; who listens waits for neither.
    if !isClosed, exchange == nil || exchange === current || notificationHandler != nil { handle?.rearm() }
  }

  /// Has `receive` called whenever the socket is readable.
  func watchSocket() {
    let reader: @Sendable () -> Void = { [weak self] in self?.readArrived() }
    executor.setReader(reader)
    handle?.watch(reader)
  }

  private func takeCompleted(after body: (isolated PostgresConnection) -> Void) -> [Completion] {
    body(self)
    defer { completed = [] }
    return completed
  }

  /// Has the exchange's caller told.
  func complete(_ exchange: Exchange, with result: Result<[PostgresRows], PostgresError>) {
    guard let continuation = exchange.continuation.take() else { return }
    completed.append(Completion(continuation: continuation, result: result.mapError { $0 }))
  }

  /// A handler for events, which does not keep the connection alive.
  nonisolated func handler(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) -> @Sendable () -> Void {
    { [weak self] in
      self?.run(body)
    }
  }

  /// A handler for a thread that must not wait for the connection: it runs a moment later.
  nonisolated func queued(_ body: @escaping @Sendable (isolated PostgresConnection) -> Void) -> @Sendable () -> Void {
    { [weak self] in self?.onQueue(body) }
  }
}
