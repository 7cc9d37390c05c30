/// The prepared statements of one connection, with eviction of the least recently used one.
struct StatementCache {
  struct Key: Hashable {
    var sql: String
    var types: [UInt32]
  }

  private struct Entry {
    var name: String
    /// The value of `useCount` at the last use.
    var lastUse: UInt64
  }

  private let capacity: Int
  private var entries: [Key: Entry] = [:]
  private var useCount: UInt64 = 0
  private var lastNumber: UInt64 = 0
  /// The names of evicted statements, which the server may still have.
  private var evicted: [String] = []

  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// Returns the name of a statement that the server has, and marks it as used; nil if there is none.
  mutating func name(for key: Key) -> String? {
    guard let index = entries.index(forKey: key) else { return nil }
    useCount += 1
    entries.values[index].lastUse = useCount
    return entries.values[index].name
  }

  /// Adds a statement that is about to be prepared and returns its name. A full cache evicts the least recently used
  /// one.
  mutating func insert(_ key: Key) -> String {
    if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      evict(oldest.key)
    }
    useCount += 1
    lastNumber += 1
    let name = "tidings_\(lastNumber)"
    entries[key] = Entry(name: name, lastUse: useCount)
    return name
  }

  /// Evicts a statement that the server has, and queues it for deallocation.
  mutating func evict(_ key: Key) {
    if let entry = entries.removeValue(forKey: key) { evicted.append(entry.name) }
  }

  /// Removes a statement that the server has not prepared.
  mutating func removeUnprepared(_ key: Key) {
    entries[key] = nil
  }

  /// Returns the names of the statements to deallocate, each of them once.
  mutating func takeEvicted() -> [String] {
    defer { evicted = [] }
    return evicted
  }

  /// Queues an evicted statement again, because the server did not deallocate it.
  mutating func requeueForDeallocation(_ name: String) {
    evicted.append(name)
  }

  /// Empties the cache after the server has lost all statements, for example by DISCARD ALL.
  mutating func removeAll() {
    entries = [:]
    evicted = []
  }
}
