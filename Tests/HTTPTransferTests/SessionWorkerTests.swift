import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The workers that a session starts") struct SessionWorkerTests {
  private struct Silent: TransferDelegate {
    func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {}
  }

  private func session(_ fixture: TransferFixture, _ workers: Counter) throws -> TransferSession {
    try TransferSession(identifier: "media", store: fixture.folder, delegate: Silent(), clock: fixture.clock) {
      workers.add()
    }
  }

  /// Lets waits of at most some seconds pass until the number of workers is reached. A session that is woken meanwhile may
  /// begin to wait for the same seconds once more, after the clock was advanced.
  private static func pass(_ seconds: Double, _ clock: ManualClock, until count: Int, _ workers: Counter) async throws {
    try await eventually("worker \(count) is started") {
      if let next = clock.sleeping.first, next <= seconds { clock.advance(by: next) }
      return workers.value == count
    }
  }

  @Test("are a minute apart, and none is started while one runs")
  func restarted() async throws {
    try await TransferFixture.with { fixture in
      let (workers, clock) = (Counter(), fixture.clock)
      let session = try session(fixture, workers)
      // The minute begins with a worker, not with the session.
      try await eventually("it waits for a transfer") { clock.sleeping == [600] }
      clock.advance(by: 30)
      try session.transfer(TransferRequest(download: fixture.url)).resume()
      #expect(workers.value == 1)
      try await eventually("it waits") { clock.sleeping == [60] }
      clock.advance(by: 59)
      #expect(workers.value == 1)
      try await Self.pass(1, clock, until: 2, workers)
      try await eventually("it waits again") { clock.sleeping == [60] }
      clock.advance(by: 10)
      try session.transfer(TransferRequest(download: fixture.url)).cancel()
      try await eventually("it has reported an end, and waits for the rest of the minute") {
        try session.transfers.count == 1 && clock.sleeping == [50]
      }
      #expect(workers.value == 2)
      let lock = FetchLock(path: fixture.folder.appending(path: "transfers/worker.lock").path)
      let running = try #require(try lock.acquire())
      clock.advance(by: 50)
      try await eventually("it has looked for the worker") { clock.sleeping == [60] }
      #expect(workers.value == 2)
      running.release()
      try await Self.pass(60, clock, until: 3, workers)
      await session.invalidate()
    }
  }

  @Test("are a minute apart, also if a transfer that has ended is resumed meanwhile")
  func resumedInVain() async throws {
    try await TransferFixture.with { fixture in
      let (workers, clock) = (Counter(), fixture.clock)
      let session = try session(fixture, workers)
      let ended = try session.transfer(TransferRequest(download: fixture.url))
      try ended.cancel()
      try session.transfer(TransferRequest(download: fixture.url)).resume()
      try await eventually("it waits") { clock.sleeping == [60] }
      clock.advance(by: 59)
      try ended.resume()
      #expect(workers.value == 1)
      try await Self.pass(1, clock, until: 2, workers)
      await session.invalidate()
    }
  }

  /// Runs a worker without power until a transfer waits for power or, after a refusal, for its server.
  private static func waitForPowerOrServer(_ task: TransferTask, _ fixture: TransferFixture) async throws {
    try await fixture.working(obstacles: [.power]) {
      try await fixture.eventually("it waits") {
        let transfer = try task.transfer
        return transfer?.obstacle == .power || transfer?.failure != nil
      }
    }
  }

  @Test(
    "are ten minutes apart while its transfers wait for power, and follow on the wait of a server",
    arguments: [true, false])
  func waiting(isForPower: Bool) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: .seconds(300)) }
      let (workers, clock) = (Counter(), fixture.clock)
      let session = try session(fixture, workers)
      var request = TransferRequest(download: fixture.url)
      request.isDiscretionary = isForPower
      let task = try session.transfer(request)
      try task.resume()
      try await Self.waitForPowerOrServer(task, fixture)
      let interval = isForPower ? 600.0 : 300
      try await eventually("the session waits") { clock.sleeping.first.map { $0 > interval - 90 } == true }
      clock.advance(by: interval - 90)
      #expect(workers.value == 1)
      try await Self.pass(95, clock, until: 2, workers)
      await session.invalidate()
    }
  }

  @Test("are considered every ten minutes while a server demands a longer wait")
  func longWait() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: .seconds(80_000)) }
      let (workers, clock) = (Counter(), fixture.clock)
      let session = try session(fixture, workers)
      let task = try session.transfer(TransferRequest(download: fixture.url))
      try task.resume()
      try await Self.waitForPowerOrServer(task, fixture)
      try await eventually("the session waits") { clock.sleeping.count == 1 }
      clock.advance(by: 601)
      try await eventually("the session waits for ten minutes again") {
        // A session that was woken meanwhile has begun to wait before the clock had its time.
        guard clock.sleeping.count == 1, let next = clock.sleeping.first else { return false }
        if abs(next - 600) < 0.001 { return true }
        clock.advance(by: next)
        return false
      }
      #expect(workers.value == 1)
      await session.invalidate()
    }
  }

  @Test("follow on the timeout of a transfer, although it waits for power or for its server", arguments: [true, false])
  func timeout(isForPower: Bool) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: .seconds(80_000)) }
      let (workers, clock) = (Counter(), fixture.clock)
      let session = try session(fixture, workers)
      var request = TransferRequest(download: fixture.url)
      (request.isDiscretionary, request.timeout) = (isForPower, .seconds(500))
      let (task, start) = (try session.transfer(request), clock.now)
      try task.resume()
      try await Self.waitForPowerOrServer(task, fixture)
      func left() -> Double { 500 - clock.now.seconds(since: start) }
      try await eventually("the session waits") {
        clock.sleeping.count == 1 && clock.sleeping.allSatisfy { abs($0 - left()) < 0.001 }
      }
      clock.advance(by: left() - 1)
      #expect(workers.value == 1)
      try await Self.pass(1.5, clock, until: 2, workers)
      await session.invalidate()
    }
  }
}
