import CLibPQ
import Dispatch
import Synchronization

/// The statements sent to the server in one round trip, and their results.
///
/// It is sendable because, after its creation, everything but the atomic flag is used on the executor of its one
/// connection only.
final class StatementBatch: @unchecked Sendable {
  enum Kind {
    /// Statements of the extended query protocol, ended by one Sync.
    case pipeline([PostgresQuery])
    /// A script of the simple query protocol; `copies` is true if it starts COPY FROM STDIN.
    case simple(String, copies: Bool)
  }

  /// An expected result of a pipeline.
  enum Step {
    /// A query, whose result the caller receives.
    case query
    case prepare(StatementCache.Key)
    case deallocate(String)
    case begin
    case commit
  }

  typealias Continuation = CheckedContinuation<[PostgresRows], any Error>

  let kind: Kind
  /// The transaction, if any. BEGIN precedes its first batch.
  let transaction: TransactionState?
  /// Whether COMMIT follows the queries.
  let commits: Bool
  /// Whether the batch is never cancelled, such as COMMIT, and ROLLBACK after a failure. The connection is closed if
  /// it takes `shieldedTimeoutMargin` longer than `statementTimeout`.
  let isShielded: Bool
  var continuation: Continuation?

  var steps: [Step] = []
  var nextStep = 0
  var results: [PostgresRows] = []
  var failure: PostgresError?
  /// The reason for the cancel request that was sent to the server; nil if none was sent.
  var cancelReason: PostgresError.Code?
  /// Whether a cancel request is being sent. It may cancel any statement that is sent before the server has processed
  /// it.
  var isCancelRequestPending = false
  /// Whether all answers have arrived.
  var isAnswered = false
  /// Whether anything may have been sent.
  var isSent = false
  /// Whether the server waits for COPY data, and the connection for the caller.
  var isCopying = false
  /// Whether the batch is a retry after a stale prepared statement.
  var isRetry = false
  var startedInTransaction = false
  /// The deadline, in nanoseconds of the monotonic clock.
  var deadline = UInt64.max

  private let cancelled = Atomic<Bool>(false)

  init(
    _ kind: Kind, transaction: TransactionState? = nil, commits: Bool = false, isShielded: Bool = false
  ) {
    self.kind = kind
    self.transaction = transaction
    self.commits = commits
    self.isShielded = isShielded || commits
  }

  var isCancelled: Bool {
    get { cancelled.load(ordering: .acquiring) }
    set { cancelled.store(newValue, ordering: .releasing) }
  }

  var isPipeline: Bool {
    if case .pipeline = kind { true } else { false }
  }

  /// Resets the batch to its state before sending, as a retry.
  func resetForRetry() {
    steps = []
    nextStep = 0
    results = []
    failure = nil
    isAnswered = false
    isRetry = true
  }
}

/// The prepared statements of one connection, with eviction of the least recently used one.
struct StatementCache {
  struct Key: Hashable {
    var sql: String
    var types: [UInt32]
  }

  private struct Entry {
    var name: String
    /// The value of `useCount` at the last use.
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [Key: Entry] = [:]
  private var useCount: UInt64 = 0
  private var lastNumber: UInt64 = 0
  /// The names of evicted statements, which the server may still have.
  private var evicted: [String] = []

  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// Returns the name of a statement that the server has, and marks it as used; nil if there is none.
  mutating func name(for key: Key) -> String? {
    guard let index = entries.index(forKey: key) else { return nil }
    useCount += 1
    entries.values[index].lastUse = useCount
    return entries.values[index].name
  }

  /// Adds a statement that is about to be prepared and returns its name. A full cache evicts the least recently used
  /// one.
  mutating func insert(_ key: Key) -> String {
    if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      evict(oldest.key)
    }
    useCount += 1
    lastNumber += 1
    let name = "tidings_\(lastNumber)"
    entries[key] = Entry(name: name, lastUse: useCount)
    return name
  }

  /// Evicts a statement that the server has, and queues it for deallocation.
  mutating func evict(_ key: Key) {
    if let entry = entries.removeValue(forKey: key) { evicted.append(entry.name) }
  }

  /// Removes a statement that the server has not prepared.
  mutating func removeUnprepared(_ key: Key) {
    entries[key] = nil
  }

