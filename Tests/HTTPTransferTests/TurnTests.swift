import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The turn of a transfer") struct TurnTests {
  @Test("comes when the attempt of a cancelled transfer has ended, which may be long after its cancellation")
  func afterCancellation() async throws {
    try await TransferFixture.with { fixture in
      let transport = LingeringTransport()
      try await fixture.working(transport: transport) {
        let numbers = try (0..<5).map { index in
          try fixture.download { $0.file = fixture.folder.appending(path: "\(index).bin") }
        }
        try await eventually("four are tried") { transport.requests.value == 4 }
        // The clock stands still, so that only the end of the attempt can wake the worker.
        try fixture.journal.cancel(numbers[0])
        try await eventually("the fifth is tried") { transport.requests.value == 5 }
      }
    }
  }

  @Test("comes if it is resumed within three seconds of the end of another one, however long that has taken")
  func afterLongAttempt() async throws {
    try await TransferFixture.with { fixture in
      let ends = Counter()
      let transport = LingeringTransport(mayEnd: { ends.value > 0 })
      let clock = fixture.clock
      try await fixture.working(transport: transport) {
        let number = try fixture.download()
        // The worker sleeps, and so does the timeout of the request.
        try await eventually("it is tried") { transport.requests.value == 1 && clock.sleeping.count == 2 }
        clock.advance(by: 1)
        try fixture.journal.cancel(number)
        try await eventually("the worker waits for its end") { clock.sleeping == [60] }
        clock.advance(by: 10)
        ends.add()
        try await eventually("the worker waits for another one") { clock.sleeping == [3] }
        _ = try fixture.download()
        try await eventually("that one is tried") { transport.requests.value == 2 }
      }
    }
  }

  @Test("is left to the worker that runs, for whose end another one waits five seconds")
  func secondWorker() async throws {
    try await TransferFixture.with { fixture in
      let lock = FetchLock(path: fixture.folder.appending(path: "transfers/worker.lock").path)
      let held = try #require(try lock.acquire())
      let clock = ManualClock()
      let worker = try TransferWorker(store: fixture.folder, userAgent: "tests/1", clock: clock)
      let hasRun = Mutex<Bool?>(nil)
      let task = Task {
        let value = try await worker.run()
        hasRun.withLock { $0 = value }
      }
      try await clock.step(until: clock.now.date + 4.9, whenSleeping: 1)
      clock.advance(by: 0.2)
      try await eventually("it has given up") { hasRun.withLock { $0 != nil } }
      #expect(hasRun.withLock(\.self) == false)
      try await task.value
      held.release()
    }
  }
}
