import DequeModule

/// The connections and waiters of a pool, as a state machine without I/O. It is changed under the pool's lock and never
/// waits.
///
/// Each connection of the pool is in one of three states:
///
/// - opening: an attempt to connect is planned or in progress. Can transition to: leased (`attemptSucceeded`), removed
///   (`attemptFailed`).
/// - leased: a caller uses the connection. Can transition to: idle, leased by the first waiter, removed at shutdown
///   (all three in `release`), removed because it is closed (`removeLeased`).
/// - idle: the connection is in `idle`. Can transition to: leased or removed because it is dead (both in `lease`),
///   removed at shutdown (`beginShutdown`).
struct PoolState {
  /// The life cycle of the pool.
  enum Phase {
    /// Callers receive connections. Can transition to: `shuttingDown`.
    case running
    /// Callers are rejected. Connections are still leased or opening. Can transition to: `shutDown`.
    case shuttingDown
    /// No connection is left. The pool stays in this phase.
    case shutDown
  }

  struct Waiter {
    var id: UInt64
    var continuation: CheckedContinuation<PostgresConnection, any Error>
    /// The deadline, in nanoseconds of the monotonic clock.
    var deadline: UInt64
  }

  enum LeaseResult {
    case connection(PostgresConnection)
    case failure(PostgresError)
    /// The caller has to wait.
    case wait
  }

  enum ReleaseAction {
    /// The waiter receives the connection, which stays leased.
    case resume(Waiter)
    /// The connection is idle.
    case keep
    /// The connection is closed, because the pool shuts down.
    case close
  }

  /// The connection attempts that the pool starts after the lock is released, with their delay in nanoseconds.
  struct AttemptPlan {
    var count: Int
    var delay: UInt64
  }

  let configuration: PostgresPoolConfiguration
  private(set) var phase = Phase.running
  private(set) var idle: [PostgresConnection] = []
  private(set) var leased = 0
  /// The number of connections opened since the pool was created.
  private(set) var opened = 0
  private var waiters = FairQueue<UInt64, Waiter>()
  /// The parties of leased connections, and how many each of them has. Callers of no party are not counted.
  private var holders: [ObjectIdentifier: String] = [:]
  private var held: [String: Int] = [:]
  /// The waiters by deadline, and some that have left. All have the same timeout.
  private var deadlines: Deque<(id: UInt64, deadline: UInt64)> = []
  /// Whether a timer is set for the deadline of the first waiter.
  var isTimerSet = false
  private var opening = 0
  private var lastWaiterID: UInt64 = 0
  private var shutdownWaiters: [CheckedContinuation<Void, Never>] = []
  private var consecutiveFailures: UInt64 = 0
  /// The earliest time of the next attempt, in nanoseconds of the monotonic clock.
  private var nextAttemptTime: UInt64 = 0

  init(configuration: PostgresPoolConfiguration) {
    self.configuration = configuration
  }

  // MARK: Leases

  /// The number of full lines of waiters, one for each party, that have room.
  private static let maximumShares = 16

  /// Leases the most recently used live connection, preferably one of the caller's event loop. Dead connections are
  /// added to `discarded`.
  mutating func lease(for party: String?, discarded: inout [PostgresConnection]) -> LeaseResult {
    if phase != .running { return .failure(PostgresError(.shutDown, "the pool was shut down")) }
    while mayLease(party), let connection = popIdle() {
      if connection.isReadyForLease {
        leased += 1
        hold(connection, for: party)
        return .connection(connection)
      }
      discarded.append(connection)
    }
    let waiting = waiters.count(of: party)
    if waiting >= configuration.maximumWaiters || waiters.count >= configuration.maximumWaiters * Self.maximumShares {
      return .failure(PostgresError(.tooManyWaiters, "the pool's queue is full: \(waiting) callers are waiting"))
    }
    return .wait
  }

  private mutating func popIdle() -> PostgresConnection? {
    if let loop = PostgresExecutor.shared.current, let index = idle.lastIndex(where: { $0.loop === loop }) {
      return idle.remove(at: index)
    }
    return idle.popLast()
  }

