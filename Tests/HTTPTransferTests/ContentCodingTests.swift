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
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.output.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
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

  @Test(
    "keeps it if the name or the type is that of an archive",
    arguments: [
      ("/file", "news.GZ", nil), ("/file", "news.gzip", nil), ("/file", "news.tgz", nil), ("/file", "news.svgz", nil),
      ("/news.tar.gz", "news", nil), ("/file", "news", "application/x-gzip"), ("/file", "news", "application/x-tgz"),
    ] as [(String, String, String?)])
  func archiveNames(path: String, name: String, type: String?) async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in type.map { response.setting("Content-Type", $0) } ?? response }
      let url = try #require(URL(string: fixture.server.url + path))
      let output = fixture.folder.appending(path: name)
      try await fixture.working {
        try await fixture.finish(fixture.download { ($0.url, $0.file) = (url, output) })
      }
      #expect(try Data(contentsOf: output) == Self.coded)
    }
  }

  @Test("is removed although a killed process has left a part of the result")
  func leftover() async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response }
      let number = try fixture.download()
      try Data(count: 300_000).write(to: fixture.folder.appending(path: ".output.bin.\(number).part.decoded"))
      try await fixture.working { try await fixture.finish(number) }
      #expect(try Data(contentsOf: fixture.output) == Self.content)
      #expect(try fixture.files() == ["output.bin"])
    }
  }

  @Test("fails after three attempts if it has the required digest neither with it nor without it")
  func wrongDigest() async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.sha256 = String(repeating: "0", count: 64) })
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the content does not have the expected SHA-256")
      }
      #expect(fixture.server.requests.count == 3)
      #expect(try fixture.files() == [])
    }
  }

  /// A transport that decodes what it receives, as the one of Apple's systems does.
  private struct Decoding: HTTPTransport {
    let name: String

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      let digest = Data(SHA256.hash(data: ContentCodingTests.coded)).base64EncodedString()
      let headers = [
        HTTPHeader("Content-Encoding", name), HTTPHeader("Content-Length", "\(ContentCodingTests.coded.count)"),
        HTTPHeader("ETag", "\"gz\""), HTTPHeader("Repr-Digest", "sha-256=:\(digest):"),
      ]
      let body = AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(ContentCodingTests.content)
        continuation.finish()
      }
      return HTTPTransportResponse(status: 200, headers: headers, body: body)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test(
    "that the transport has removed makes the length and the digest those of something else", arguments: ["gzip", "br"])
  func removedByTransport(name: String) async throws {
    try await TransferFixture.with { fixture in
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", transport: Decoding(name: name), clock: fixture.clock)
      let task = Task { try await worker.run() }
      try await fixture.finish(fixture.download())
      task.cancel()
      _ = try await task.value
      #expect(try Data(contentsOf: fixture.output) == Self.content)
    }
  }

  @Test("fails after three attempts if it is damaged", arguments: [CodingFault.cut, .damaged])
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

  @Test("that is damaged leaves nothing beside the content of the next attempt, which has none")
  func plainAfterDamage() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, number in
        let plain = FaultResponse(headers: [("Content-Type", "text/plain")], body: Self.content)
        return number == 0 ? plain.gzipped(.damaged) : plain
      }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == Self.content)
      #expect(try fixture.files() == ["output.bin"])
    }
  }

  /// The beginnings of plain files.
  private static let plain = [
    Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), Data([0xFF, 0xD8, 0xFF, 0xE0]), Data("GIF89a".utf8),
    Data("RIFF    WEBPVP8 ".utf8), Data("The night ferry".utf8), Data("<svg xmlns".utf8), Data("{\"a\":1}".utf8),
  ]

  @Test(
    "that it does not have is stored as it is, and resumed",
    arguments: [
      "aws-chunked", "none", "utf-8", "binary", "identity", "Identity, NONE", "gzip", "x-gzip", "gzip, gzip", "deflate",
      "aws-chunked,gzip", "image/jpeg", " , ", "x-tidings",
    ])
  func plainBytes(name: String) async throws {
    for start in name == "deflate" ? Self.plain : [Self.plain[0]] {
      let content = start + TransferFixture.content(150_000)
      try await TransferFixture.with(content) { fixture in
        fixture.modify { response, _, number in
          let response = response.setting("Content-Encoding", name)
          return number == 0
            ? response.body { $0.prefix(70_000) }.declaring(length: content.count).setting("Connection", "close")
              .hanging(at: .body(70_000))
            : response
        }
        try await fixture.working {
          let number = try fixture.download()
          // Bytes that arrive together with the end of a connection may be lost.
          try await fixture.eventually("a part is stored") { try fixture.partialSize() == 70_000 }
          fixture.server.release()
          try await fixture.finish(number)
        }
        #expect(try Data(contentsOf: fixture.output) == content)
        #expect(try fixture.files() == ["output.bin"])
        #expect(fixture.server.requests.map { $0["Range"] } == [nil, "bytes=70000-"])
      }
    }
  }

  @Test(
    "that the first bytes have is removed, whatever its name is",
    arguments: ["aws-chunked", "none", "utf-8", "deflate"])
  func hidden(name: String) async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response.setting("Content-Encoding", name) }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == Self.content)
    }
  }

  @Test("without a name is a part of the file")
  func unnamed() async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response.removing("Content-Encoding") }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == Self.coded)
    }
  }

  @Test("is removed from a file of several hundred kilobytes")
  func large() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in FaultResponse(body: content).gzipped() }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == content)
    }
  }

  @Test("is removed as often as it is named", arguments: [1, 2, 3])
  func layers(names: Int) async throws {
    let content = Self.content
    let bodies = (0..<3).reduce(into: [content]) { bodies, _ in
      bodies.append(FaultResponse(body: bodies[bodies.count - 1]).gzipped().body)
    }
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in
        FaultResponse(
          headers: names == 3
            ? [("Content-Encoding", "gzip"), ("Content-Encoding", "gzip, gzip")]
            : [("Content-Encoding", Array(repeating: "gzip", count: names).joined(separator: ", "))],
          body: bodies[2])
      }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == bodies[names > 1 ? 0 : 1])
    }
  }

  /// `The night ferry returns.` in the format of zlib.
  private static let zlib = Data(
    [
      0x78, 0x9C, 0x0B, 0xC9, 0x48, 0x55, 0xC8, 0xCB, 0x4C, 0xCF, 0x28, 0x51, 0x48, 0x4B, 0x2D, 0x2A, 0xAA, 0x54, 0x28,
      0x4A, 0x2D, 0x29, 0x2D, 0xCA, 0x2B, 0xD6, 0x03, 0x00, 0x6E, 0x8E, 0x09, 0x05,
    ])

  /// The contents of responses with the coding deflate, and those of the files; nil for a failure.
  private static let deflated: [(Data, String?)] = [
    (zlib, "The night ferry returns."), (Data(zlib.dropFirst(2).dropLast(4)), nil), (Data(), ""),
  ]

  @Test("deflate is removed, and refused without the format of zlib unless it is empty", arguments: deflated)
  func deflate(body: Data, text: String?) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in FaultResponse(headers: [("Content-Encoding", "deflate")], body: body) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == (text == nil ? .failed : .finished), "\(transfer.failure ?? "")")
        if let text {
          #expect(try String(contentsOf: fixture.output, encoding: .utf8) == text)
        } else {
          #expect(transfer.failure == "the content cannot be unpacked (deflate): the compressed data has no header")
        }
      }
    }
  }

  @Test("deflate is a part of the file if it is not named")
  func unnamedDeflate() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in FaultResponse(headers: [("Content-Encoding", "aws-chunked")], body: Self.zlib) }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == Self.zlib)
    }
  }

  @Test(
    "that cannot be removed fails without its content", arguments: ["br", "zstd", "gzip, BR", "compress", "x-compress"])
  func undecodable(name: String) async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.setting("Content-Encoding", name) }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .failed)
        let coding = ["gzip, BR": "br", "x-compress": "compress"][name] ?? name
        #expect(transfer.failure == "the content has the coding \(coding), which was not requested")
        #expect(fixture.server.requests.count == 5)
        #expect(try fixture.files() == [])
      }
    }
  }

  @Test("whose first bytes become very many is removed within its maximum")
  func bomb() async throws {
    try await TransferFixture.with { fixture in
      let bomb = FaultResponse.gzipBomb(expandingTo: 64 << 20)
      let twice = FaultResponse(body: bomb.body).gzipped().setting("Content-Encoding", "gzip, gzip")
      fixture.modify { _, _, _ in twice }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 1 << 20 })
        #expect(transfer.failure == "the content has more than 1048576 bytes unpacked")
      }
    }
  }

  @Test("counts for its maximum without it")
  func maximum() async throws {
    try await TransferFixture.with { fixture in
      serve(fixture) { response, _ in response }
      try await fixture.working {
        try await fixture.finish(fixture.download { $0.maximumBytes = 200_000 })
        try FileManager.default.removeItem(at: fixture.output)
        let transfer = try await fixture.end(of: fixture.download { $0.maximumBytes = 199_999 })
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "the content has more than 199999 bytes unpacked")
        #expect(fixture.server.requests.count == 2)
        #expect(try fixture.files() == [])
      }
    }
  }
}

@Suite("A response that ends early or is too large") struct ResponseFailureTests {
  @Test("is reported in words for users", arguments: 0..<6)
  func messages(number: Int) async throws {
    let body = FaultResponse(headers: [("Content-Type", "application/json")], body: TransferFixture.content(3_000_000))
    let rows: [(FaultResponse, String)] = [
      // Bytes that arrive together with the end of a connection may be lost.
      (body.truncated(at: .body(1_050_000)), "the connection ended after .* of 2\\.9 MiB"),
      (body.framed(.chunked).truncated(at: .body(2048)), "the connection ended after [0-9.]+ (B|KiB)"),
      // The declared length is that of the compressed content.
      (
        body.gzipped().truncated(at: .body(1_000_000)),
        "(the connection ended after [0-9.]+ (B|KiB|MiB)|the response (cannot be unpacked|was interrupted): .*)"
      ),
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
      #expect(failure?.code == (number < 4 ? FetchError.Code.unreachable : .tooLarge) && failure?.status == 200)
    }
  }
}
