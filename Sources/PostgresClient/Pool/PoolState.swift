/// The connections, leases and waiters of a pool. It is changed under the pool's lock and never waits.
struct PoolState {
  struct Waiter {
    var continuation: CheckedContinuation<PostgresConnection, any Error>
    var deadline: UInt64
  }

  enum Lease {
    case connection(PostgresConnection)
    case failure(PostgresError)
    /// The caller has to wait.
    case wait
  }

  /// The connection attempts that the pool starts after the lock is released, with their delay in nanoseconds.
  struct Launch {
    var count: Int
    var delay: UInt64
  }

  let configuration: PostgresPoolConfiguration
  var idle: [PostgresConnection] = []
  var leased = 0
  var opening = 0
  var opened = 0
  var waiters = WaiterQueue<Waiter>()
  var isShutDown = false
  var isTimerSet = false
  var shutdownWaiters: [CheckedContinuation<Void, Never>] = []
  private var failures: UInt64 = 0
  private var nextAttempt: UInt64 = 0

  init(configuration: PostgresPoolConfiguration) {
    self.configuration = configuration
  }

  var isDrained: Bool { leased == 0 && opening == 0 }

  /// Leases the most recently used live connection, preferably one of the caller's event loop. Dead connections are
  /// added to `discarded`.
  mutating func lease(discarded: inout [PostgresConnection]) -> Lease {
    if isShutDown { return .failure(PostgresError(.shutDown, "the pool was shut down")) }
    while let connection = popIdle() {
      if connection.isReadyForLease {
        leased += 1
        return .connection(connection)
      }
      discarded.append(connection)
    }
    if waiters.count >= configuration.maximumWaiters {
      return .failure(PostgresError(.tooManyWaiters, "\(waiters.count) callers are waiting already"))
    }
    return .wait
  }

  private mutating func popIdle() -> PostgresConnection? {
    if let loop = PostgresExecutor.shared.current, let index = idle.lastIndex(where: { $0.loop === loop }) {
      return idle.remove(at: index)
    }
    return idle.popLast()
  }

  /// Takes back a leased connection.
  ///
  /// - Returns: The first waiter, which receives the connection; nil if there is none.
  mutating func release(_ connection: PostgresConnection) -> Waiter? {
    if let waiter = waiters.popFirst() { return waiter }
    leased -= 1
    if !isShutDown { idle.append(connection) }
    return nil
  }

  /// Returns the number of connections to open, and counts them as being opened. At most two are opened at a time,
  /// after a failure only one, with a growing backoff. A server that comes back thus does not meet all clients at once.
  mutating func launch(now: UInt64) -> Launch {
    let wanted = min(waiters.count - opening, max(1, configuration.size) - idle.count - leased - opening)
    let count = max(0, min(wanted, (failures == 0 ? 2 : 1) - opening))
    opening += count
    return Launch(count: count, delay: nextAttempt > now ? nextAttempt - now : 0)
  }

  mutating func attemptSucceeded() {
    opening -= 1
    leased += 1
    opened += 1
    failures = 0
    nextAttempt = 0
  }

  /// Records a failed attempt and extends the backoff.
  ///
  /// - Returns: All waiters, if no connection is left that could be released to them.
  mutating func attemptFailed(now: UInt64) -> [Waiter] {
    opening -= 1
    failures = min(failures + 1, 5)
    // The backoff doubles from 20 ms to 320 ms. Jitter subtracts up to half of it.
    let delay = min(UInt64(10_000_000) << failures, 500_000_000)
    nextAttempt = now + UInt64.random(in: delay / 2...delay)
    return leased == 0 && opening == 0 ? waiters.removeAll() : []
  }

  mutating func expiredWaiters(now: UInt64) -> [Waiter] {
    var expired: [Waiter] = []
    while let waiter = waiters.first, waiter.deadline <= now {
      _ = waiters.popFirst()
      expired.append(waiter)
    }
    return expired
  }
}