  /// The maximum number of connections of a party. It never has all of them, so that others need not wait for its
  /// statements: a quarter, and at least one, is left.
  private var maximumHeld: Int { max(1, configuration.size - max(1, configuration.size / 4)) }

  private func mayLease(_ party: String?) -> Bool { party.map { held[$0, default: 0] < maximumHeld } ?? true }

  private mutating func hold(_ connection: PostgresConnection, for party: String?) {
    guard let party else { return }
    holders[ObjectIdentifier(connection)] = party
    held[party, default: 0] += 1
  }

  private mutating func endHold(of connection: PostgresConnection) {
    guard let party = holders.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    let count = held[party, default: 0] - 1
    held[party] = count > 0 ? count : nil
  }

  /// Takes back a leased connection.
  mutating func release(_ connection: PostgresConnection) -> ReleaseAction {
    endHold(of: connection)
    let (held, maximum) = (held, maximumHeld)
    let next = waiters.popFirst { party in party.map { held[$0, default: 0] < maximum } ?? true }
    if let next {
      hold(connection, for: next.party)
      return .resume(next.element)
    }
    leased -= 1
    if phase == .running { idle.append(connection) }
    return phase == .running ? .keep : .close
  }

  /// Removes a leased connection that is closed.
  mutating func removeLeased(_ connection: PostgresConnection) {
    endHold(of: connection)
    leased -= 1
  }

  // MARK: Waiters

  var waiterCount: Int { waiters.count }

  /// The deadline of the first waiter, in nanoseconds of the monotonic clock; nil if there is none.
  var nextDeadline: UInt64? { deadlines.first { waiters.contains($0.id) }?.deadline }

  mutating func makeWaiterID() -> UInt64 {
    lastWaiterID += 1
    return lastWaiterID
  }

  mutating func addWaiter(_ waiter: Waiter, of party: String?) {
    waiters.append(waiter, id: waiter.id, of: party)
    while let first = deadlines.first, !waiters.contains(first.id) { deadlines.removeFirst() }
    deadlines.append((waiter.id, waiter.deadline))
  }

  /// Removes a waiter; nil if it was resumed already, or is not in the queue yet.
  mutating func removeWaiter(id: UInt64) -> Waiter? { waiters.remove(id) }

  mutating func removeExpiredWaiters(now: UInt64) -> [Waiter] {
    var expired: [Waiter] = []
    while let first = deadlines.first, first.deadline <= now || !waiters.contains(first.id) {
      deadlines.removeFirst()
      if let waiter = waiters.remove(first.id) { expired.append(waiter) }
    }
    return expired
  }

  private mutating func removeAllWaiters() -> [Waiter] {
    deadlines = []
    return waiters.removeAll()
  }

  // MARK: Connection attempts

  /// Plans attempts for the waiters, and counts their connections as opening. At most two are opened at a time, after a
  /// failure only one, with a growing backoff. A server that comes back thus does not meet all clients at once.
  mutating func planAttempts(now: UInt64) -> AttemptPlan {
    let wanted = min(waiters.count - opening, max(1, configuration.size) - idle.count - leased - opening)
    let count = max(0, min(wanted, (consecutiveFailures == 0 ? 2 : 1) - opening))
    opening += count
    return AttemptPlan(count: count, delay: nextAttemptTime > now ? nextAttemptTime - now : 0)
  }

  /// Records a successful attempt, whose connection is then leased by the pool itself.
  mutating func attemptSucceeded() {
    opening -= 1
    leased += 1
    opened += 1
    consecutiveFailures = 0
    nextAttemptTime = 0
  }

  /// Records a failed attempt and extends the backoff.
  ///
  /// - Returns: All waiters, if no connection is left that could be released to them.
  mutating func attemptFailed(now: UInt64) -> [Waiter] {
    opening -= 1
    consecutiveFailures = min(consecutiveFailures + 1, 5)
    // The backoff doubles from 20 ms to 320 ms. Jitter subtracts up to half of it.
    let delay = min(UInt64(10_000_000) << consecutiveFailures, 500_000_000)
    nextAttemptTime = now + UInt64.random(in: delay / 2...delay)
    return isDrained ? removeAllWaiters() : []
  }

  // MARK: Shutdown

