import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The silence of a server") struct TransferSilenceTests {
  /// A transport whose connections break: those of downloads after the head of the response; those of uploads before
  /// it, but each a thousand bytes later than the one before.
  private final class BreakingTransport: HTTPTransport {
    private let clock: ManualClock
    private let uploads = Mutex<Int64>(0)

    init(_ clock: ManualClock) { self.clock = clock }

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
      file.progress(number * 1000)
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
    }
  }
}
