import DequeModule

/// The memory of a cache, and the number of its insertions and evictions so far.
package struct CacheUsage: Sendable {
  /// The sum of the costs of all entries, in bytes.
  package var bytes: Int
  /// The number of entries.
  package var count: Int
  /// The number of keys that were added, and of those that were evicted because the budget was exceeded.
  package var insertions: Int
  package var evictions: Int
}

/// A cache with a budget of bytes, in which a scan evicts no entry that is in use.
///
/// The eviction is S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: FIFO queues are all you need for cache eviction, SOSP 2023):
/// new entries are in a small queue, and those that are used there move to the main queue. Reading a million entries
/// once replaces the small queue only.
///
///     var cache = BudgetedCache<String, [UInt8]>(budget: 1 << 20)
///     cache.insert([1, 2, 3], for: "a", cost: 3)
///     print(cache.use("a") ?? [])  // [1, 2, 3]
package struct BudgetedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    var value: Value
    var cost: Int
    /// The number of uses since the entry was put into its place, at most `maximumUses`.
    var uses: UInt8 = 0
    var isInMain: Bool
    /// The number of the entry's place. A place with another number is that of an earlier entry of the key.
    let number: Int
  }

  private struct Place: Sendable {
    let key: Key
    let number: Int
  }

  private static var maximumUses: UInt8 { 3 }
  /// The share of the small queue in the budget: a tenth.
  private static var smallShare: Int { 10 }

  private let budget: Int
  private var entries: [Key: Entry] = [:]
  private var small: Deque<Place> = []
  private var main: Deque<Place> = []
  private var smallCost = 0
  private var mainCost = 0
  /// The keys that were evicted from the small queue. Those that return go to the main queue.
  private var evicted = RecentKeys(capacity: 4096)
  private var lastNumber = 0

  private var evictions = 0

  /// - Parameter budget: The maximum of the sum of all costs; 0 for a cache that keeps nothing.
  package init(budget: Int) {
    self.budget = budget
  }

  package var usage: CacheUsage {
    CacheUsage(bytes: cost, count: entries.count, insertions: lastNumber, evictions: evictions)
  }

  private var cost: Int { smallCost + mainCost }

  /// Returns the value of a key without counting a use; nil if it is not in the cache.
  package func value(of key: Key) -> Value? { entries[key]?.value }

  /// Returns the value of a key, and counts a use; nil if it is not in the cache.
  package mutating func use(_ key: Key) -> Value? { use(key) { $0 } }

  /// Reads or changes the value of a key in place, and counts a use unless the result is nil. The cost stays.
  package mutating func use<Result>(_ key: Key, _ body: (inout Value) -> Result?) -> Result? {
    guard let index = entries.index(forKey: key), let result = body(&entries.values[index].value) else { return nil }
    if entries.values[index].uses < Self.maximumUses { entries.values[index].uses += 1 }
    return result
  }

  /// Adds or replaces a value, and evicts others beyond the budget. A value that costs more than the budget is not kept.
  ///
  /// - Parameter cost: The memory of the value with its key, in bytes.
  package mutating func insert(_ value: Value, for key: Key, cost: Int) {
    if let index = entries.index(forKey: key) {
      entries.values[index].value = value
      return setCost(cost, for: key)
    }
    guard cost <= budget else { return }
    lastNumber += 1
    let isInMain = evicted.remove(key)
    entries[key] = Entry(value: value, cost: cost, isInMain: isInMain, number: lastNumber)
    append(Place(key: key, number: lastNumber), toMain: isInMain)
    count(cost, inMain: isInMain)
    while self.cost > budget { evictOne() }
  }

  /// Changes the cost of an entry, and evicts others beyond the budget, or the entry itself.
  package mutating func setCost(_ cost: Int, for key: Key) {
    guard let index = entries.index(forKey: key) else { return }
    let old = entries.values[index]
    entries.values[index].cost = cost
    count(cost - old.cost, inMain: old.isInMain)
    while self.cost > budget { evictOne() }
  }

  /// Removes a key.
  package mutating func remove(_ key: Key) {
    guard let entry = entries.removeValue(forKey: key) else { return }
    count(-entry.cost, inMain: entry.isInMain)
  }

  private mutating func append(_ place: Place, toMain isInMain: Bool) {
    if isInMain { main.append(place) } else { small.append(place) }
  }

  private mutating func count(_ cost: Int, inMain isInMain: Bool) {
    if isInMain { mainCost += cost } else { smallCost += cost }
  }

  /// Evicts an entry, or moves one to another place.
  private mutating func evictOne() {
    let isInMain = smallCost <= budget / Self.smallShare && !main.isEmpty
    guard let place = isInMain ? main.popFirst() : small.popFirst(), let entry = entries[place.key],
      entry.number == place.number
    else { return }
    guard entry.uses == 0 else {
      // Entries in use return to the end of the main queue.
      entries[place.key]?.uses = isInMain ? entry.uses - 1 : 0
      entries[place.key]?.isInMain = true
      count(-entry.cost, inMain: isInMain)
      count(entry.cost, inMain: true)
      return main.append(place)
    }
    remove(place.key)
    evictions += 1
    if !isInMain { _ = evicted.insert(place.key) }
  }
}

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
