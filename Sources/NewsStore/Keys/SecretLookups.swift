import Synchronization

/// Finds what belongs to a secret, such as a key, a session or a device, by its id or digest. Ids that arrive while queries
/// run share the next query.
///
/// Anyone may send secrets that do not exist. Any number of such requests occupies at most `maximumQueries` connections,
/// and a request with a valid secret waits for one query before its own. No other query is made for a secret before the
/// look-up has found it.
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
    var remembers = false
    var remembered: [ID: Remembered] = [:]
    /// How often the values were forgotten. A query that began before may have read a key that is revoked by now.
    var generation = 0

    mutating func forget() {
      remembered = [:]
      generation += 1
    }
  }

  /// The maximum number of concurrent queries. With two, a single stalled connection does not block all look-ups.
  static var maximumQueries: Int { 2 }
  /// The maximum number of remembered values.
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
  var callers: Int { state.withLock { $0.callers } }

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
    return try await Task { try await self.join(id) }.value(waitingAtMost: limit)
  }

  private func join(_ id: ID) async throws -> Value? {
    try await withCheckedThrowingContinuation { continuation in
      let isFirst = state.withLock { state in
        state.callers += 1
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
      do { found = .success(try await query(Array(callers.keys))) } catch { found = .failure(error) }
      state.withLock { state in
        state.callers -= callers.values.reduce(0) { $0 + $1.count }
        guard state.remembers, state.generation == generation, let values = try? found.get() else { return }
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

  private func nextCallers() -> (callers: [ID: Waiters], generation: Int)? {
    state.withLock { state in
      guard state.waiting.isEmpty else {
        defer { state.waiting = [:] }
        return (state.waiting, state.generation)
      }
      state.running -= 1
      return nil
    }
  }
}
