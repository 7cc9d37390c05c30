import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("The progress of a large download") struct ProgressTests {
  /// The number of bytes that each attempt brings, which is less than a sixteenth of the file.
  private static let step = 2_000_000

  @Test("of a mebibyte in each attempt keeps the waits short, and less does not", arguments: [true, false])
  func waits(isEnough: Bool) async throws {
    try await TransferFixture.with { fixture in
      let step = isEnough ? Self.step : 1_000_000
      fixture.modify { _, request, _ in
        let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap { Int($0.1) } ?? 0
        var response = FaultResponse(
          headers: [("ETag", "\"one\""), ("Content-Range", "bytes \(first)-99999999/100000000")],
          body: Data(count: step))
        if first > 0 { response.status = 206 }
        return response.declaring(length: 100_000_000 - first).hanging(at: .body(step))
      }
      let number = try fixture.download()
      try await fixture.working {
        for attempt in 1...4 {
          try await fixture.eventually("the bytes are there") { try fixture.partialSize() == attempt * step }
          await fixture.server.closeConnections()
          // The clock stands still while the failure is stored.
          try await eventually("the attempt has ended") {
            let transfer = try #require(try fixture.journal.transfer(number))
            return fixture.journal.delay(of: transfer, clock: fixture.clock) > 0
          }
          let transfer = try #require(try fixture.journal.transfer(number))
          let wait = fixture.journal.delay(of: transfer, clock: fixture.clock)
          // After failures that count, the waits are at least 0.5, 1, 2 and 4 s.
          #expect(isEnough ? wait <= 0.5 : wait >= Double(1 << attempt) / 4)
        }
      }
    }
  }
}
