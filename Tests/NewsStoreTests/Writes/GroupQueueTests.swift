import Foundation
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

/// The formation of groups, with groups that a test ends.
@Suite struct GroupQueueTests {
  private struct Refusal: Error, Equatable {
    let number: Int
  }

  /// The groups of a queue, which end when a test says so.
  private final class Groups: Sendable {
    typealias Queue = GroupQueue<Int, Int>
    private typealias Running = (entries: [Int], end: CheckedContinuation<[Queue.Result], Never>)

    private struct State {
      var running: [Running] = []
      var alone: [(entry: Int, end: CheckedContinuation<Int, any Error>)] = []
      var all: [[Int]] = []
    }

    private let state = Mutex(State())

    func queue(_ change: (inout Queue.Limits) -> Void = { _ in }) -> Queue {
      var limits = Queue.Limits()
      limits.wait = .seconds(600)
      limits.gathering = .seconds(600)
      limits.patience = .seconds(600)
      change(&limits)
      return Queue(limits: limits) { entries in
        await withCheckedContinuation { end in
          self.state.withLock { state in
            state.running.append((entries, end))
            state.all.append(entries)
          }
        }
      } runAlone: { entry in
        try await withCheckedThrowingContinuation { end in self.state.withLock { $0.alone.append((entry, end)) } }
      }
    }

    /// The entries of the groups that run.
    var running: [[Int]] { state.withLock { $0.running.map(\.entries) } }
    /// The entries that run alone.
    var alone: [Int] { state.withLock { $0.alone.map(\.entry) } }
    /// The entries of all groups so far.
    var all: [[Int]] { state.withLock { $0.all } }

    /// Ends the group that began first. The result of an entry is twice its number, unless it leaves.
    func end(leaving: Set<Int> = []) {
      let group = state.withLock { $0.running.removeFirst() }
      group.end.resume(returning: group.entries.map { leaving.contains($0) ? nil : .success($0 * 2) })
    }

    func endAlone() {
      let entry = state.withLock { $0.alone.removeFirst() }
      entry.end.resume(returning: entry.entry * 2)
    }
  }

  /// Adds an entry, and waits until it is in the queue or runs.
  private func add(
    _ number: Int, id: Int? = nil, bytes: Int = 1, to queue: Groups.Queue, _ groups: Groups
  ) async throws -> Task<Int, any Error> {
    let before = queue.waiting + groups.all.joined().count
    let task = Task { try await queue.run(number, id: UUID(id ?? number), bytes: bytes) }
    try await eventually("it is in the queue") { queue.waiting + groups.all.joined().count == before + 1 }
    return task
  }

  /// Adds entries with ids of their own, one after the other.
  private func add(
    all numbers: some Sequence<Int>, to queue: Groups.Queue, _ groups: Groups
  ) async throws -> [Task<Int, any Error>] {
    var tasks: [Task<Int, any Error>] = []
    for number in numbers { tasks.append(try await add(number, to: queue, groups)) }
    return tasks
  }

