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

extension PostgresPool {
  func lease() async throws -> PostgresConnection {
    var discarded: [PostgresConnection] = []
    let party = QueueParty.current
    let result = state.withLock { $0.lease(for: party, discarded: &discarded) }
    for connection in discarded { connection.closeAsynchronously() }
    switch result {
    case .connection(let connection): return connection
    case .failure(let error): throw error
    case .wait: return try await wait(party)
    }
  }

  private func wait(_ party: String?) async throws -> PostgresConnection {
    let id = state.withLock { $0.makeWaiterID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(continuation, id: id, of: party)
        // The handler may have run before the waiter was in the queue.
        if Task.isCancelled { cancelWaiter(id) }
      }
    } onCancel: {
      cancelWaiter(id)
    }
  }

  private func enqueue(
    _ continuation: CheckedContinuation<PostgresConnection, any Error>, id: UInt64, of party: String?
  ) {
    let timeout = PostgresConnection.nanoseconds(poolConfiguration.acquireTimeout)
    let deadline = PostgresConnection.now + timeout
    var discarded: [PostgresConnection] = []
    let result = state.withLock { state in
      // A connection may have been released since the first check.
      let result = state.lease(for: party, discarded: &discarded)
      if case .wait = result {
        state.addWaiter(PoolState.Waiter(id: id, continuation: continuation, deadline: deadline), of: party)
      }
      return result
    }
    for connection in discarded { connection.closeAsynchronously() }
    switch result {
    case .connection(let connection): continuation.resume(returning: connection)
    case .failure(let error): continuation.resume(throwing: error)
    case .wait:
      startAttempts()
      setTimer()
    }
  }

  private func cancelWaiter(_ id: UInt64) {
    state.withLock { $0.removeWaiter(id: id) }?.continuation.resume(throwing: PostgresError.cancelled)
  }

  /// Takes back a connection in any state. An open transaction is rolled back first.
  func release(_ connection: PostgresConnection) {
    switch connection.activity.load(ordering: .acquiring) {
    case .idle: releaseIdle(connection)
    case .closed: removeClosed(connection)
    case .inTransaction, .busy:
      Task {
        do {
          try await connection.rollback()
          releaseIdle(connection)
        } catch {
          await connection.close()
          removeClosed(connection)
        }
      }
    }
  }

  private func releaseIdle(_ connection: PostgresConnection) {
    switch state.withLock({ $0.release(connection) }) {
    case .resume(let waiter): waiter.continuation.resume(returning: connection)
    case .keep: break
    case .close:
      connection.closeAsynchronously()
      endShutdownIfDrained()
    }
  }

  /// Removes a leased connection that is closed, and replaces it if callers wait.
  private func removeClosed(_ connection: PostgresConnection) {
    let phase = state.withLock { state in
      state.removeLeased(connection)
      return state.phase
    }
    phase == .running ? startAttempts() : endShutdownIfDrained()
  }

  private func endShutdownIfDrained() {
    for waiter in state.withLock({ $0.endShutdownIfDrained() }) { waiter.resume() }
  }

  /// Opens connections for the waiters, in tasks of their own: an attempt continues if its waiter is cancelled.
  private func startAttempts() {
    let plan = state.withLock { $0.planAttempts(now: PostgresConnection.now) }
    for _ in 0..<plan.count {
      Task {
        if plan.delay > 0 { try? await Task.sleep(for: .nanoseconds(plan.delay)) }
        await attemptConnection()
      }
    }
  }

  private func attemptConnection() async {
    do {
      if state.withLock({ $0.phase }) != .running { throw PostgresError(.shutDown, "the pool was shut down") }
      let connection = try await PostgresConnection.connect(configuration: configuration, logger: logger)
      do {
        try await onConnect(connection)
      } catch {
        await connection.close()
        throw error
      }
      configuration.outages.recordSuccess(logger: logger)
      state.withLock { $0.attemptSucceeded() }
      release(connection)
      startAttempts()
    } catch {
      configuration.outages.recordFailure(error, logger: logger)
      let (waiters, phase) = state.withLock { state in
        (state.attemptFailed(now: PostgresConnection.now), state.phase)
      }
      for waiter in waiters { waiter.continuation.resume(throwing: error) }
      phase == .running ? startAttempts() : endShutdownIfDrained()
    }
  }

  /// Sets one timer for all waiters. Their timeouts are equal, so the first waiter's deadline is the next.
  private func setTimer() {
    let deadline = state.withLock { state -> UInt64? in
      guard !state.isTimerSet, let deadline = state.nextDeadline else { return nil }
      state.isTimerSet = true
      return deadline
    }
    guard let deadline else { return }
    Self.timerQueue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline)) { [weak self] in
      self?.timerFired()
    }
  }

  private func timerFired() {
    let expired = state.withLock { state in
      state.isTimerSet = false
      return state.removeExpiredWaiters(now: PostgresConnection.now)
    }
    for waiter in expired {
      waiter.continuation.resume(
        throwing: PostgresError(.acquireTimedOut, "no connection became free within the timeout"))
    }
    setTimer()
  }

  private static let timerQueue = DispatchQueue(label: "tidings.postgres.pool-deadlines")
}

extension PostgresConnection {
  /// Closes the connection without waiting for the end.
  nonisolated func closeAsynchronously() {
    onQueue { $0.close(with: PostgresError(.shutDown, "the connection was closed")) }
  }

  /// Whether an answer is outstanding, or the last one left the session in a transaction.
  nonisolated var mayBeInTransaction: Bool { activity.load(ordering: .acquiring) != .idle }
}
