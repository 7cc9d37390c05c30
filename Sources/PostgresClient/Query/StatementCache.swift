/// The prepared statements of one connection, with eviction of the least recently used one.
struct StatementCache {
  struct Key: Hashable {
    var sql: String
    var types: [UInt32]
  }

  private struct Entry {
    var name: String
    var lastUse: UInt64
  }

  private let limit: Int
  private var entries: [Key: Entry] = [:]
  private var clock: UInt64 = 0
  private var names: UInt64 = 0
  /// The names of evicted statements, which the server may still have.
  private var garbage: [String] = []

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Returns the name of a statement that the server has, and marks it as used; nil if there is none.
  mutating func name(for key: Key) -> String? {
    guard let index = entries.index(forKey: key) else { return nil }
    clock += 1
    entries.values[index].lastUse = clock
    return entries.values[index].name
  }

  /// Adds a statement that is about to be prepared and returns its name. A full cache evicts the least recently used
  /// one.
  mutating func insert(_ key: Key) -> String {
    if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      forget(oldest.key)
    }
    clock += 1
    names += 1
    let name = "tidings_\(names)"
    entries[key] = Entry(name: name, lastUse: clock)
    return name
  }

  /// Evicts a statement that the server has, and queues it for deallocation.
  mutating func forget(_ key: Key) {
    if let entry = entries.removeValue(forKey: key) { garbage.append(entry.name) }
  }

  /// Removes a statement that the server has not prepared.
  mutating func removeUnprepared(_ key: Key) {
    entries[key] = nil
  }

  /// Returns the names of the statements to deallocate, each of them once.
  mutating func takeGarbage() -> [String] {
    defer { garbage = [] }
    return garbage
  }

  /// Queues a statement again whose deallocation was not carried out.
  mutating func putBack(garbage name: String) {
    garbage.append(name)
  }

  /// Empties the cache after the server has lost all statements, for example by DISCARD ALL.
  mutating func removeAll() {
    entries = [:]
    garbage = []
  }
}
