import NewsStore
import TestKit
import Testing

@Suite struct BudgetedCacheTests {
  @Test("The costs stay within the budget, whatever is inserted, replaced, used and removed")
  func budget() {
    var random = SplitMix64(seed: 1)
    var cache = BudgetedCache<Int, Int>(budget: 1000)
    var costs: [Int: Int] = [:]
    for _ in 0..<100_000 {
      let key = Int.random(in: 0..<300, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: cache.remove(key)
      case 1..<5: _ = cache.use(key)
      default:
        costs[key] = Int.random(in: 1...1200, using: &random) / (Bool.random(using: &random) ? 1 : 50)
        cache.insert(costs[key] ?? 0, for: key, cost: costs[key] ?? 0)
      }
      #expect(cache.usage.bytes <= 1000)
    }
    let left = (0..<300).compactMap { cache.value(of: $0) }
    #expect(left.reduce(0, +) == cache.usage.bytes)
    #expect(left.count == cache.usage.count)
    for key in 0..<300 { cache.remove(key) }
    #expect(cache.usage.bytes == 0 && cache.usage.count == 0)
  }

  @Test("A scan of entries that are used once evicts no entry that is used between")
  func scan() {
    var cache = BudgetedCache<Int, Int>(budget: 100)
    for key in 0..<50 { cache.insert(key, for: key, cost: 1) }
    func useAll(_ cache: inout BudgetedCache<Int, Int>) -> Bool { (0..<50).allSatisfy { cache.use($0) == $0 } }
    var isComplete = useAll(&cache) && useAll(&cache)
    for number in 1000..<100_000 {
      cache.insert(number, for: number, cost: 1)
      if number % 40 == 0 { isComplete = useAll(&cache) && isComplete }
    }
    #expect(isComplete)
    #expect(cache.usage.evictions > 90_000)
  }

  @Test("A value with a cost above the budget is not kept, and with a budget of 0 nothing is")
  func tooLarge() {
    var cache = BudgetedCache<Int, Int>(budget: 10)
    cache.insert(1, for: 1, cost: 5)
    cache.insert(2, for: 2, cost: 11)
    #expect(cache.value(of: 2) == nil)
    #expect(cache.value(of: 1) == 1)
    var none = BudgetedCache<Int, Int>(budget: 0)
    none.insert(1, for: 1, cost: 1)
    #expect(none.usage.count == 0)
  }

  @Test("An entry that was evicted from the small queue and returns outlives new ones")
  func returning() {
    var cache = BudgetedCache<Int, Int>(budget: 10)
    for key in 0..<30 { cache.insert(key, for: key, cost: 1) }
    #expect(cache.value(of: 5) == nil)
    cache.insert(5, for: 5, cost: 1)
    for key in 100..<200 { cache.insert(key, for: key, cost: 1) }
    #expect(cache.value(of: 5) == 5)
  }

  @Test("A key is remembered until a given number of other keys were seen, and for at most twice as many")
  func recentKeys() {
    var keys = RecentKeys(capacity: 3)
    let found = [1, 2, 3, 4, 4, 1, 5, 6, 7, 8, 9, 10, 1].map { keys.insert($0) }
    #expect(found == [false, false, false, false, true, true] + Array(repeating: false, count: 7))
  }
}
