import Synchronization

/// The scopes whose windows are in use, which determines what is evicted.
package final class WindowUses: Sendable {
  private struct State {
    /// The scopes whose windows have been read since the last eviction.
    var used: Set<String> = []
    /// The scopes that were asked for while no window could be added.
    var requested = RecentKeys()
  }

  private let state = Mutex(State())

  package init() {}

  /// Records that the windows of scopes were read.
  func note(_ names: [String]) { state.withLock { $0.used.formUnion(names) } }

  /// Whether windows are worth an eviction: their scopes were asked for before. A client that asks for many scopes once
  /// evicts nothing.
  func isRepeated(_ names: [String]) -> Bool {
    state.withLock { state in
      // All are remembered, also after the first that is new.
      names.map { state.requested.insert($0) }.allSatisfy(\.self)
    }
  }

  /// Chooses windows to evict: those that have not been read since the last eviction. That of the feed stays.
  ///
  /// - Parameter count: The number of windows to evict. The result is shorter if too many are in use.
  func unused(among names: some Collection<String>, count: Int) -> Set<String> {
    guard count > 0 else { return [] }
    return state.withLock { state in
      defer { state.used = [] }
      return Set(names.filter { !$0.isEmpty && !state.used.contains($0) }.prefix(count))
    }
  }
}
