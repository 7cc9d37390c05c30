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
