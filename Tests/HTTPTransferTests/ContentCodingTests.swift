import Crypto
import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import Testing

@Suite("A download with a content coding") struct ContentCodingTests {
  private static let content = Data(String(repeating: "The night ferry returns. ", count: 8000).utf8)
  private static let coded = FaultResponse(body: content).gzipped().body

  /// Serves the coded content with ranges, as a server does that has only the compressed file.
  private func serve(
    _ fixture: TransferFixture,
    _ change: @escaping @Sendable (_ response: FaultResponse, _ number: Int) -> FaultResponse
  ) {
    let coded = Self.coded
    fixture.modify { _, request, number in
      var response = FaultResponse(
        headers: [
          ("Content-Type", "text/plain"), ("Content-Encoding", "gzip"), ("ETag", "\"gz\""),
          ("Repr-Digest", "sha-256=:\(Data(SHA256.hash(data: coded)).base64EncodedString()):"),
        ], body: coded)
      if let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap({ Int($0.1) }) {
        response.status = 206
        response.body = coded.dropFirst(first)
        response = response.setting("Content-Range", "bytes \(first)-\(coded.count - 1)/\(coded.count)")
      }
      return change(response, number)
    }
  }

  @Test("is stored without it, and resumed within it", arguments: ["", "gzip", "x-gzip", "GZIP"])
  func resumed(name: String) async throws {
    let half = Self.coded.count / 2
    try await TransferFixture.with { fixture in
      serve(fixture) { response, number in
        if name.isEmpty { return number == 0 ? response.truncated(at: .body(half)) : response }
        return response.setting("Content-Encoding", name)
      }
      try await fixture.working {
        let transfer = try await fixture.end(
          of: fixture.download { $0.sha256 = SHA256.hash(data: Self.content).hexadecimal })
        #expect(transfer.state == .finished, "\(transfer.failure ?? "")")
        #expect(try Data(contentsOf: fixture.output) == Self.content)
        #expect(try fixture.files() == ["output.bin"])
        #expect(transfer.completed == Int64(Self.coded.count))
        #expect(fixture.server.requests.map { $0["Range"] } == (name.isEmpty ? [nil, "bytes=\(half)-"] : [nil]))
      }
    }
  }

  @Test("keeps it if the name, the type or the digest is that of the compressed file", arguments: 0..<4)
  func archives(number: Int) async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in number == 1 ? response.setting("Content-Type", "application/gzip") : response }
      let output = fixture.folder.appending(path: number == 0 || number == 3 ? "news.txt.gz" : "news")
      try await fixture.working {
        let transfer = try fixture.download { request in
          request.file = output
          if number == 2 { request.sha256 = SHA256.hash(data: Self.coded).hexadecimal }
          if number == 3 { request.sha256 = SHA256.hash(data: Self.content).hexadecimal }
        }
        try await fixture.finish(transfer)
      }
      // The required digest is decisive.
      #expect(try Data(contentsOf: output) == (number == 3 ? Self.content : Self.coded))
    }
  }

  @Test("fails after three attempts if it does not have the coding", arguments: [CodingFault.cut, .plainCalledGzip])
  func damaged(fault: CodingFault) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in
        FaultResponse(headers: [("Content-Type", "text/plain"), ("ETag", "\"gz\"")], body: Self.content).gzipped(fault)
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        let reason = fault == .cut ? "the compressed data ends early" : "the compressed data is damaged"
        #expect(transfer.failure == "the content cannot be unpacked (gzip): \(reason)")
        #expect(fixture.server.requests.count == 3)
        try await eventually("no part remains") { try fixture.files() == [] }
      }
    }
  }

  @Test("counts for its maximum without it")
  func maximum() async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 100_000 })
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the content has more than 100000 bytes unpacked")
        #expect(try fixture.files() == [])
      }
    }
  }
}

@Suite("A response that ends early or is too large") struct ResponseFailureTests {
  @Test("is reported in words for users", arguments: 0..<5)
  func messages(number: Int) async throws {
    let body = FaultResponse(headers: [("Content-Type", "application/json")], body: TransferFixture.content(3_000_000))
    let rows: [(FaultResponse, String)] = [
      // Bytes that arrive together with the end of a connection may be lost.
      (body.truncated(at: .body(1_050_000)), "the connection ended after .* of 2\\.9 MiB"),
      (body.framed(.chunked).truncated(at: .body(2048)), "the connection ended after .*"),
      (body.gzipped(.cut), "the response cannot be unpacked: the compressed data ends early"),
      (.gzipBomb(expandingTo: 64 << 20), "the response has more than 8 MiB unpacked"),
      (.huge(bytes: 9 << 20), "the response has more than 8 MiB"),
    ]
    try await FaultServer.with({ _ in rows[number].0 }) { server in
      let clock = SystemClock()
      let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)")
      let requester = HTTPRequester(
        transport: AsyncHTTPTransport(), userAgent: "tests", now: { clock.now.date },
        retryAfterStore: RetryAfterStore(store: folder, clock: clock))
      let url = try #require(URL(string: server.url))
      let failure = await #expect(throws: FetchError.self) {
        var meter = HTTPRequester.Meter()
        _ = try await requester.get(url, meter: &meter)
      }
      let pattern = try Regex(rows[number].1)
      #expect(failure?.message.wholeMatch(of: pattern) != nil, "\(failure?.message ?? "")")
    }
  }
}
