import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The silence of a server") struct TransferSilenceTests {
  /// A transport whose connections break: those of downloads after the head of the response; those of uploads before
  /// it, but each some bytes later than the one before.
  private final class BreakingTransport: HTTPTransport {
    private let clock: ManualClock
    private let step: Int64
    private let uploads = Mutex<Int64>(0)

    init(_ clock: ManualClock, step: Int64 = 1000) { (self.clock, self.step) = (clock, step) }

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      let body = AsyncThrowingStream<Data, any Error>(unfolding: { throw HTTPTransportError(.broken, "it broke") })
      return HTTPTransportResponse(status: 200, headers: [], body: body)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      let number = uploads.withLock { count in
        count += 1
        return count
      }
      // The progress is stored at intervals.
      clock.advance(by: 1)
      file.progress(number * step)
      throw HTTPTransportError(.broken, "it broke")
    }
  }

  @Test(
    "ends with the head of a response, and while it accepts more bytes than before",
    arguments: [TransferRequest.Direction.download, .upload])
  func broken(direction: TransferRequest.Direction) async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.start(direction, bytes: 100_000) { $0.noResponseTimeout = .seconds(30) }
      let transport = BreakingTransport(fixture.clock)
      for attempt in 1...8 {
        fixture.clock.advance(by: 700)
        try await fixture.working(transport: transport) {
          try await fixture.eventually("attempt \(attempt) has failed") {
            let transfer = try #require(try fixture.journal.transfer(number))
            return transfer.state.isOver || fixture.journal.delay(of: transfer, clock: fixture.clock) > 0
          }
        }
      }
      let transfer = try #require(try fixture.journal.transfer(number))
      #expect(transfer.state == .running)
      #expect(transfer.total == (direction == .upload ? 100_000 : nil))
      let failure = direction == .upload ? "no response from 127.0.0.1:" : "the content was interrupted after 0 B: "
      #expect(transfer.failure?.hasPrefix(failure) == true, "\(transfer.failure ?? "")")
      #expect(transfer.failure?.hasSuffix(": it broke") == true, "\(transfer.failure ?? "")")
    }
  }

  /// Waits until an attempt has failed, while the clock stands still, and returns the wait for the next one in seconds.
  private func attempt(
    _ number: Int64, _ fixture: TransferFixture, _ transport: any HTTPTransport
  ) async throws -> Double {
    func wait() throws -> Double {
      fixture.journal.delay(of: try #require(try fixture.journal.transfer(number)), clock: fixture.clock)
    }
    try await fixture.working(transport: transport) {
      try await eventually("an attempt has failed") {
        let isOver = try fixture.journal.transfer(number)?.state.isOver == true
        return try isOver || wait() > 0
      }
    }
    return try wait()
  }

  @Test("is followed by a short wait if the upload has progressed by a sixteenth")
  func progressingUpload() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.start(.upload, bytes: 100_000)
      let transport = BreakingTransport(fixture.clock, step: 10_000)
      for _ in 0..<4 {
        #expect(try await attempt(number, fixture, transport) <= 0.5)
        fixture.clock.advance(by: 1)
      }
    }
  }

  /// A transport whose servers do not respond.
  private struct Silent: HTTPTransport {
    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      throw HTTPTransportError(.broken, "it broke")
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "it broke") }
  }

  @Test("begins anew when the user resumes the transfer")
  func resumed() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download { $0.noResponseTimeout = .seconds(1000) }
      _ = try await attempt(number, fixture, Silent())
      fixture.clock.advance(by: 1000)
      try fixture.journal.suspend(number)
      try fixture.journal.resume(number, at: fixture.clock.now)
      for _ in 0..<7 {
        _ = try await attempt(number, fixture, Silent())
        fixture.clock.advance(by: 40)
      }
      #expect(try fixture.journal.transfer(number)?.state == .running)
    }
  }

  @Test("is followed by waits of ten minutes at most, and five at least, after any number of attempts")
  func manyFailures() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download()
      let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
      let sql = "UPDATE transfers SET json = CAST(json_set(CAST(json AS TEXT), '$.failures', 80) AS BLOB)"
      try await queue.write { try $0.execute(sql: sql) }
      try queue.close()
      let wait = try await attempt(number, fixture, Silent())
      #expect(300...600 ~= wait)
    }
  }
}
