import Dispatch
public import Logging
import Synchronization

/// A bounded number of connections, made on demand and replaced when they break.
public final class PostgresPool: Sendable {
  /// Counts at one moment.
  public struct Statistics: Sendable, Hashable {
    /// The most connections there may be.
    public var size: Int
    /// Connections at rest.
    public var idle: Int
    /// Connections in use.
    public var leased: Int
    /// Callers waiting for a connection.
    public var waiting: Int
    /// Connections made since the beginning.
    public var opened: Int
  }

  let configuration: PostgresConfiguration
  let poolConfiguration: PostgresPoolConfiguration
  let logger: Logger
  let onConnect: @Sendable (PostgresConnection) async throws -> Void
  let state: Mutex<PoolState>

  /// A pool without connections yet.
  ///
  /// - Parameter onConnect: runs for each new connection before anyone gets it; if it throws, the connection is not
  ///   used.
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
  /// If the connection is lost after the statement was sent, it may have been carried out or not: only the caller knows
  /// whether it can be repeated.
  ///
  /// - Throws: `PostgresError`
  public func query(_ query: PostgresQuery) async throws -> PostgresRows {
    try await retryingUnsent { try await $0.query(query) }
  }

  /// Runs queries in one read-only snapshot (REPEATABLE READ) and one round trip.
  ///
  /// As it changes nothing, it is run once more on another connection if the first one is lost.
  ///
  /// - Returns: the rows of each query, in order.
  /// - Throws: `PostgresError`
  public func snapshot(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    if queries.isEmpty { return [] }
    do {
      return try await retryingUnsent { try await $0.snapshot(queries) }
    } catch let error as PostgresError where error.isStaleStatement || error.code == .connectionLost {
      return try await retryingUnsent { try await $0.snapshot(queries) }
    }
  }

  /// Lends a connection for the time of the body. A transaction left open is rolled back; settings of the session stay.
  ///
  /// - Throws: `PostgresError` if there is no connection to be had, and what the body throws.
  public func withConnection<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    let connection = try await lease()
    defer { release(connection) }
    return try await body(connection)
  }

  /// Runs a READ COMMITTED transaction: COMMIT if the body returns, ROLLBACK if it throws.
  ///
  /// After a serialization failure (40001) or deadlock (40P01) the body runs again, at most `retries` times; it must
  /// not do anything that cannot be repeated.
  ///
  /// - Throws: `PostgresError`, with `.commitOutcomeUnknown` if the connection was lost during COMMIT, and what the body
  ///   throws.
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
      // The caller must not be told before the locks are gone. A failure closes the connection.
      if !connection.hasEnded, transaction.state.hasBegun.load(ordering: .acquiring), connection.mayBeInTransaction {
        try? await connection.rollback()
      }
      throw error
    }
  }

  /// Refuses new work, lets what is leased come back, and closes all connections.
  public func shutdown() async {
    let (idle, waiters) = state.withLock { state in
      state.isShutDown = true
      defer { state.idle = [] }
      return (state.idle, state.waiters.removeAll())
    }
    for waiter in waiters {
      waiter.continuation.resume(throwing: PostgresError(.shutDown, "the pool was shut down"))
    }
    for connection in idle { await connection.close() }
    await withCheckedContinuation { continuation in
      let isDrained = state.withLock { state in
        if !state.isDrained { state.shutdownWaiters.append(continuation) }
        return state.isDrained
      }
      if isDrained { continuation.resume() }
    }
  }

  /// Counts at this moment.
  public var statistics: Statistics {
    state.withLock { state in
      Statistics(
        size: poolConfiguration.size, idle: state.idle.count { !$0.hasEnded }, leased: state.leased,
        waiting: state.waiters.count, opened: state.opened)
    }
  }

  /// Once more if the connection turned out to be lost before anything had been sent.
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
