import News
import PostgresClient
import Synchronization

/// The connection pool. It translates the errors that a caller can handle into `StoreError`.
struct Database: Sendable {
  let pool: PostgresPool
  let writes: WriteHealth

  func query(_ query: PostgresQuery) async throws -> PostgresRows {
    try await translating { try await pool.query(query) }
  }

  /// Runs queries in one snapshot and one round trip.
  func snapshot(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    do {
      return try await translating {
        // A single statement is a snapshot by itself.
        queries.count == 1 ? [try await pool.read(queries[0])] : try await pool.snapshot(queries)
      }
    } catch StoreError.writesRefused {
      // A large sort needs a temporary file. What is in memory can still be served.
      throw StoreError.unavailable
    }
  }

  func withConnection<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    try await translating { try await pool.withConnection(body) }
  }

  /// Runs a READ COMMITTED transaction. `body` runs again after a deadlock, so it must have no effects besides its SQL.
  func transaction<Result: Sendable>(
    _ body: @Sendable (PostgresTransaction) async throws -> Result
  ) async throws -> Result {
    try await translating { try await pool.transaction(body) }
  }

  private func translating<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      return try await DatabaseTime.measuring(body)
    } catch {
      throw translated(error)
    }
  }

  /// Returns the error for a caller, and records it if the database accepts no writes.
  func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as PostgresError: translated(error)
    // The connection was refused for its schema. `NewsStore.schemaProblem` has the reason.
    case is MigrationError: StoreError.unavailable
    default: error
    }
  }

  private func translated(_ error: PostgresError) -> any Error {
    let obstacle = writes.record(error)
    // After the loss of a connection, what matters to the caller is whether the write was done.
    if let obstacle, error.code == .server { return StoreError.writesRefused(obstacle) }
    return StoreError(error) ?? error
  }
}

extension StoreError {
  /// Whether the database cannot be used at present, whatever the operation. The log of the connections, or of
  /// `WriteHealth`, says so.
  package var isOutage: Bool {
    switch self {
    case .unavailable, .writesRefused: true
    default: false
    }
  }

  /// - Returns: nil for errors that a caller cannot handle.
  init?(_ error: PostgresError) {
    switch error.code {
    case .commitOutcomeUnknown:
      self = .outcomeUnknown
    case .connectionFailed, .connectionLost, .connectTimedOut, .acquireTimedOut, .tooManyWaiters, .shutDown,
      .statementTimedOut, .cancelled:
      self = .unavailable
    case .server:
      switch error.sqlState {
      // `publish()` reports the unknown slug.
      case "TD003": self = .unknownTopics(error.detail.map { [$0] } ?? [])
      // A deadlock or serialization failure that persisted through all retries.
      case "40001", "40P01": self = .unavailable
      case "57014": self = .statementCancelled
      // idle_in_transaction_session_timeout, and the classes Insufficient Resources and Operator Intervention
      // (PostgreSQL, appendix A). The causes are a suspended process, a lack of memory, and a shutdown.
      case "25P03": self = .unavailable
      case let state? where state.hasPrefix("53") || state.hasPrefix("57P"): self = .unavailable
      default: return nil
      }
    default:
      return nil
    }
  }
}

/// The time that a task waits for the database: for connections and for statements, including those of cache loads that
/// it started.
public final class DatabaseTime: Sendable {
  /// The counter for the statements of the current task; nil if they are not measured.
  @TaskLocal public static var current: DatabaseTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a counter at zero.
  public init() {}

  /// The time so far. Each of several concurrent statements counts in full.
  public var total: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

  static func measuring<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let current else { return try await body() }
    let start = ContinuousClock.now
    defer {
      let passed = (ContinuousClock.now - start) / .nanoseconds(1)
      current.nanoseconds.wrappingAdd(Int64(passed), ordering: .relaxed)
    }
    return try await body()
  }
}

extension NewsStore {
  /// Runs work on behalf of a party, such as a key. In the queues of the database, parties take turns, and no party has all
  /// connections. So a party with very many requests delays the others by one of its statements each.
  package static func onBehalf<Value>(of party: String, _ work: () async throws -> Value) async rethrows -> Value {
    try await QueueParty.$current.withValue(party, operation: work)
  }
}
