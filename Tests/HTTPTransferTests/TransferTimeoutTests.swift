import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

/// A transport whose transfers go on without end, with some bytes a second.
private struct EndlessTransport: HTTPTransport {
  let clock: ManualClock

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    let body = AsyncThrowingStream<Data, any Error> {
      try await clock.sleep(for: .seconds(1))
      return Data(count: 10)
    }
    return HTTPTransportResponse(status: 200, headers: [], body: body)
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    for second in 1... {
      try await clock.sleep(for: .seconds(1))
      file.progress(Int64(second) * 10)
    }
    throw HTTPTransportError(.broken, "it broke")
  }
}

@Suite("The time of a transfer") struct TransferTimeoutTests {
  @Test("is over during an attempt that goes on", arguments: [TransferRequest.Direction.download, .upload])
  func endless(direction: TransferRequest.Direction) async throws {
    try await TransferFixture.with { fixture in
      let (journal, clock) = (fixture.journal, fixture.clock)
      let number = try fixture.start(direction) { $0.timeout = .seconds(30) }
      try await fixture.working(transport: EndlessTransport(clock: clock)) {
        try await eventually("it is under way") { clock.sleeping.contains(1) && clock.sleeping.contains(30) }
        clock.advance(by: 1)
        try await eventually("it has progressed") { try journal.transfer(number)?.completed == 10 }
        clock.advance(by: 28)
        #expect(try journal.transfer(number)?.state == .running)
        try await Self.advanceToEnd(of: number, fixture)
        #expect(try journal.transfer(number)?.failure == "the transfer timed out")
      }
      #expect(try fixture.files() == (direction == .upload ? ["input.bin"] : []))
    }
  }

  @Test("does not end with its worker while bytes arrive, and no other attempt is due")
  func slow() async throws {
    try await TransferFixture.with { fixture in
      let (journal, clock) = (fixture.journal, fixture.clock)
      let number = try fixture.download()
      try await fixture.working(transport: EndlessTransport(clock: clock)) {
        for _ in 0..<5 {
          try await eventually("it waits for bytes") { clock.sleeping.contains(1) }
          let before = try journal.transfer(number)?.completed ?? 0
          clock.advance(by: 10)
          try await eventually("they are there") { try journal.transfer(number)?.completed ?? 0 > before }
        }
        #expect(try journal.hasWorker)
      }
    }
  }

  @Test("is over for a transfer that waits for its turn")
  func turn() async throws {
    try await TransferFixture.with { fixture in
      let (journal, clock) = (fixture.journal, fixture.clock)
      try await fixture.working(transport: EndlessTransport(clock: clock)) {
        let others = try (0..<4).map { index in
          try fixture.download { $0.file = fixture.folder.appending(path: "\(index).bin") }
        }
        try await eventually("four are under way") { clock.sleeping.count { $0 == 1 } == 4 }
        let number = try fixture.download { $0.timeout = .seconds(30) }
        try await eventually("it waits") { clock.sleeping.contains(30) }
        clock.advance(by: 29)
        #expect(try journal.transfer(number)?.state == .running)
        try await Self.advanceToEnd(of: number, fixture)
        let states = try others.map { try journal.transfer($0)?.state }
        #expect(states == [.running, .running, .running, .running])
      }
    }
  }

  @Test("is not over for one that is suspended meanwhile, which keeps its part")
  func suspendedMeanwhile() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .body(150_000)) }
      let file = fixture.folder.appending(path: "waiting.bin")
      var request = TransferRequest(download: fixture.url, to: file)
      request.isDiscretionary = true
      let waiting = try fixture.journal.add(request).number
      let number = try fixture.download { $0.timeout = .seconds(30) }
      try await fixture.working {
        try await eventually("a part is there") { try fixture.partialSize() == 150_000 }
      }
      fixture.clock.advance(by: 30)
      try fixture.journal.resume(waiting, at: fixture.clock.now)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1",
        obstacles: { [journal = fixture.journal] in
          // The worker has read the journal already, and looks at the other transfer next.
          try? journal.suspend(number)
          return [.power]
        }, clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await eventually("the condition is known") { try fixture.journal.transfer(waiting)?.obstacle == .power }
      task.cancel()
      _ = try await task.value
      #expect(try fixture.journal.transfer(number)?.state == .suspended)
      #expect(try fixture.partialSize() == 150_000)
    }
  }

  /// Advances the clock until a transfer has failed. A worker that was about to sleep when the clock advanced sleeps
  /// until a later second.
  private static func advanceToEnd(of number: Int64, _ fixture: TransferFixture) async throws {
    try await eventually("it is over") {
      fixture.clock.advance(by: 1)
      return try fixture.journal.transfer(number)?.state == .failed
    }
  }
}
