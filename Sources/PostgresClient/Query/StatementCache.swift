/// The prepared statements of one connection, the least recently used one going first.
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
  /// Statements the server may still have and nobody will use.
  private var garbage: [String] = []

  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// The name of a statement that the server has.
  mutating func name(for key: Key) -> String? {
    guard let index = entries.index(forKey: key) else { return nil }
    clock += 1
    entries.values[index].lastUse = clock
    return entries.values[index].name
  }

  /// A name for a statement that is about to be prepared.
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

  /// The server has the statement, yet its plan is of no use any more.
  mutating func forget(_ key: Key) {
    if let entry = entries.removeValue(forKey: key) { garbage.append(entry.name) }
  }

  /// The server never got to know the statement.
  mutating func removeUnprepared(_ key: Key) {
    entries[key] = nil
  }

  /// Statements to deallocate, each handed out once.
  mutating func takeGarbage() -> [String] {
    defer { garbage = [] }
    return garbage
  }

  /// The deallocation was not carried out.
  mutating func putBack(garbage name: String) {
    garbage.append(name)
  }

  /// The server has lost all statements, for example by DISCARD ALL.
  mutating func removeAll() {
    entries = [:]
    garbage = []
  }
}
