import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("A refused transfer") struct RefusalTests {
  @Test(
    "is repeated after a refusal that may pass, and after no other one",
    arguments: [
      (408, true), (425, true), (429, true), (500, true), (599, true), (400, false), (409, false), (423, false),
      (499, false),
    ])
  func kinds(status: Int, isTemporary: Bool) async throws {
    try await TransferFixture.with(TransferFixture.content(1000)) { fixture in
      fixture.modify { response, _, number in number == 0 ? FaultResponse(status: status) : response }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == (isTemporary ? .finished : .failed), "\(transfer.failure ?? "")")
        #expect(fixture.server.requests.count == (isTemporary ? 2 : 1))
      }
    }
  }

  @Test("is reported without the rest of a page, which explains nothing")
  func hangingPage() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in
        FaultResponse(status: 404, headers: [("Content-Type", "text/html")], body: Data(count: 1000))
          .hanging(at: .body(500))
      }
      let number = try fixture.download()
      try await fixture.working {
        // The clock stands still, so that no wait for the rest ends.
        try await eventually("it has failed") { try fixture.journal.transfer(number)?.state == .failed }
      }
    }
  }

  private static let errors = (1...6).map { #"{"field":"f\#($0)","rule":"is bad"}"# }

  /// The responses of a server, and what the user reads of them.
  private static let explanations: [(type: String, body: String, text: String)] = [
    (
      "application/problem+json", #"{"title":"No","detail":"Not today.\nCome\tagain\u001b[2J\u202e"}"#,
      ": Not today. Come again[2J"
    ),
    // Line breaks of all kinds, and characters that hide or reverse text.
    (
      "application/problem+json",
      #"{"title":"a\u0085b\u2028c\r\n\u2029d\u007fe\u009ff\u202ag\u2066h\u206fi\ufeffj\ufff9k\ufffbl\u202fm\rn"}"#,
      ": a b c defghijkl\u{202F}m n"
    ),
    ("Application/Problem+JSON; charset=utf-8", #"{"title":"No"}"#, ": No"),
    ("application/problem+json", #"{"title":"No","detail":"See errors","errors":[]}"#, ": See errors"),
    (
      "application/problem+json", #"{"title":"No","detail":"See","errors":[\#(errors.joined(separator: ","))]}"#,
      ": f1 is bad; f2 is bad; f3 is bad; f4 is bad; f5 is bad"
    ),
    (
      "application/problem+json", #"{"title":"No","detail":"\#(String(repeating: "x", count: 501))"}"#,
      ": " + String(repeating: "x", count: 500) + "…"
    ),
    (
      "application/problem+json", #"{"title":"No","detail":"\#(String(repeating: "x", count: 500))"}"#,
      ": " + String(repeating: "x", count: 500)
    ),
    // A long explanation is cut at 500 characters.
    (
      "application/problem+json", #"{"title":"\#(String(repeating: "x", count: 60_000))"}"#,
      ": " + String(repeating: "x", count: 500) + "…"
    ),
    ("application/problem+json", #"{"title":"No","detail":"\#(String(repeating: "x", count: 1_000_000))"}"#, ""),
    ("application/problem+json", #"{"title":"No""#, ""), ("application/problem+json", "{}", ""),
    ("application/json", #"{"title":"No"}"#, ""), ("text/html", "<title>No</title>", ""),
  ]

  @Test(
    "names the server's own explanation on one line",
    arguments: explanations.indices, [TransferRequest.Direction.download, .upload])
  func explanation(number: Int, direction: TransferRequest.Direction) async throws {
    let (type, body, text) = Self.explanations[number]
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .json(body, status: 403).setting("Content-Type", type) }
      try await fixture.working {
        let end = try await fixture.end(of: fixture.start(direction))
        #expect(end.state == .failed)
        #expect(end.failure == "the server responded with 403" + text)
      }
    }
  }
}
