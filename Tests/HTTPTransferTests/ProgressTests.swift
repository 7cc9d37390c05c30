import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("The progress of a download") struct ProgressTests {
  /// The numbers of bytes that each attempt brings and of the file, and whether the former is enough.
  private static let steps: [(Int, Int, Bool)] = [
    (1 << 20, 100_000_000, true), ((1 << 20) - 1, 100_000_000, false), (10_000, 160_000, true),
    (9_999, 160_000, false),
  ]

  @Test(
    "of a mebibyte or a sixteenth of the file in each attempt keeps the waits short, and less does not",
    arguments: steps)
  func waits(step: Int, total: Int, isEnough: Bool) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, request, _ in
        let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap { Int($0.1) } ?? 0
        var response = FaultResponse(
          headers: [("ETag", "\"one\""), ("Content-Range", "bytes \(first)-\(total - 1)/\(total)")],
          body: Data(count: step))
        if first > 0 { response.status = 206 }
        return response.declaring(length: total - first).hanging(at: .body(step))
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
