import NewsAPI
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct ConcurrencyLimiterTests {
  private final class Running: Sendable {
    private let counts = Mutex((now: 0, maximum: 0))

    var maximum: Int { counts.withLock { $0.maximum } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.maximum = max(counts.maximum, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }

  private final class Order: Sendable {
    private let numbers = Mutex<[Int]>([])

    var value: [Int] { numbers.withLock { $0 } }

    func note(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  /// An operation that runs until the test ends it.
  private struct Blocker: Sendable {
    private let task: Task<Void, any Error>
    private let opening: AsyncStream<Void>.Continuation

    init(_ limiter: ConcurrencyLimiter) async {
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let (starts, started) = AsyncStream.makeStream(of: Void.self)
      self.opening = opening
      task = Task {
        try await limiter.run {
          started.finish()
          for await _ in gate {}
        }
      }
      for await _ in starts {}
    }

    func end() async throws {
      opening.finish()
      try await task.value
    }
  }

  @Test("No more operations run concurrently than the limit, and all of them run, even after errors")
  func limit() async throws {
    struct Failure: Error {}
    let limiter = ConcurrencyLimiter(limit: 3, timeout: .seconds(60))
    let running = Running()
    let passed = Count()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try? await limiter.run {
            running.enter()
            await Task.yield()
            running.leave()
            _ = passed.next()
            if number.isMultiple(of: 3) { throw Failure() }
          }
        }
      }
    }
    #expect(passed.value == 200)
    #expect(1...3 ~= running.maximum)
  }

  @Test("A caller is refused at once if the queue is full, and after the timeout otherwise")
  func bounds() async throws {
    let limiter = ConcurrencyLimiter(limit: 1, maximumWaiters: 1, timeout: .milliseconds(50))
    let blocker = await Blocker(limiter)
    await #expect(throws: StoreError.unavailable) { try await limiter.run {} }
    #expect(limiter.waiting == 0)

    let queue = ConcurrencyLimiter(limit: 1, maximumWaiters: 1, timeout: .seconds(60))
    let other = await Blocker(queue)
    let waiting = Task { try await queue.run {} }
    try await eventually("one request waits") { queue.waiting == 1 }
    await #expect(throws: StoreError.unavailable) { try await queue.run {} }
    try await other.end()
    try await waiting.value
    try await blocker.end()
  }

  @Test("A cancelled caller leaves the queue, and the others keep their order")
  func cancellation() async throws {
    let limiter = ConcurrencyLimiter(limit: 1, timeout: .seconds(60))
    let blocker = await Blocker(limiter)
    let order = Order()
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<3 {
      tasks.append(Task { try await limiter.run { order.note(number) } })
      try await eventually("the request waits") { limiter.waiting == number + 1 }
    }
    tasks[1].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    #expect(limiter.waiting == 2)
    try await blocker.end()
    for task in [tasks[0], tasks[2]] { try await task.value }
    #expect(order.value == [0, 2])
    // A caller that is already cancelled does not wait.
    let other = await Blocker(limiter)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await limiter.run { order.note(3) }
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await other.end()
    try await limiter.run {}
  }

  @Test("A nested limiter obeys both limits")
  func nesting() async throws {
    let parent = ConcurrencyLimiter(limit: 2, timeout: .seconds(60))
    let child = ConcurrencyLimiter(limit: 1, timeout: .seconds(60), within: parent)
    let one = await Blocker(parent)
    let two = await Blocker(child)
    // The parent is full, so the child cannot take another slot.
    let waiting = Task { try await parent.run {} }
    try await eventually("the request waits") { parent.waiting == 1 }
    try await two.end()
    try await waiting.value
    try await one.end()
  }

  @Test("Refusals are counted, and callers that were cancelled are not among them")
  func usage() async throws {
    let limiter = ConcurrencyLimiter(limit: 1, maximumWaiters: 100, timeout: .milliseconds(100))
    let blocker = await Blocker(limiter)
    #expect(limiter.usage == (1, 0, 0))
    let cancelled = Task { try await limiter.run {} }
    try await eventually("it waits") { limiter.waiting == 1 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(limiter.usage == (1, 0, 0))
    let results = await withTaskGroup { group in
      for _ in 0..<300 { group.addTask { (try? await limiter.run { true }) ?? false } }
      return await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(!results.contains(true))
    #expect(limiter.usage == (1, 0, 300))
    try await blocker.end()
    // None of those that have left takes the place.
    #expect(try await limiter.run { limiter.usage } == (1, 0, 300))
  }
}
