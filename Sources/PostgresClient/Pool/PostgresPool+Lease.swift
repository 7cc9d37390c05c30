import Dispatch
import Logging
import Synchronization

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
