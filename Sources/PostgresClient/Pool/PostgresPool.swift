import Dispatch
public import Logging
import Synchronization

/// A bounded set of connections, opened on demand and replaced when they break.
///
///     let configuration = PostgresConfiguration(connectionString: "postgresql://localhost/news")
///     let pool = PostgresPool(configuration: configuration, logger: Logger(label: "news"))
///     let topic = "sport"
///     let rows = try await pool.query("SELECT id, text FROM items WHERE topic = \(topic)")
///     for row in rows {
///       print(try row.decode("id", as: UUID.self), try row.decode("text", as: String.self))
///     }
///     await pool.shutdown()
public final class PostgresPool: Sendable {
  /// A snapshot of the pool's counters.
  ///
  ///     func isSaturated(_ pool: PostgresPool) -> Bool {
  ///       let statistics = pool.statistics
  ///       return statistics.leased == statistics.size && statistics.waiting > 0
  ///     }
  public struct Statistics: Sendable, Hashable {
    /// The maximum number of connections.
    public var size: Int
    /// The number of idle connections.
    public var idle: Int
    /// The number of leased connections.
    public var leased: Int
    /// The number of callers that wait for a connection.
    public var waiting: Int
    /// The number of connections opened since the pool was created.
    public var opened: Int
  }

  let configuration: PostgresConfiguration
  let poolConfiguration: PostgresPoolConfiguration
  let logger: Logger
  let onConnect: @Sendable (PostgresConnection) async throws -> Void
  let state: Mutex<PoolState>

  /// Creates a pool, which has no connections yet.
  ///
  /// - Parameters:
  ///   - configuration: The settings of each connection.
  ///   - pool: The limits of the pool.
  ///   - logger: Receives reports of outages and of their ends.
  ///   - onConnect: A function that runs for each new connection before its first lease. If it throws, the connection
  ///     is not used.
  public init(
    configuration: PostgresConfiguration, pool: PostgresPoolConfiguration = .init(), logger: Logger,
    onConnect: @escaping @Sendable (PostgresConnection) async throws -> Void = { _ in }
  ) {
    self.configuration = configuration
    poolConfiguration = pool
    self.logger = logger
    self.onConnect = onConnect
    state = Mutex(PoolState(configuration: pool))
  }

  /// Runs a statement on any connection. Cancelling the task cancels it on the server.
  ///
  /// If the connection is lost after the statement was sent, it may or may not have been carried out. Only the caller
  /// knows whether it can be repeated.
  ///
  /// - Throws: `PostgresError`
  public func query(_ query: PostgresQuery) async throws -> PostgresRows {
    try await retryingUnsent { try await $0.query(query) }
  }

  /// Runs queries in one read-only snapshot (REPEATABLE READ) and one round trip.
  ///
  /// A snapshot changes nothing. It therefore runs once more if the connection is lost or a prepared statement is
  /// stale.
  ///
  /// - Returns: The rows of each query, in order.
  /// - Throws: `PostgresError`
  public func snapshot(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    if queries.isEmpty { return [] }
    return try await retryingRead { try await $0.snapshot(queries) }
  }

  /// Runs a statement that changes nothing. It therefore runs once more if the connection is lost or the prepared
  /// statement is stale. It costs less than a snapshot of one query, which is a transaction of three statements.
  ///
  /// - Throws: `PostgresError`
  public func read(_ query: PostgresQuery) async throws -> PostgresRows {
    try await retryingRead { try await $0.query(query) }
  }

  private func retryingRead<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    do {
      return try await retryingUnsent(body)
    } catch let error as PostgresError where error.isStaleStatement || error.code == .connectionLost {
      return try await retryingUnsent(body)
    }
  }

  /// Leases a connection for the duration of the body. An open transaction is rolled back afterwards; session settings
  /// stay.
  ///
  /// - Throws: `PostgresError` if no connection is available, and the errors of the body.
  public func withConnection<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    let connection = try await lease()
    defer { release(connection) }
    return try await body(connection)
  }

  /// Runs a READ COMMITTED transaction: COMMIT if the body returns, ROLLBACK if it throws.
  ///
  /// The body runs again, at most `retries` times, after a serialization failure (40001), a deadlock (40P01), a stale
  /// prepared statement, or the loss of a connection before anything was sent. It must not do anything that cannot be
  /// repeated.
  ///
  /// - Throws: `PostgresError`, with `.commitOutcomeUnknown` if the connection was lost during COMMIT, and the errors
  ///   of the body.
  public func transaction<Result: Sendable>(
    retries: Int = 3, _ body: @Sendable (PostgresTransaction) async throws -> Result
  ) async throws -> Result {
    var attempt = 0
    while true {
      do {
        return try await attemptTransaction(body)
      } catch let error as PostgresError where attempt < retries && error.isRetryableAsTransaction {
        attempt += 1
        if !error.nothingSent {
          do {
            try await Task.sleep(for: .microseconds(Int.random(in: 500...10_000) * attempt))
          } catch { throw PostgresError.cancelled }
        }
      }
    }
  }

  private func attemptTransaction<Result: Sendable>(
    _ body: @Sendable (PostgresTransaction) async throws -> Result
  ) async throws -> Result {
    let connection = try await lease()
    defer { release(connection) }
    let transaction = PostgresTransaction(connection: connection, state: TransactionState())
    do {
      let result = try await body(transaction)
      try await transaction.finish()
      return result
    } catch {
      try? transaction.state.end()
      // The error must not reach the caller before the locks are released. A failed rollback closes the connection.
      if !connection.hasEnded, transaction.state.hasBegun.load(ordering: .acquiring), connection.mayBeInTransaction {
        try? await connection.rollback()
      }
      throw error
    }
  }

  /// Rejects new callers and waiters with `.shutDown`, waits until leased connections are released, and closes all
  /// connections.
  public func shutdown() async {
    let (idle, waiters) = state.withLock { $0.beginShutdown() }
    for waiter in waiters {
      waiter.continuation.resume(throwing: PostgresError(.shutDown, "the pool was shut down"))
    }
    for connection in idle { await connection.close() }
    await withCheckedContinuation { continuation in
      let isWaiting = state.withLock { $0.addShutdownWaiter(continuation) }
      if !isWaiting { continuation.resume() }
    }
  }

  /// The current counters.
  public var statistics: Statistics {
    state.withLock { state in
      Statistics(
        size: poolConfiguration.size, idle: state.idle.count { !$0.hasEnded }, leased: state.leased,
        waiting: state.waiterCount, opened: state.opened)
    }
  }

  /// Runs the body, and once more if the connection was lost before anything was sent.
  private func retryingUnsent<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    do {
      return try await withConnection(body)
    } catch let error as PostgresError where error.nothingSent && error.code == .connectionLost {
      return try await withConnection(body)
    }
  }
}

extension PostgresError {
  fileprivate var isRetryableAsTransaction: Bool {
    isTransactionRetryable || (nothingSent && code == .connectionLost)
  }
}
