import Synchronization

/// Detects keys that are used a second time within the last few thousand keys.
///
///     let repeats = RepeatDetector()
///     if repeats.insert(key) { /* The key was used before. */ }
package final class RepeatDetector: Sendable {
  private struct State {
    var current: Set<Int> = []
    var previous: Set<Int> = []
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// - Parameter capacity: The minimum number of keys that are remembered. The maximum is twice as high.
  package init(capacity: Int = 4096) {
    self.capacity = capacity
  }

  /// Remembers a key by its hash value.
  ///
  /// - Returns: Whether it was remembered already. Two keys with one hash value count as the same.
  package func insert(_ key: some Hashable) -> Bool {
    let hash = key.hashValue
    return state.withLock { state in
      if state.current.contains(hash) { return true }
      if state.current.count >= capacity {
        state.previous = state.current
        state.current = []
      }
      state.current.insert(hash)
      return state.previous.contains(hash)
    }
  }
}
