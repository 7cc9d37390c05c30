import Dispatch
import Logging
import Synchronization

extension PostgresPool {
  func lease() async throws -> PostgresConnection {
    var discarded: [PostgresConnection] = []
    let lease = state.withLock { $0.lease(discarded: &discarded) }
    for connection in discarded { connection.closeAsynchronously() }
    switch lease {
    case .connection(let connection): return connection
    case .failure(let error): throw error
    case .wait: return try await wait()
    }
  }

  private func wait() async throws -> PostgresConnection {
    let id = state.withLock { $0.waiters.makeID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(continuation, id: id)
        // The handler may have run before the waiter was in the queue.
        if Task.isCancelled { cancelWaiter(id) }
      }
    } onCancel: {
      cancelWaiter(id)
    }
  }

  private func enqueue(_ continuation: CheckedContinuation<PostgresConnection, any Error>, id: UInt64) {
    let timeout = PostgresConnection.nanoseconds(poolConfiguration.acquireTimeout)
    let deadline = PostgresConnection.now + timeout
    var discarded: [PostgresConnection] = []
    let lease = state.withLock { state in
      // A connection may have been released since the first check.
      let lease = state.lease(discarded: &discarded)
      if case .wait = lease {
        state.waiters.append(PoolState.Waiter(continuation: continuation, deadline: deadline), id: id)
      }
      return lease
    }
    for connection in discarded { connection.closeAsynchronously() }
    switch lease {
    case .connection(let connection): continuation.resume(returning: connection)
    case .failure(let error): continuation.resume(throwing: error)
    case .wait:
      launch()
      setTimer()
    }
  }

  private func cancelWaiter(_ id: UInt64) {
    state.withLock { $0.waiters.remove(id: id) }?.continuation.resume(throwing: PostgresError.cancelled)
  }

  /// Takes back a connection in any state. An open transaction is rolled back first.
  func release(_ connection: PostgresConnection) {
    switch connection.activity.load(ordering: .acquiring) {
    case .idle: releaseIdle(connection)
    case .closed: discard(connection)
    case .inTransaction, .busy:
      Task {
        do {
          try await connection.rollback()
          releaseIdle(connection)
        } catch {
          await connection.close()
          discard(connection)
        }
      }
    }
  }

  private func releaseIdle(_ connection: PostgresConnection) {
    let (waiter, isShutDown) = state.withLock { ($0.release(connection), $0.isShutDown) }
    if let waiter { return waiter.continuation.resume(returning: connection) }
    if isShutDown {
      connection.closeAsynchronously()
      announceEnd()
    }
  }

  private func discard(_ connection: PostgresConnection) {
    let isShutDown = state.withLock { state in
      state.leased -= 1
      return state.isShutDown
    }
    isShutDown ? announceEnd() : launch()
  }

  private func announceEnd() {
    let waiters = state.withLock { state in
      guard state.isDrained else { return [CheckedContinuation<Void, Never>]() }
      defer { state.shutdownWaiters = [] }
      return state.shutdownWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Opens connections for the waiters, in tasks of their own: a waiter that leaves does not end the attempt.
  private func launch() {
    let launch = state.withLock { $0.launch(now: PostgresConnection.now) }
    for _ in 0..<launch.count {
      Task {
        if launch.delay > 0 { try? await Task.sleep(for: .nanoseconds(launch.delay)) }
        await attempt()
      }
    }
  }

  private func attempt() async {
    do {
      if state.withLock({ $0.isShutDown }) { throw PostgresError(.shutDown, "the pool was shut down") }
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
      launch()
    } catch {
      configuration.outages.recordFailure(error, logger: logger)
      let (waiters, isShutDown) = state.withLock { state in
        (state.attemptFailed(now: PostgresConnection.now), state.isShutDown)
      }
      for waiter in waiters { waiter.continuation.resume(throwing: error) }
      isShutDown ? announceEnd() : launch()
    }
  }

  /// Sets one timer for all waiters. Their timeouts are equal, so the first waiter's deadline is the next.
  private func setTimer() {
    let deadline = state.withLock { state -> UInt64? in
      guard !state.isTimerSet, let waiter = state.waiters.first else { return nil }
      state.isTimerSet = true
      return waiter.deadline
    }
    guard let deadline else { return }
    Self.timerQueue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: deadline)) { [weak self] in
      self?.timerFired()
    }
  }

  private func timerFired() {
    let expired = state.withLock { state in
      state.isTimerSet = false
      return state.expiredWaiters(now: PostgresConnection.now)
    }
    for waiter in expired {
      waiter.continuation.resume(throwing: PostgresError(.acquireTimedOut, "no connection became free in time"))
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
