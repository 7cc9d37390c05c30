/// The last few thousand keys that were inserted, by their hash values. Two keys with one hash value count as the same.
package struct RecentKeys: Sendable {
  private var current: Set<Int> = []
  private var previous: Set<Int> = []
  private let capacity: Int

  /// - Parameter capacity: The minimum number of keys that are remembered. The maximum is twice as high.
  package init(capacity: Int = 4096) {
    self.capacity = capacity
  }

  /// Remembers a key.
  ///
  /// - Returns: Whether it was remembered already.
  package mutating func insert(_ key: some Hashable) -> Bool {
    let hash = key.hashValue
    if current.contains(hash) { return true }
    if current.count >= capacity {
      previous = current
      current = []
    }
    current.insert(hash)
    return previous.contains(hash)
  }

  /// Forgets a key.
  ///
  /// - Returns: Whether it was remembered.
  package mutating func remove(_ key: some Hashable) -> Bool {
    let hash = key.hashValue
    return (current.remove(hash) ?? previous.remove(hash)) != nil
  }
}
