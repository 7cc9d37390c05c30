import Synchronization

/// What is sent to the server at once, and the answers to it.
///
/// Sendable because after its making everything but the atomic flag is touched on the executor of the one connection it
/// is given to.
final class Exchange: @unchecked Sendable {
  enum Kind {
    /// Statements of the extended protocol, ended by one Sync.
    case pipeline([PostgresQuery])
    /// A text of the simple protocol; `copies` if it starts COPY FROM STDIN.
    case simple(String, copies: Bool)
  }

  /// An expected answer of a pipeline.
  enum Step {
    /// Its result is wanted by the caller.
    case query
    case prepare(StatementCache.Key)
    case deallocate(String)
    case begin
    case commit
  }

  typealias Continuation = CheckedContinuation<[PostgresRows], any Error>

  let kind: Kind
  /// BEGIN goes before the first exchange of a transaction.
  let transaction: TransactionState?
  /// COMMIT goes after the queries.
  let commits: Bool
  /// Neither cancelled nor timed out: COMMIT, and ROLLBACK after a failure.
  let isShielded: Bool
  var continuation: Continuation?

  var steps: [Step] = []
  var nextStep = 0
  var results: [PostgresRows] = []
  var failure: PostgresError?
  /// Why a cancel has been sent to the server.
  var interruption: PostgresError.Code?
  /// A cancel is on its way; whatever is sent before it has arrived might be hit by it.
  var isCancelling = false
  /// All answers are there.
  var isAnswered = false
  /// Something may have left this process.
  var isSent = false
  /// The server waits for COPY data, and the connection for the caller.
  var isCopying = false
  /// Has been tried again after a stale prepared statement.
  var isRetry = false
  var startedInTransaction = false
  /// In nanoseconds of the monotonic clock.
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

  /// Back to before the sending.
  func rewind() {
    steps = []
    nextStep = 0
    results = []
    failure = nil
    isAnswered = false
    isRetry = true
  }
}
