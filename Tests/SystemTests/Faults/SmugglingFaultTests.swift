import Foundation
import TestSupport
import Testing

extension FaultTests {
  /// Requests whose end is ambiguous: two parsers may disagree, and one of them would find another request after it.
  private static func ambiguous(hiding hidden: String) -> [String: String] {
    let start = "POST /v1/items HTTP/1.1\r\nHost: localhost\r\n"
    let chunks = "0\r\n\r\n" + hidden
    let length = "Content-Length: \(chunks.utf8.count)\r\n"
    let chunked = "Transfer-Encoding: chunked\r\n"
    return [
      "both lengths": start + length + chunked + "\r\n" + chunks,
      "both lengths, the other way": start + chunked + length + "\r\n" + chunks,
      "a coding that is none": start + length + "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
      "a coding in quotes": start + length + "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunks,
      "a space before the colon": start + length + "Transfer-Encoding : chunked\r\n\r\n" + chunks,
      "a folded line": start + length + "Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks,
      "a vertical tab": start + length + "Transfer-Encoding: \u{0B}chunked\r\n\r\n" + chunks,
      "a bare line feed": start + length + "X: y\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
      "a bare carriage return": start + length + "X: y\rTransfer-Encoding: chunked\r\n\r\n" + chunks,
      "a zero byte": start + length + "X: y\0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
      "chunked is not the last": start + length + "Transfer-Encoding: chunked, identity\r\n\r\n" + chunks,
      "chunked twice": start + length + chunked + "Transfer-Encoding: identity\r\n\r\n" + chunks,
      "two lengths": start + "Content-Length: 5\r\n" + length + "\r\n" + chunks,
      "two lengths in one": start + "Content-Length: 5, \(chunks.utf8.count)\r\n\r\n" + chunks,
      "a length with a sign": start + "Content-Length: +5\r\n\r\n" + chunks,
      "a length below zero": start + "Content-Length: -1\r\n\r\n" + hidden,
      "a length in hexadecimal": start + "Content-Length: 0x5\r\n\r\n" + chunks,
      "a chunk's size that overflows": start + chunked + "\r\n10000000000000000\r\n\r\n" + chunks,
      "a chunk's size with a sign": start + chunked + "\r\n-0\r\n\r\n" + hidden,
      "a chunk that is too long": start + chunked + "\r\n1\r\nab\r\n" + chunks,
    ]
  }

  /// Requests that contain a request in their body.
  private static func clear(hiding hidden: String) -> [String: String] {
    let start = "GET /v1/items HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(hidden.utf8.count)\r\n"
    return [
      "a body of a read": start + "\r\n" + hidden,
      "another protocol": start + "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + hidden,
    ]
  }

  @Test("A request that is hidden in another one is not executed", .enabled(if: Proxy.isInstalled))
  func smuggling() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        try await Proxy.with(try await Proxy(servers: [server.port], isCounted: true)) { proxy in
          let id = UUID()
          let published = try await server.send(
            "POST", "/v1/editorial/items", key: key,
            body: #"{"id": "\#(id)", "date": "2026-01-01T00:00:00Z", "text": "stays"}"#)
          try #require(published.status == 201)
          let path = "/v1/editorial/items/\(id.uuidString.lowercased())"
          let hidden =
            "DELETE \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\nIf-Match: \"r1\"\r\n\r\n"
          let (clear, ambiguous) = (Self.clear(hiding: hidden), Self.ambiguous(hiding: hidden))
          for (name, request) in clear.merging(ambiguous, uniquingKeysWith: { $1 }) {
            for port in [server.port, proxy.port] {
              let answer = String(
                decoding: (try? await RawConnection.bytes([Data(request.utf8)], port: port)) ?? Data(), as: UTF8.self)
              #expect(!answer.hasPrefix("HTTP/1.1 2") || clear[name] != nil, "\(name): \(answer)")
              try #require(try await server.status("/v1/items/\(id.uuidString.lowercased())") == 200, "\(name)")
            }
          }
          // The hidden request is valid: sent openly, it succeeds.
          #expect(try await RawConnection.exchange(hidden, port: server.port).map(\.status) == [204])
          #expect(!(try proxy.requests.contains { $0.target == path }))
          Self.report(
            "\(clear.count + ambiguous.count) ways to hide a request in another one, through nginx and directly",
            promised: "what is hidden is not carried out", seen: "none was")
        }
      }
    }
  }
}
