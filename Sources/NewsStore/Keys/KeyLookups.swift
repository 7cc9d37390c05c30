import Synchronization

/// Looks up keys by their ids, with a few queries at a time. The ids that come while these run share the next query.
///
/// Anybody may send keys that do not exist. However many requests do, they take no more than `maximumQueries`
/// connections, and a request with a real key waits for one query before its own. Every query begins after the call, so
/// that a revoked key is refused at once.
final class KeyLookups<Key: Sendable>: Sendable {
  private typealias Waiters = [CheckedContinuation<Key?, any Error>]

  private struct State {
    var running = 0
    var callers = 0
    var waiting: [String: Waiters] = [:]
  }

  /// Two, so that one connection that does not answer does not stop all look-ups.
  static var maximumQueries: Int { 2 }

  private let state = Mutex(State())
  private let query: @Sendable (_ ids: [String]) async throws -> [String: Key]

  /// - Parameter query: Reads the keys that exist among the ids.
  init(query: @escaping @Sendable (_ ids: [String]) async throws -> [String: Key]) {
    self.query = query
  }

  /// The number of callers whose query has not ended.
  var callers: Int { state.withLock { $0.callers } }

  /// Finds the key with an id.
  ///
  /// - Parameter limit: The longest wait. The query goes on without the caller.
  /// - Throws: `StoreError.unavailable` after the limit, `CancellationError`, and what the query throws.
  func key(_ id: String, waitingAtMost limit: Duration) async throws -> Key? {
    try await Task { try await self.join(id) }.value(waitingAtMost: limit)
  }

  private func join(_ id: String) async throws -> Key? {
    try await withCheckedThrowingContinuation { continuation in
      let isFirst = state.withLock { state in
        state.callers += 1
        state.waiting[id, default: []].append(continuation)
        guard state.running < Self.maximumQueries else { return false }
        state.running += 1
        return true
      }
      // The time of the query counts for all of its callers, not for the first one alone.
      if isFirst { Task.detached { await self.runQueries() } }
    }
  }

  /// Runs one query after the other until nobody waits.
  private func runQueries() async {
    while let callers = nextCallers() {
      let found: Result<[String: Key], any Error>
      do { found = .success(try await query(Array(callers.keys))) } catch { found = .failure(error) }
      state.withLock { state in state.callers -= callers.values.reduce(0) { $0 + $1.count } }
      for (id, waiters) in callers {
        for waiter in waiters { waiter.resume(with: found.map { $0[id] }) }
      }
    }
  }

  private func nextCallers() -> [String: Waiters]? {
    state.withLock { state in
      guard state.waiting.isEmpty else {
        defer { state.waiting = [:] }
        return state.waiting
      }
      state.running -= 1
      return nil
    }
  }
}