  /// Returns the names of the statements to deallocate, each of them once.
  mutating func takeEvicted() -> [String] {
    defer { evicted = [] }
    return evicted
  }

  /// Queues an evicted statement again, because the server did not deallocate it.
  mutating func requeueForDeallocation(_ name: String) {
    evicted.append(name)
  }

  /// Empties the cache after the server has lost all statements, for example by DISCARD ALL.
  mutating func removeAll() {
    entries = [:]
    evicted = []
  }
}

/// Writes batches to libpq's buffer, and the buffer to the socket.
extension PostgresConnection {
  /// Writes a batch to libpq's buffer.
  ///
  /// - Returns: False if libpq refuses it, which happens for a broken connection only.
  func send(_ batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    switch batch.kind {
    case .simple(let text, _):
      guard PQexitPipelineMode(pointer) == 1 else { return false }
      batch.isSent = true
      return PQsendQuery(pointer, text) == 1
    case .pipeline(let queries):
      guard PQenterPipelineMode(pointer) == 1 else { return false }
      batch.isSent = true
      return sendPipeline(queries, of: batch, on: pointer) && PQpipelineSync(pointer) == 1
    }
  }

  private func sendPipeline(_ queries: [PostgresQuery], of batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    // In a failed transaction the server rejects everything but its end, DEALLOCATE included.
    let prepares = configuration.preparesStatements && PQtransactionStatus(pointer) != PQTRANS_INERROR
    if let transaction = batch.transaction, !transaction.hasBegun.load(ordering: .relaxed) {
      transaction.hasBegun.store(true, ordering: .relaxed)
      batch.steps.append(.begin)
      guard sendUnprepared("BEGIN ISOLATION LEVEL READ COMMITTED", on: pointer) else { return false }
    }
    for query in queries {
      guard
        prepares && !query.isTransactionControl
          ? sendPrepared(query, of: batch, on: pointer)
          : sendUnprepared(query, on: pointer)
      else { return false }
      batch.steps.append(.query)
    }
    if batch.commits {
      batch.steps.append(.commit)
      guard sendUnprepared("COMMIT", on: pointer) else { return false }
    }
    return true
  }

  private func sendUnprepared(_ query: PostgresQuery, on pointer: OpaquePointer) -> Bool {
    query.withParameters { values, lengths, formats in
      PQsendQueryParams(
        pointer, query.sql, Int32(query.types.count), query.types, values, lengths, formats, 1) == 1
    }
  }

  /// Sends a query as a prepared statement. A new one is prepared in the same round trip.
  private func sendPrepared(_ query: PostgresQuery, of batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    let key = StatementCache.Key(sql: query.sql, types: query.types)
    let name: String
    if let known = statements.name(for: key) {
      name = known
    } else {
      name = statements.insert(key)
      for evicted in statements.takeEvicted() {
        batch.steps.append(.deallocate(evicted))
        guard sendUnprepared(PostgresQuery(unsafeSQL: "DEALLOCATE \(evicted)"), on: pointer) else { return false }
      }
      batch.steps.append(.prepare(key))
      guard PQsendPrepare(pointer, name, query.sql, Int32(query.types.count), query.types) == 1 else { return false }
    }
    return query.withParameters { values, lengths, formats in
      PQsendQueryPrepared(pointer, name, Int32(query.types.count), values, lengths, formats, 1) == 1
    }
  }

  /// Writes as much as the socket accepts, and the rest once it is writable (PostgreSQL 15, 34.4, `PQflush`).
  func flush() {
    guard let pointer = handle?.pointer, !isClosed else { return }
    switch PQflush(pointer) {
    case 0:
      writeWatch = nil
      flushWaiter.take()?.resume()
    case 1:
      writeWatch = handle?.watchOnce(for: .writable, queueHandler { $0.flush() })
    default:
      // The server's last error message may still be unread.
      _ = EncryptedInput.consume(pointer)
      closeWithSessionEndError(pointer)
    }
  }
}

extension PostgresQuery {
  /// Whether the query is a transaction command. It is not worth preparing, and must work in a failed transaction too.
  fileprivate var isTransactionControl: Bool {
    sql == "ROLLBACK" || sql == "COMMIT" || sql == PostgresConnection.beginSnapshot
  }
}