  private var isDrained: Bool { leased == 0 && opening == 0 }

  /// Starts the shutdown, unless it has started already.
  ///
  /// - Returns: The connections to close, and the waiters to reject.
  mutating func beginShutdown() -> (idle: [PostgresConnection], waiters: [Waiter]) {
    if phase == .running { phase = .shuttingDown }
    defer { idle = [] }
    return (idle, removeAllWaiters())
  }

  /// Registers a caller that waits for the end of the shutdown.
  ///
  /// - Returns: False if the shutdown has ended, so that the caller does not wait.
  mutating func addShutdownWaiter(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    if isDrained {
      phase = .shutDown
      return false
    }
    shutdownWaiters.append(continuation)
    return true
  }

  /// Ends the shutdown if no connection is left.
  ///
  /// - Returns: The callers that wait for the end; none if the pool is running or connections are left.
  mutating func endShutdownIfDrained() -> [CheckedContinuation<Void, Never>] {
    guard phase != .running, isDrained else { return [] }
    phase = .shutDown
    defer { shutdownWaiters = [] }
    return shutdownWaiters
  }
}

/// The party on whose behalf a task waits, such as a key or a device: the name under which it takes its turn in queues.
///
/// `QueueParty.$current.withValue("key 7") { … }` names the party of all queries inside of it.
package enum QueueParty {
  /// The name; nil for tasks that belong to no party, which share a turn.
  @TaskLocal package static var current: String?
}

/// A queue that serves parties in turn, and the elements of a party in the order of their arrival. A party with very many
/// elements delays each other party by one element at a time.
package struct FairQueue<ID: Hashable & Sendable, Element: Sendable>: Sendable {
  private struct Entry {
    let party: String?
    let element: Element
  }

  /// The elements of a party, and the ids of some that have left.
  private struct Line {
    var ids: Deque<ID> = []
    var count = 0
  }

  private var entries: [ID: Entry] = [:]
  private var lines: [String?: Line] = [:]
  /// The parties with lines, the next one first. Each of them has an element.
  private var turns: Deque<String?> = []

  package init() {}

  /// The number of elements.
  package var count: Int { entries.count }

  package var isEmpty: Bool { entries.isEmpty }

  /// The number of elements of a party.
  package func count(of party: String?) -> Int { lines[party]?.count ?? 0 }

  /// Adds an element at the end of its party's line.
  ///
  /// - Parameter id: A number that no other element has had.
  package mutating func append(_ element: Element, id: ID, of party: String?) {
    entries[id] = Entry(party: party, element: element)
    if lines[party] == nil { turns.append(party) }
    lines[party, default: Line()].ids.append(id)
    lines[party]?.count += 1
  }

  /// Removes the next element of a party whose turn it may be.
  package mutating func popFirst(
    where mayServe: (String?) -> Bool = { _ in true }
  ) -> (element: Element, party: String?)? {
    guard let index = turns.firstIndex(where: mayServe) else { return nil }
    let party = turns.remove(at: index)
    guard var line = lines[party] else { return nil }
    var found: Element?
    while found == nil, let id = line.ids.popFirst() { found = entries.removeValue(forKey: id)?.element }
    line.count -= 1
    keep(line, of: party)
    if line.count > 0 { turns.append(party) }
    return found.map { ($0, party) }
  }

  /// Removes an element that leaves; nil if it is not in the queue.
  package mutating func remove(_ id: ID) -> Element? {
    guard let entry = entries.removeValue(forKey: id), var line = lines[entry.party] else { return nil }
    line.count -= 1
    if line.count == 0 { turns.removeAll { $0 == entry.party } }
    if line.ids.count > 2 * line.count + 64 { line.ids.removeAll { entries[$0] == nil } }
    keep(line, of: entry.party)
    return entry.element
  }

  /// Whether an element is in the queue.
  package func contains(_ id: ID) -> Bool { entries[id] != nil }

  /// Removes all elements, in no particular order.
  package mutating func removeAll() -> [Element] {
    defer { self = FairQueue() }
    return entries.values.map(\.element)
  }

  private mutating func keep(_ line: Line, of party: String?) { lines[party] = line.count == 0 ? nil : line }
}
