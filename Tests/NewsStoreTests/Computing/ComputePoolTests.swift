import Foundation
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct ComputePoolTests {
  /// Jobs that occupy threads until the test ends them.
  private final class Gate: Sendable {
    private let isOpen = Flag()
    private let entered = Mutex(0)

    var count: Int { entered.withLock { $0 } }

    func pass() {
      entered.withLock { $0 += 1 }
      while !isOpen.isSet { usleep(1000) }
    }

    func open() { isOpen.set() }
  }

  /// Occupies all threads of a pool while the body runs.
  private static func occupying<Value: Sendable>(
    _ pool: ComputePool, threads: Int, _ body: () async throws -> Value
  ) async throws -> Value {
    let gate = Gate()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<threads { group.addTask { try await pool.run(.editing, for: "blocker") { gate.pass() } } }
      defer { gate.open() }
      try await eventually("all threads are busy") { gate.count == threads }
      let value = try await body()
      gate.open()
      try await group.waitForAll()
      return value
    }
  }

  @Test("Large work runs on threads of the pool, never more than it may have, and small work runs at once")
  func threads() async throws {
    let pool = ComputePool(threads: 2)
    try await Self.occupying(pool, threads: 2) {
      try await pool.run(.editing, bytes: ComputePool.smallBytes) { #expect(pool.usage.running == 2) }
      let waiting = Task { try await pool.run(.editing, bytes: ComputePool.smallBytes + 1) { pool.usage.running } }
      try await eventually("the work waits") { pool.usage.waiting == 1 }
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      #expect(pool.usage.waiting == 0)
    }
    try await eventually("the threads have ended") { pool.usage == (0, 0, 0) }
  }

  @Test("A thread has a lower priority for long work")
  func priority() async throws {
    let pool = ComputePool(threads: 2)
    let usual = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
    for (kind, expected) in [(ComputeKind.editing, usual), (.feed, min(usual + 5, 19))] {
      try await eventually("the threads have ended") { pool.usage == (0, 0, 0) }
      let priority = try await pool.run(kind) { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
      #expect(priority == expected)
    }
  }

  @Test("A cancelled caller is not run, and a refused one learns it")
  func refusal() async throws {
    let pool = ComputePool(threads: 2)
    let runs = Count()
    try await Self.occupying(pool, threads: 2) {
      let room = ComputeKind.batch.maximumWaiting
      let waiting = (0..<room).map { _ in Task { try await pool.run(.batch) { _ = runs.next() } } }
      try await eventually("the queue is full") { pool.usage.waiting == room }
      await #expect(throws: StoreError.unavailable) { try await pool.run(.batch) { _ = runs.next() } }
      #expect(pool.usage.refused == 1)
      for task in waiting.dropFirst() { task.cancel() }
      for task in waiting.dropFirst() { _ = await task.result }
      #expect(pool.usage.waiting == 1)
    }
    try await eventually("the last one runs") { runs.value == 1 && pool.usage.running == 0 }
  }

  @Test("A caller that waits too long is refused")
  func timeout() async throws {
    let pool = ComputePool(threads: 2)
    try await Self.occupying(pool, threads: 2) {
      let began = ContinuousClock.now
      await #expect(throws: StoreError.unavailable) { try await pool.run(.reading) {} }
      #expect(.now - began >= ComputeKind.reading.timeout)
    }
  }

  @Test("Errors of the work reach the caller")
  func errors() async throws {
    struct Failure: Error {}
    let pool = ComputePool(threads: 2)
    await #expect(throws: Failure.self) { try await pool.run(.editing) { throw Failure() } }
    await #expect(throws: Failure.self) {
      try await pool.slices(.editing, [1, 2, 3]) { if $0 == 2 { throw Failure() } }
    }
  }

  @Test("A long list is worked on in order, in several jobs between which others have their turn")
  func slices() async throws {
    let pool = ComputePool(threads: 2)
    let (hasBegun, jobs) = (Flag(), Count())
    let values = try await pool.slices(.batch, Array(0..<30)) { number in
      // Each number takes a tenth of a slice's time, by the clock.
      usleep(UInt32(ComputePool.sliceTime / .microseconds(1)) / 10)
      return number * 2
    }
    #expect(values == (0..<30).map { $0 * 2 })
    let others = Task {
      try await eventually("the list has begun") { hasBegun.isSet }
      for _ in 0..<3 { try await pool.run(.batch, for: "other") { _ = jobs.next() } }
    }
    let slow = try await pool.slices(.batch, Array(0..<30_000)) { _ in
      hasBegun.set()
      let done = jobs.value
      if done < 3 { usleep(1000) }
      return done
    }
    try await others.value
    #expect(slow.last == 3, "the others have ended before the list")
    #expect(try await pool.slices(.batch, [Int]()) { $0 }.isEmpty)
  }
}