  @Test("An entry starts at once while fewer than two groups run; all that arrive meanwhile form the next group")
  func arrival() async throws {
    let groups = Groups()
    let queue = groups.queue()
    let tasks = try await add(all: 0..<6, to: queue, groups)
    #expect(groups.running == [[0], [1]])
    #expect(queue.waiting == 4)
    groups.end()
    try await eventually("the next group runs") { groups.running.count == 2 }
    #expect(groups.running == [[1], [2, 3, 4, 5]])
    groups.end()
    groups.end()
    for (number, task) in tasks.enumerated() { #expect(try await task.value == number * 2) }
    #expect(queue.counts.groups == 3 && queue.counts.entries == 6 && queue.counts.left == 0)
  }

  @Test("While many writers are active, a group waits for its share of their entries, or until it is full")
  func shares() async throws {
    let groups = Groups()
    let queue = groups.queue { $0.bytes = 10 }
    var tasks = try await add(all: 0..<12, to: queue, groups)
    groups.end()
    try await eventually("a large group runs") { groups.running == [[1], Array(2..<12)] }
    groups.end()
    try await eventually("one group runs") { groups.running.count == 1 }
    // With 16 entries, the share is six.
    tasks += try await add(all: 12..<17, to: queue, groups)
    #expect(groups.running.count == 1)
    tasks.append(try await add(17, to: queue, groups))
    #expect(groups.running.last == Array(12..<18))
    groups.end()
    groups.end()
    for number in 2..<18 { #expect(try await tasks[number].value == number * 2) }
    // The share stays the same while no group runs, because the writers of the last groups are about to return.
    tasks += try await add(all: 18..<20, to: queue, groups)
    #expect(groups.running.isEmpty)
    // No further entry has room in the group.
    tasks.append(try await add(20, bytes: 9, to: queue, groups))
    #expect(groups.running == [[18, 19]])
    // Fewer writers are expected with each group, until an entry starts at once again.
    for number in 21..<40 {
      while !groups.running.isEmpty { groups.end() }
      tasks.append(try await add(number, to: queue, groups))
    }
    while queue.waiting > 0 || !groups.running.isEmpty {
      if !groups.running.isEmpty { groups.end() }
      await Task.yield()
    }
    for (number, task) in tasks.enumerated() { #expect(try await task.value == number * 2) }
    let last = try await add(40, to: queue, groups)
    #expect(groups.running == [[40]])
    groups.end()
    #expect(try await last.value == 80)
  }

  @Test("A group that is smaller than its share begins after a while, sooner if no other runs")
  func waits() async throws {
    for isAlone in [true, false] {
      let groups = Groups()
      let queue = groups.queue { limits in
        if isAlone { limits.gathering = .milliseconds(1) } else { limits.patience = .milliseconds(1) }
      }
      var tasks = try await add(all: 0..<12, to: queue, groups)
      groups.end()
      try await eventually("a large group runs") { groups.running == [[1], Array(2..<12)] }
      groups.end()
      if isAlone { groups.end() }
      try await eventually("they have ended") { groups.running.count == (isAlone ? 0 : 1) }
      tasks.append(try await add(12, to: queue, groups))
      try await eventually("it has begun") { groups.running.last == [12] }
      while !groups.running.isEmpty { groups.end() }
      for (number, task) in tasks.enumerated() { #expect(try await task.value == number * 2) }
    }
  }

  @Test("A group has a limited number of entries and bytes, and a larger entry has a group of its own")
  func limits() async throws {
    let groups = Groups()
    let queue = groups.queue { limits in
      limits.groups = 1
      limits.entries = 3
      limits.bytes = 10
      limits.gathering = .milliseconds(1)
    }
    let sizes = [1, 1, 1, 1, 1, 6, 5, 1, 40, 2]
    var tasks: [Task<Int, any Error>] = []
    for (number, bytes) in sizes.enumerated() { tasks.append(try await add(number, bytes: bytes, to: queue, groups)) }
    for count in 1...6 {
      try await eventually("a group runs") { groups.all.count == count && !groups.running.isEmpty }
      groups.end()
    }
    for (number, task) in tasks.enumerated() { #expect(try await task.value == number * 2) }
    #expect(groups.all == [[0], [1, 2, 3], [4, 5], [6, 7], [8], [9]])
  }

  @Test("Entries of one id never run together, and keep their order")
  func sameID() async throws {
    let groups = Groups()
    let queue = groups.queue()
    var tasks = [try await add(0, id: 7, to: queue, groups)]
    for number in 1...3 { tasks.append(try await add(number, id: 7, to: queue, groups)) }
    tasks.append(try await add(4, to: queue, groups))
    #expect(groups.running == [[0], [4]])
    groups.end()
    try await eventually("the next one runs") { groups.running == [[4], [1]] }
    groups.end()
    groups.end()
    for number in 2...3 {
      try await eventually("the next one runs") { groups.running == [[number]] }
      groups.end()
    }
    for task in tasks { _ = try await task.value }
  }

  @Test("An entry that leaves its group runs alone, and delays only those of its own id")
  func leaving() async throws {
    let groups = Groups()
    let queue = groups.queue()
    let tasks = try await add(all: 0..<5, to: queue, groups)
    groups.end()
    try await eventually("the next group runs") { groups.running == [[1], [2, 3, 4]] }
    groups.end()
    groups.end(leaving: [3])
    try await eventually("it runs alone") { groups.alone == [3] }
    #expect(try await tasks[2].value == 4)
    #expect(try await tasks[4].value == 8)
    let later = try await add(5, id: 3, to: queue, groups)
    let other = try await add(6, to: queue, groups)
    #expect(groups.running == [[6]])
    groups.end()
    #expect(try await other.value == 12)
    #expect(groups.running.isEmpty)
    groups.endAlone()
    #expect(try await tasks[3].value == 6)
    try await eventually("the later one runs") { groups.running == [[5]] }
    groups.end()
    #expect(try await later.value == 10)
    #expect(queue.counts.left == 1)
  }

  @Test("Only some entries run alone at a time; the others wait, and groups go on")
  func manyLeaving() async throws {
    let groups = Groups()
    let queue = groups.queue { limits in
      limits.groups = 1
      limits.gathering = .zero
      limits.alone = 2
    }
    let first = try await add(0, to: queue, groups)
    let tasks = try await add(all: 1...4, to: queue, groups)
    groups.end()
    _ = try await first.value
    try await eventually("the next group runs") { groups.running == [[1, 2, 3, 4]] }
    groups.end(leaving: [1, 2, 3, 4])
    try await eventually("two run alone") { groups.alone == [1, 2] }
    #expect(queue.waiting == 2)
    let other = try await add(5, to: queue, groups)
    groups.end()
    #expect(try await other.value == 10)
    groups.endAlone()
    try await eventually("the next one runs alone") { groups.alone == [2, 3] }
    for _ in 0..<2 { groups.endAlone() }
    try await eventually("the last one runs alone") { groups.alone == [4] }
    groups.endAlone()
    for (number, task) in tasks.enumerated() { #expect(try await task.value == (number + 1) * 2) }
  }

  @Test("A cancelled entry that has not begun leaves the queue; one that has begun ends as if it were not cancelled")
  func cancellation() async throws {
    let groups = Groups()
    let queue = groups.queue { limits in
      limits.groups = 1
      limits.gathering = .zero
    }
    let running = try await add(0, to: queue, groups)
    let waiting = try await add(1, to: queue, groups)
    let last = try await add(2, to: queue, groups)
    running.cancel()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    groups.end()
    #expect(try await running.value == 0)
    try await eventually("the next group runs") { groups.running == [[2]] }
    groups.end()
    #expect(try await last.value == 4)
  }

  @Test("An entry that has waited too long fails without having begun, and so does one beyond the limit")
  func overload() async throws {
    let groups = Groups()
    let queue = groups.queue { limits in
      limits.groups = 1
      limits.waiting = 1
      limits.wait = .milliseconds(100)
    }
    let running = try await add(0, to: queue, groups)
    let late = Task { try await queue.run(1, id: UUID(1), bytes: 1) }
    try await eventually("it waits, or has waited") { queue.waiting == 1 || late.isCancelled || groups.all.count == 1 }
    await #expect(throws: StoreError.unavailable) { try await late.value }
    #expect(groups.all == [[0]])
    groups.end()
    #expect(try await running.value == 0)

    let full = groups.queue { limits in
      limits.groups = 1
      limits.waiting = 0
    }
    await #expect(throws: StoreError.unavailable) { try await full.run(1, id: UUID(1), bytes: 1) }
  }

  @Test(
    "Any mixture of entries ends with the results of each, in the order of their ids",
    arguments: 1...10 as ClosedRange<UInt64>)
  func anyMixture(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let order = Mutex<[Int: [Int]]>([:])
    let busy = Mutex<Set<Int>>([])
    let ids = (0..<300).map { _ in Int.random(in: 0..<40, using: &random) }
    let leaves = (0..<300).map { _ in Int.random(in: 0..<5, using: &random) == 0 }
    let fails = (0..<300).map { _ in Int.random(in: 0..<7, using: &random) == 0 }
    let sizes = (0..<300).map { _ in Int.random(in: 1...50, using: &random) }
    @Sendable func finish(_ entry: Int) -> Result<Int, any Error> {
      order.withLock { $0[ids[entry], default: []].append(entry) }
      return fails[entry] ? .failure(Refusal(number: entry)) : .success(entry)
    }
    var limits = GroupQueue<Int, Int>.Limits()
    (limits.bytes, limits.wait) = (200, .seconds(600))
    let queue = GroupQueue<Int, Int>(limits: limits) { entries in
      busy.withLock { busy in
        for entry in entries { #expect(busy.insert(ids[entry]).inserted, "no id runs twice at a time") }
      }
      #expect(entries.reduce(0) { $0 + sizes[$1] } <= 200 && entries.count <= 64)
      await Task.yield()
      busy.withLock { busy in for entry in entries where !leaves[entry] { busy.remove(ids[entry]) } }
      return entries.map { leaves[$0] ? nil : finish($0) }
    } runAlone: { entry in
      await Task.yield()
      _ = busy.withLock { $0.remove(ids[entry]) }
      return try finish(entry).get()
    }
    await withTaskGroup { group in
      for entry in 0..<300 {
        group.addTask {
          do {
            let result = try await queue.run(entry, id: UUID(ids[entry]), bytes: sizes[entry])
            #expect(result == entry && !fails[entry])
          } catch {
            #expect(error as? Refusal == Refusal(number: entry) && fails[entry])
          }
        }
      }
    }
    #expect(order.withLock { $0.values.joined().sorted() } == Array(0..<300))
    #expect(queue.waiting == 0)
  }
}
