import DequeModule
import Synchronization

/// Finds what belongs to a secret, such as a key, a session or a device, by its id or digest. Ids that arrive while queries
/// run share the next ones.
///
/// Anyone may send secrets that do not exist. Any number of such requests occupies at most `maximumQueries` connections.
/// No other query is made for a secret before the look-up has found it. A query has at most `maximumIDs`, those first whose
/// values were found lately.
///
/// A value that exists is remembered for a moment, but only while revocations are heard of: a revoked key is refused at
/// once. Otherwise every query begins after the call. No value is remembered beyond the time at which it changes by itself.
package final class SecretLookups<ID: Hashable & Sendable, Value: Sendable>: Sendable {
  private typealias Waiters = [CheckedContinuation<Value?, any Error>]

  private struct Remembered {
    let value: Value
    let end: ContinuousClock.Instant
  }

  private struct State {
    var running = 0
    var callers = 0
    var waiting: [ID: Waiters] = [:]
    /// The ids that wait, in the order of their arrival: those that were found lately, and all others.
    var order: (known: Deque<ID>, others: Deque<ID>) = ([], [])
    /// The ids that were found lately, with the end of that time.
    var known: [ID: ContinuousClock.Instant] = [:]
    var remembers = false
    var remembered: [ID: Remembered] = [:]
    /// How often the values were forgotten. A query that began before may have read a key that is revoked by now.
    var generation = 0

    mutating func nextIDs() -> [ID] {
      var ids = Array(order.known.prefix(SecretLookups.maximumIDs))
      order.known.removeFirst(ids.count)
      let others = min(SecretLookups.maximumIDs - ids.count, order.others.count)
      ids += order.others.prefix(others)
      order.others.removeFirst(others)
      return ids
    }

    mutating func forget() {
      remembered = [:]
      generation += 1
    }
  }

  /// The maximum number of concurrent queries. With two, a single stalled connection does not block all look-ups.
  static var maximumQueries: Int { 2 }
  /// The maximum number of ids in a query.
  package static var maximumIDs: Int { 64 }
  /// The time after its query for which a value counts as found lately.
  private static var knownTime: Duration { .seconds(600) }
  /// The maximum number of remembered values, and of ids that were found lately.
  private static var maximumCount: Int { 1000 }

  private let state = Mutex(State())
  private let lifetime: Duration
  private let now: @Sendable () -> ContinuousClock.Instant
  private let unchangedTime: @Sendable (Value) -> Duration?
  private let query: @Sendable (_ ids: [ID]) async throws -> [ID: Value]

  /// - Parameters:
  ///   - lifetime: The time for which a value is remembered.
  ///   - unchangedTime: Returns the time from the query of a value until it changes by itself, as by its expiry; nil for
  ///     one that does not.
  ///   - query: Reads the existing values among the ids.
  package init(
    lifetime: Duration = .seconds(1), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    unchangedTime: @escaping @Sendable (Value) -> Duration? = { _ in nil },
    query: @escaping @Sendable (_ ids: [ID]) async throws -> [ID: Value]
  ) {
    self.lifetime = lifetime
    self.now = now
    self.unchangedTime = unchangedTime
    self.query = query
  }

  /// The number of callers that wait for a query.
  package var callers: Int { state.withLock { $0.callers } }

  /// Whether there was a value with an id lately. There may be none any more.
  package func isKnown(_ id: ID) -> Bool {
    let now = now()
    return state.withLock { $0.known[id].map { now < $0 } ?? false }
  }

  /// Whether values are remembered. The code that sets it calls `forget()` at each revocation.
  package var remembers: Bool {
    get { state.withLock { $0.remembers } }
    set {
      state.withLock { state in
        state.remembers = newValue
        state.forget()
      }
    }
  }

  /// Forgets all values, because one of them may have been revoked.
  package func forget() { state.withLock { $0.forget() } }

  /// Finds the value with an id.
  ///
  /// - Parameter limit: The maximum wait. The query continues without the caller.
  /// - Throws: `StoreError.unavailable` after the limit, `CancellationError`, and the errors of the query.
  package func value(_ id: ID, waitingAtMost limit: Duration) async throws -> Value? {
    let now = now()
    if let known = state.withLock({ $0.remembered[id] }), now < known.end { return known.value }
    return try await SharedTask { try await self.join(id) }.value(waitingAtMost: limit)
  }

  private func join(_ id: ID) async throws -> Value? {
    try await withCheckedThrowingContinuation { continuation in
      let isFirst = state.withLock { state in
        state.callers += 1
        if state.waiting[id] == nil {
          if state.known[id] == nil { state.order.others.append(id) } else { state.order.known.append(id) }
        }
        state.waiting[id, default: []].append(continuation)
        guard state.running < Self.maximumQueries else { return false }
        state.running += 1
        return true
      }
      // A detached task inherits no `DatabaseTime`: the query counts for all callers, not only for the first.
      if isFirst { Task.detached { await self.runQueries() } }
    }
  }

  /// Runs one query after the other until no callers wait.
  private func runQueries() async {
    while let (callers, generation) = nextCallers() {
      let began = now()
      let found: Result<[ID: Value], any Error>
      do { found = .success(try await query(callers.map(\.id))) } catch { found = .failure(error) }
      state.withLock { state in
        state.callers -= callers.reduce(0) { $0 + $1.waiters.count }
        guard let values = try? found.get() else { return }
        if state.known.count + values.count > Self.maximumCount { state.known = [:] }
        for id in values.keys { state.known[id] = began + Self.knownTime }
        guard state.remembers, state.generation == generation else { return }
        if state.remembered.count + values.count > Self.maximumCount { state.remembered = [:] }
        for (id, value) in values {
          let time = min(unchangedTime(value) ?? lifetime, lifetime)
          state.remembered[id] = Remembered(value: value, end: began + time)
        }
      }
      for (id, waiters) in callers {
        for waiter in waiters { waiter.resume(with: found.map { $0[id] }) }
      }
    }
  }

  private func nextCallers() -> (callers: [(id: ID, waiters: Waiters)], generation: Int)? {
    state.withLock { state in
      let ids = state.nextIDs()
      guard !ids.isEmpty else {
        state.running -= 1
        return nil
      }
      return (ids.map { ($0, state.waiting.removeValue(forKey: $0) ?? []) }, state.generation)
    }
  }
}
