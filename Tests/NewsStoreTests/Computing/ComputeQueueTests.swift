import NewsStore
import Testing

@Suite struct ComputeQueueTests {
  /// A queue whose jobs are named by their owners.
  private struct Harness {
    var queue: ComputeQueue
    private var lastNumber = 0

    init(threads: Int) {
      queue = ComputeQueue(threads: threads)
    }

    /// - Returns: The owner of the job that is refused.
    @discardableResult
    mutating func add(_ kind: ComputeKind, _ owner: String = "", isLong: Bool = false) -> String? {
      lastNumber += 1
      return queue.insert(ComputeQueue.Job(lastNumber, kind, owner: owner, isLong: isLong))?.owner
    }

    /// Runs one job at a time for a while.
    ///
    /// - Parameter time: Returns the time that a job takes.
    /// - Returns: The jobs in the order in which they ran.
    mutating func run(_ count: Int, _ time: (ComputeQueue.Job) -> Duration) -> [ComputeQueue.Job] {
      (0..<count).compactMap { _ in
        guard let job = queue.next() else { return nil }
        queue.finish(job, after: time(job))
        return job
      }
    }
  }

  @Test("Kinds share the processor time, however many jobs one has and however long its jobs take")
  func kinds() {
    var harness = Harness(threads: 4)
    for _ in 0..<200 {
      harness.add(.batch, "flood")
      harness.add(.feed, "feed")
      harness.add(.editing, "desk")
    }
    var used: [ComputeKind: Duration] = [:]
    for job in harness.run(300, { $0.kind == .feed ? .milliseconds(100) : .milliseconds(10) }) {
      used[job.kind, default: .zero] += job.kind == .feed ? .milliseconds(100) : .milliseconds(10)
    }
    let times = ComputeKind.allCases.compactMap { used[$0] }
    #expect(times.count == 3)
    #expect((times.max() ?? .zero) - (times.min() ?? .zero) <= .milliseconds(100))
  }

  @Test("Owners of a kind share its time, and a new owner does not wait for the jobs of the others")
  func owners() {
    var harness = Harness(threads: 2)
    for _ in 0..<100 { harness.add(.editing, "flood") }
    _ = harness.run(50) { _ in .milliseconds(10) }
    for _ in 0..<20 { harness.add(.editing, "desk") }
    let order = harness.run(41) { _ in .milliseconds(10) }.map(\.owner)
    #expect(order.prefix(3).contains("desk"))
    #expect(order.count { $0 == "desk" } == 20, "the new owner makes up for no time in which it had no jobs")
  }

  @Test("A kind that had no jobs does not run alone for the time that it has not used")
  func idleKind() {
    var harness = Harness(threads: 2)
    for _ in 0..<100 { harness.add(.batch, "flood") }
    _ = harness.run(50) { _ in .milliseconds(10) }
    for _ in 0..<20 { harness.add(.editing, "desk") }
    let order = harness.run(20) { _ in .milliseconds(10) }.map(\.kind)
    #expect(order.prefix(2).contains(.editing))
    #expect((9...11).contains(order.count { $0 == .editing }))
  }

  @Test("Batches and feeds together leave a thread to editors and readers")
  func bulk() {
    var harness = Harness(threads: 3)
    for number in 0..<10 {
      harness.add(.batch, "\(number)")
      harness.add(.feed, "\(number)")
    }
    #expect((0..<4).compactMap { _ in harness.queue.next() }.count == 2)
    harness.add(.editing, "desk")
    #expect(harness.queue.next()?.kind == .editing)
    harness.add(.reading)
    #expect(harness.queue.next() == nil, "there are three threads")
  }

  @Test("Long jobs of all kinds and owners leave a thread to the others, and short ones overtake them")
  func long() {
    var harness = Harness(threads: 2)
    for number in 0..<3 {
      harness.add(.editing, "\(number)", isLong: true)
      harness.add(.transaction, "\(number)", isLong: true)
    }
    harness.add(.batch, "3")
    let first = harness.queue.next()
    #expect(first?.isLong == true && harness.queue.next() == nil)
    harness.add(.editing, "0")
    let short = harness.queue.next()
    #expect(short?.owner == "0" && short?.isLong == false)
    if let first { harness.queue.finish(first, after: .milliseconds(500)) }
    #expect(harness.queue.next() != nil, "a long job may begin once another has ended")
  }

  @Test("In a full queue, the owner with the most jobs makes room for others, and not for itself")
  func full() {
    var harness = Harness(threads: 4)
    let room = ComputeKind.editing.maximumWaiting
    for _ in 0..<room { #expect(harness.add(.editing, "flood") == nil) }
    #expect(harness.add(.editing, "flood") == "flood")
    #expect(harness.queue.waiting == room)
    #expect(harness.add(.editing, "desk") == "flood")
    #expect(harness.add(.batch, "flood") == nil, "each kind has its own room")
    #expect(harness.queue.waiting == room + 1)
    let first = (0..<3).compactMap { _ in harness.queue.next() }
    #expect(first.contains { $0.owner == "desk" }, "an owner without a running job comes first")
  }

  @Test("A job that leaves is not run, and frees its place")
  func leaving() {
    var harness = Harness(threads: 2)
    for _ in 0..<ComputeKind.editing.maximumWaiting { harness.add(.editing, "desk") }
    #expect(harness.queue.remove(1, .editing, owner: "desk")?.number == 1)
    #expect(harness.queue.remove(1, .editing, owner: "desk") == nil)
    #expect(harness.add(.editing, "desk") == nil)
    #expect(harness.queue.next()?.number == 2)
    #expect(harness.queue.remove(2, .editing, owner: "desk") == nil, "it has begun")
  }
}
