/// Who has which connection; changed under the pool's lock, without waiting for anything.
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

  /// What the pool does after the lock is released.
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

  /// The most recently used connection that is alive, of the caller's event loop if there is one; dead ones go to
  /// `discarded`.
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

  /// A leased connection comes back, and goes to the first waiter if there is one.
  mutating func giveBack(_ connection: PostgresConnection) -> Waiter? {
    if let waiter = waiters.popFirst() { return waiter }
    leased -= 1
    if !isShutDown { idle.append(connection) }
    return nil
  }

  /// How many connections to begin to make, counted as begun. Few at a time, and after a failure one, later and later:
  /// a server that comes back is not met by all of us at once.
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

  /// - Returns: those who wait for nothing: no connection is left that could be given back to them.
  mutating func attemptFailed(now: UInt64) -> [Waiter] {
    opening -= 1
    failures = min(failures + 1, 5)
    // 20 to 500 ms, give or take a half.
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
