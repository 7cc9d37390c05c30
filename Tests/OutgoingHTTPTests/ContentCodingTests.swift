import FaultServer
import Foundation
import OutgoingHTTP
import Testing

@Suite("The content coding of a response") struct ContentCodingTests {
  private static let text = Data("<rss>\(String(repeating: "news ", count: 100))</rss>".utf8)

  /// The compressed data without header and checksum: gzip has 10 bytes before it and 8 behind.
  private static func raw(_ data: Data) -> Data {
    Data(FaultResponse(body: data).gzipped().body.dropFirst(10).dropLast(8))
  }

  /// The format of zlib (RFC 1950).
  private static func zlib(_ data: Data) -> Data {
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in data {
      a = (a + UInt32(byte)) % 65_521
      b = (b + a) % 65_521
    }
    return Data([0x78, 0x9C]) + raw(data) + withUnsafeBytes(of: (b << 16 | a).bigEndian) { Data($0) }
  }

  private static func gzip(_ data: Data) -> Data { FaultResponse(body: data).gzipped().body }

  private static func body(
    _ body: Data, coding: String?, _ limits: OutgoingLimits = OutgoingLimits()
  ) async throws -> Data {
    let headers = coding.map { [(name: "Content-Encoding", value: $0)] } ?? []
    return try await FaultServer.with({ _ in FaultResponse(headers: headers, body: body) }) { server in
      try await OutgoingClientTests.withClient(limits) { client in
        let url = try OutgoingURL("http://feeds.example:\(server.port)/")
        return Data(try await client.send(OutgoingRequest(url: url)).body)
      }
    }
  }

  @Test("is what the first bytes say, whatever its name is")
  func names() async throws {
    let text = Self.text
    let bodies: [(Data, [String?])] = [
      (text, ["gzip", "deflate", "x-gzip", "utf-8", "UTF-8", "none", "identity", "br", "gzip, identity", "", nil]),
      (Self.gzip(text), ["gzip", "deflate", "utf-8", "none", "br", "gzip, identity", "identity", nil]),
      (Self.zlib(text), ["deflate", "gzip", "Deflate", "zlib", "x-deflate", "utf-8", "none", "br", nil]),
      (Self.gzip(Self.zlib(text)), ["deflate, gzip", nil]), (Data("x\u{5E}".utf8) + text, ["utf-8", nil]),
      (Self.raw(text), ["deflate", "gzip"]),
      (Self.gzip(Self.gzip(text)), ["gzip", "gzip, gzip", nil]), (Self.gzip(text) + Data("trailing".utf8), ["gzip"]),
      (Self.gzip(Data(text.prefix(100))) + Self.gzip(Data(text.dropFirst(100))), ["gzip"]),
    ]
    for (body, codings) in bodies {
      for coding in codings {
        let decoded = try await Self.body(body, coding: coding)
        let expected = body.starts(with: Array("x^".utf8)) ? body : text
        #expect(decoded == expected, "\(coding ?? "no coding")")
      }
    }
    // Beginnings of texts, which belong to no coding.
    let starts: [[UInt8]] = [
      [0xEF, 0xBB, 0xBF], [0xFE, 0xFF, 0, 0x3C], [0xFF, 0xFE, 0x3C, 0], Array("\r\n\t {}".utf8), Array("[]".utf8),
      Array("  ".utf8), [0, 0x3C],
    ]
    for start in starts {
      #expect(try await Self.body(Data(start), coding: "br") == Data(start))
    }
    let binary = Data([0xFF, 0xD8, 0xFF, 0xE0])
    #expect(try await Self.body(binary, coding: "utf-8") == binary)
    #expect(try await Self.body(Data(), coding: "gzip") == Data())
  }

  @Test("is an error if the body is cut off, damaged or in a coding that was not accepted")
  func damaged() async throws {
    let gzip = Self.gzip(Self.text)
    let bodies: [(Data, String)] = [
      (gzip.dropLast(10), "gzip"), (gzip.dropLast(10), "none"), (Data([0xFF, 0xFF, 0xFF]), "deflate"),
      (Data([0x28, 0xB5, 0x2F, 0xFD, 0]), "zstd"),
    ]
    for (body, coding) in bodies {
      await #expect(throws: OutgoingError.self, "\(coding)") { try await Self.body(Data(body), coding: coding) }
    }
  }

  @Test("does not expand a body beyond a size, nor beyond a ratio, in several layers either")
  func bounds() async throws {
    let bomb = Self.gzip(Data(count: 8 << 20))
    for body in [bomb, Self.gzip(bomb), Self.zlib(Data(count: 8 << 20)), Self.raw(Data(count: 8 << 20))] {
      let error = await #expect(throws: OutgoingError.self) { try await Self.body(body, coding: "deflate") }
      #expect(error?.description.contains("one part in 200") == true)
    }
    var limits = OutgoingLimits()
    limits.bodyBytes = 1 << 16
    let random = Data((0..<1 << 16).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
    #expect(try await Self.body(Self.gzip(random), coding: nil, limits) == random)
    await #expect(throws: OutgoingError.tooLarge("the response of feeds.example has more than 65536 bytes")) {
      try await Self.body(Self.gzip(random + Data([1])), coding: nil, limits)
    }
    // A small body may expand as it likes.
    #expect(try await Self.body(Self.gzip(Data(count: 1 << 20)), coding: "gzip").count == 1 << 20)
    await #expect(throws: OutgoingError.self) {
      try await Self.body(Self.gzip(Data(count: 1 << 20 + 1)), coding: "gzip")
    }
    // Three layers are decoded, and a fourth one stays.
    let layers = Self.gzip(Self.gzip(Self.gzip(Self.text)))
    #expect(try await Self.body(layers, coding: nil) == Self.text)
    #expect(try await Self.body(Self.gzip(layers), coding: nil) == Self.gzip(Self.text))
    // A larger body may become a hundred times as large.
    let large = Data((0..<20_000).map { _ in UInt8.random(in: 0...255) }) + Data(count: 2 << 20)
    #expect(try await Self.body(Self.gzip(large), coding: "gzip") == large)
  }
}
