import HTTPEdge
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestKit
import Testing

@Suite("Requests that are recognised before the decoder") struct RequestGrammarTests {
  static let samples = [
    "GET /v1/items HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
    "GET /v1/items?limit=20&topics=a,b HTTP/1.1\r\nHost: news.example\r\nUser-Agent: News/1.0 (x; y)\r\n"
      + "Accept: */*\r\nAccept-Encoding: gzip, deflate\r\nIf-None-Match: \"a,b\", W/\"c\"\r\n\r\n",
    "GET /v1/changes?since=a HTTP/1.1\r\nhost:127.0.0.1\r\nX-Forwarded-For: 192.0.2.1, 10.0.0.1\r\n"
      + "X-Forwarded-For: 10.0.0.2 \r\nAccept-Encoding: br  \r\nConnection: Keep-Alive\r\nIF-MODIFIED-SINCE:   x y\r\nCookie: a=b\r\nEmpty:\r\n\r\n",
    "HEAD /stored HTTP/1.1\r\nHost: a\r\n\r\n",
  ]

  private static let pieces = [
    " ", "  ", "\t", "\r", "\n", "\r\n", "\r\n\r\n", ":", ": ", "\0", "\u{7F}", "é", "#", "?", "/", ",", "\"",
    " \r\n x",
    "GET ", "HTTP/1.1", "HTTP/1.0", "http://a", "Host: b\r\n", "Host:\r\n", "Host: [::1]:80\r\n", "Host: a b\r\n",
    "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Upgrade: h2c\r\n",
    "Connection: close\r\n", "Connection: keep-alive, x\r\n", "Proxy-Connection: close\r\n", "Expect: 100-continue\r\n",
    "If-None-Match: \"x\"\r\n", "If-None-Match : \"x\"\r\n", "If-Match: *\r\n", "Accept-Encoding: br\r\n",
    "Content\u{2D}Length : 3\r\n", " folded\r\n", "X: y\r\n", "X\r\n",
  ]

  /// Changes a request at random, more or less.
  static func mutated(_ random: inout SplitMix64) -> [UInt8] {
    var bytes = Array((samples.randomElement(using: &random) ?? "").utf8)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: place)
      case 1:
        // A whole line, in a place where a line begins.
        let lines = bytes.indices.filter { $0 > 1 && bytes[$0 - 2] == 13 && bytes[$0 - 1] == 10 }
        let line = (pieces.filter { $0.hasSuffix("\r\n") }.randomElement(using: &random) ?? "").utf8
        bytes.insert(contentsOf: line, at: lines.randomElement(using: &random) ?? 0)
      case 2 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &random)
      case 3 where place < bytes.count:
        bytes.removeSubrange(place..<min(bytes.count, place + .random(in: 1...4, using: &random)))
      default: break
      }
    }
    return bytes
  }

  private static func match(_ bytes: some Collection<UInt8>) -> RequestGrammar.Match {
    Array(bytes).withUnsafeBytes { RequestGrammar.match($0, forwardingField: "x-forwarded-for") }
  }

  /// Decodes bytes that must be whole messages.
  private static func decoded(_ bytes: [UInt8]) throws -> [HTTPServerRequestPart] {
    let channel = EmbeddedChannel(handler: ByteToMessageHandler(HTTPRequestDecoder()))
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    var parts: [HTTPServerRequestPart] = []
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) { parts.append(part) }
    return parts
  }

  @Test("The decoder reads the same request, and begins the next one after it", arguments: 0..<4)
  func sameAsDecoder(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var (recognized, plain) = (0, 0)
    for _ in 0..<rounds(20_000) {
      let bytes = Self.mutated(&random)
      guard case .request(let request) = Self.match(bytes) else { continue }
      recognized += 1
      let next = Array("GET /next HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
      let parts = try Self.decoded(bytes.prefix(request.length) + next)
      let text = String(decoding: bytes, as: UTF8.self)
      guard parts.count == 4, case .head(let head) = parts[0], case .end(nil) = parts[1],
        case .head(let second) = parts[2], case .end(nil) = parts[3]
      else {
        Issue.record("the decoder reads something else: \(text.debugDescription)")
        continue
      }
      #expect(second.uri == "/next")
      #expect(head.isKeepAlive && head.version == .http1_1)
      #expect(request.forwarded == head.headers["x-forwarded-for"])
      guard let found = request.plain else { continue }
      plain += 1
      #expect(PlainRequest(head) == found, "\(text.debugDescription)")
      #expect(head.refusal == nil)
    }
    #expect(recognized > rounds(3000) && plain > rounds(2000))
  }

  @Test("A request that is cut anywhere is incomplete, and what follows it does not matter")
  func cut() {
    for sample in Self.samples {
      let bytes = Array(sample.utf8)
      for length in 0..<bytes.count {
        guard case .incomplete = Self.match(bytes.prefix(length)) else {
          Issue.record("\(length) bytes of \(sample.debugDescription)")
          continue
        }
      }
      for rest in ["", "G", "\0", "\r\n", sample] {
        guard case .request(let request) = Self.match(bytes + rest.utf8) else {
          Issue.record("\(sample.debugDescription)")
          continue
        }
        #expect(request.length == bytes.count)
      }
    }
  }

  @Test("A request of more than the maximum length is left to the decoder, and so is one that cannot become shorter")
  func length() {
    let start = "GET / HTTP/1.1\r\nHost: a\r\nX: "
    let most = start + String(repeating: "x", count: RequestGrammar.maximumLength - start.utf8.count - 4) + "\r\n\r\n"
    guard case .request = Self.match(most.utf8) else {
      Issue.record("the longest request")
      return
    }
    let longer = most.replacing("X: x", with: "X: xx")
    for bytes in [Array(longer.utf8), Array(longer.utf8).dropLast(1), Array(longer.utf8) + Array(most.utf8)] {
      guard case .other = Self.match(bytes) else {
        Issue.record("\(bytes.count) bytes")
        continue
      }
    }
  }
}
