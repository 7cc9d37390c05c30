import PostgresClient
import TestKit
import TestSupport
import Testing

/// The turns of parties in queues.
@Suite struct FairQueueTests {
  @Test("Parties take turns, and the elements of a party are in the order of their arrival")
  func turns() {
    var queue = FairQueue<Int, String>()
    for (id, element) in ["a1", "a2", "a3", "b1", "n1", "b2"].enumerated() {
      queue.append(element, id: id, of: element.hasPrefix("n") ? nil : String(element.prefix(1)))
    }
    #expect(queue.count == 6 && queue.count(of: "a") == 3 && queue.count(of: nil) == 1 && queue.count(of: "c") == 0)
    var served: [String] = []
    while let next = queue.popFirst() { served.append(next.element) }
    #expect(served == ["a1", "b1", "n1", "a2", "b2", "a3"])
    #expect(queue.isEmpty)
  }

  @Test("An element that leaves gives its turn to the next one of its party, or to the next party")
  func leaving() {
    var queue = FairQueue<Int, Int>()
    for id in 0..<300 { queue.append(id, id: id, of: id < 298 ? "a" : "b") }
    for id in 0..<296 { #expect(queue.remove(id) == id) }
    #expect(queue.remove(298) == 298 && queue.remove(298) == nil && queue.remove(7) == nil)
    #expect(!queue.contains(298) && queue.contains(299) && queue.count == 3)
    var served: [Int] = []
    while let next = queue.popFirst() { served.append(next.element) }
    #expect(served == [296, 299, 297])
    queue.append(300, id: 300, of: "a")
    #expect(queue.remove(300) == 300 && queue.popFirst() == nil)
  }

  @Test("A party that may not be served keeps its place")
  func skipping() {
    var queue = FairQueue<Int, Int>()
    for id in 0..<4 { queue.append(id, id: id, of: id < 2 ? "a" : "b") }
    #expect(queue.popFirst { $0 != "a" }?.element == 2)
    #expect(queue.popFirst { $0 != "a" }?.element == 3)
    #expect(queue.popFirst { $0 != "a" } == nil)
    #expect(queue.popFirst()?.element == 0 && queue.removeAll() == [1] && queue.isEmpty)
  }

  @Test("A party with very many callers leaves connections and places in the queue to others")
  func pool() async throws {
    try await withPool(size: 4, configure: { $1.maximumWaiters = 20 }) { pool in
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let gateIsOpen = Task { for await _ in gate {} }
      func call(_ party: String = "greedy") -> Task<Void, any Error> {
        QueueParty.$current.withValue(party) {
          Task { try await pool.withConnection { _ in await gateIsOpen.value } }
        }
      }
      let first = (0..<3).map { _ in call() }
      try await eventually("they have connections") { pool.statistics.leased == 3 }
      let others = (0..<27).map { _ in call() }
      var refused = 0
      try await eventually("the queue of the party is full") { pool.statistics.waiting == 20 }
      // Another party, and callers of none, have the last connection.
      let rows = try await QueueParty.$current.withValue("modest") { try await pool.query("SELECT 1 AS one") }
      #expect(try rows.first?.decode("one", as: Int32.self) == 1)
      #expect(try await pool.query("SELECT 2 AS two").count == 1)
      #expect(pool.statistics.leased == 3)
      // With the last connection in use, another party may still wait.
      let last = call("last")
      try await eventually("it has the connection") { pool.statistics.leased == 4 }
      let late = call("late")
      try await eventually("it waits") { pool.statistics.waiting == 21 }
      opening.finish()
      for caller in first + [last, late] { try await caller.value }
      for caller in others {
        do {
          try await caller.value
        } catch let error as PostgresError where error.code == .tooManyWaiters {
          refused += 1
        }
      }
      #expect(refused == 7)
      #expect(pool.statistics.leased == 0 && pool.statistics.waiting == 0)
    }
  }
}
