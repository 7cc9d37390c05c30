import Synchronization

/// Batches look-ups of keys by id. Ids that arrive while queries run share the next query.
///
/// Anyone may send keys that do not exist. Any number of such requests occupies at most `maximumQueries` connections,
/// and a request with a valid key waits for one query before its own. Every query begins after the call, so that a
/// revoked key is refused at once.
final class KeyLookups<Key: Sendable>: Sendable {
  private typealias Waiters = [CheckedContinuation<Key?, any Error>]

  private struct State {
    var running = 0
    var callers = 0
    var waiting: [String: Waiters] = [:]
  }

  /// The maximum number of concurrent queries. With two, a single stalled connection does not block all look-ups.
  static var maximumQueries: Int { 2 }

  private let state = Mutex(State())
  private let query: @Sendable (_ ids: [String]) async throws -> [String: Key]

  /// - Parameter query: Reads the existing keys among the ids.
  init(query: @escaping @Sendable (_ ids: [String]) async throws -> [String: Key]) {
    self.query = query
  }

  /// The number of callers that wait for a query.
  var callers: Int { state.withLock { $0.callers } }

  /// Finds the key with an id.
  ///
  /// - Parameter limit: The maximum wait. The query continues without the caller.
  /// - Throws: `StoreError.unavailable` after the limit, `CancellationError`, and the errors of the query.
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
      // A detached task inherits no `DatabaseTime`: the query counts for all callers, not only for the first.
      if isFirst { Task.detached { await self.runQueries() } }
    }
  }

  /// Runs one query after the other until no callers wait.
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
