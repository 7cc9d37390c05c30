import Foundation
import HTTPEdge
import NIOCore
import News
import NewsAPI
import TestSupport
import Testing

/// Raw bytes on a socket and the responses. Each exchange must end; otherwise the socket times out.
@Suite struct HostileRequestTests {
  private struct Row: Sendable {
    var bytes: String
    var status: Int
    /// The last part of the problem's type.
    var problem: String?

    init(_ bytes: String, _ status: Int, _ problem: String? = nil) {
      self.bytes = bytes
      self.status = status
      self.problem = problem
    }
  }

  private static let host = "Host: localhost\r\n"
  private static let long = String(repeating: "x", count: 40_000)
  /// Combining marks out of their canonical order, which take quadratic time to compare.
  private static let marks = "e" + String(repeating: "\u{316}\u{301}", count: 3000)

  /// Requests that are refused whatever follows, because another server on the way might parse them differently.
  private static let malformed = [
    Row("GET /healthz HTTP/1.1\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\nHost: [::g]\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    // Targets (RFC 9112 section 3.2).
    Row("GET * HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET localhost:80 HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET healthz HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET ftp://localhost/healthz HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET http:///healthz HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET http://u@localhost/healthz HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET /healthz#top HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET /h\u{e9}althz HTTP/1.1\r\n\(host)\r\n", 400),
    Row("GET /healthz /readyz HTTP/1.1\r\n\(host)\r\n", 400),
    // Lines (RFC 9112 sections 2.2 and 5).
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Folded: a\r\n b\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Space : a\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n X-First: a\r\n\(host)\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host): a\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host)No colon\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Nul: a\u{0}b\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Return: a\rb\r\n\r\n", 400),
    Row("GET /healthz HTTP/1.1\r\n\(host)Expect: \(marks)\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: \(marks)\r\n\r\n", 400),
    Row("PUT /v1/devices/x HTTP/1.1\r\n\(host)Content-Type: \(marks)\r\nContent-Length: 2\r\n\r\n{}", 400),
    // The decoder treats the line end as a part of the version.
    Row("GET /healthz HTTP/1.1\n\(host)\n\n", 505, "version-not-supported"),
    Row("GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n", 400),
    // Framing (RFC 9112 section 6).
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 1, 1\r\n\r\na", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: +1\r\n\r\na", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 0x1\r\n\r\na", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Content-Length:\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: identity\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.0\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    Row("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "not-implemented"),
    // Methods and versions.
    Row("BREW /healthz HTTP/1.1\r\n\(host)\r\n", 501, "not-implemented"),
    Row("get /healthz HTTP/1.1\r\n\(host)\r\n", 501, "not-implemented"),
    Row("CONNECT localhost:443 HTTP/1.1\r\n\(host)\r\n", 501, "not-implemented"),
    Row("GET /healthz HTTP/2.0\r\n\(host)\r\n", 505, "version-not-supported"),
    Row("GET /healthz HTTP/0.9\r\n\(host)\r\n", 505, "version-not-supported"),
    Row("GET /healthz HTTP/1.9\r\n\(host)\r\n", 505, "version-not-supported"),
    Row("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    // Other refusals.
    Row("GET /healthz HTTP/1.1\r\n\(host)Expect: a cake\r\n\r\n", 417, "expectation-failed"),
    Row("GET /healthz HTTP/1.1\r\n\(host)Expect: 100-continue, a cake\r\n\r\n", 417, "expectation-failed"),
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Long: \(long)\r\n\r\n", 431, "headers-too-large"),
    Row("GET /\(long) HTTP/1.1\r\n\(host)\r\n", 431, "headers-too-large"),
    Row("GET / HTTP/1.1\r\n\(host)\(String(repeating: "a: b\r\n", count: 300))\r\n", 431, "headers-too-large"),
  ]

  @Test("A malformed request is refused with a problem, and the connection closes without a reset")
  func malformedRequests() async throws {
    try await TestServer.with { server in
      for row in Self.malformed {
        let place = row.bytes.prefix(100).debugDescription
        // A successful smuggling attempt would get a response to the request after it.
        let bytes = row.bytes + "GET /readyz HTTP/1.1\r\n\(Self.host)\r\n"
        let responses = try await RawConnection.exchange(bytes, port: server.port, endsInput: false)
        guard responses.map(\.status) == [row.status], let response = responses.first else {
          Issue.record("\(place): \(responses.map(\.status))")
          continue
        }
        try Contract.shared.get().check(refusal: response)
        #expect(response["Connection"] == "close")
        let type = try response.json(Problem.self, status: row.status).type
        #expect(type == "/problems/\(row.problem ?? "malformed-request")", "\(place)")
      }
    }
  }

  /// Ordinary requests, after whose responses the connection continues.
  private static let accepted = [
    Row("GET /healthz HTTP/1.1\r\n\(host)\r\n", 200),
    Row("\r\nGET /healthz HTTP/1.1\r\n\(host)\r\n", 200),
    Row("GET /healthz HTTP/1.1\r\nhOST:localhost:8080\r\n\r\n", 200),
    Row("GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200),
    Row("GET  /healthz HTTP/1.1\r\n\(host)\r\n", 200),
    Row("GET http://example.org/healthz HTTP/1.1\r\n\(host)\r\n", 200),
    Row("GET HTTPS://example.org:443/healthz HTTP/1.1\r\n\(host)\r\n", 200),
    // An empty path is `/`, the front page.
    Row("GET http://example.org HTTP/1.1\r\n\(host)\r\n", 200),
    Row("GET http://example.org?x=1 HTTP/1.1\r\n\(host)\r\n", 200),
    Row("OPTIONS * HTTP/1.1\r\n\(host)\r\n", 404, "not-found"),
    Row("OPTIONS /v1/items HTTP/1.1\r\n\(host)\r\n", 204),
    Row("TRACE /healthz HTTP/1.1\r\n\(host)\r\n", 405, "method-not-allowed"),
    Row("PROPFIND /v1/items HTTP/1.1\r\n\(host)\r\n", 405, "method-not-allowed"),
    Row("DELETE /v1/nothing HTTP/1.1\r\n\(host)\r\n", 404, "not-found"),
    Row("GET /healthz HTTP/1.1\r\n\(host)Connection: keep-alive, x\r\n\r\n", 200),
    Row("GET /healthz HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\nbody", 200),
    Row(
      "GET /healthz HTTP/1.1\r\n\(host)Transfer-Encoding: CHUNKED\r\n\r\n4;x=\"y\"\r\nbody\r\n0\r\nT: x\r\n\r\n", 200),
    Row("POST /v1/items HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\nbody", 405, "method-not-allowed"),
    Row("POST /v1/editorial/items HTTP/1.1\r\n\(host)Content-Length: 4\r\n\r\nbody", 401, "unauthorized"),
    Row("GET /healthz HTTP/1.1\r\n\(host)X-Bytes: \u{ff}\u{80}\r\n\r\n", 200),
    Row("GET /healthz HTTP/1.1\r\n\(host)Expect: 100-Continue\r\n\r\n", 200),
  ]

  @Test("Unusual valid requests are served, and so is the next request after them")
  func acceptedRequests() async throws {
    try await TestServer.with { server in
      for row in Self.accepted {
        let bytes = row.bytes + "GET /readyz HTTP/1.1\r\n\(Self.host)\r\n"
        let responses = try await RawConnection.exchange(bytes, port: server.port)
        #expect(responses.map(\.status) == [row.status, 200], "\(row.bytes.debugDescription)")
        if let type = row.problem, let response = responses.first {
          #expect(try response.json(Problem.self, status: row.status).type == "/problems/\(type)")
        }
      }
    }
  }

  @Test(
    "The connection closes after its last response",
    arguments: [
      ("HTTP/1.1", "Connection: close\r\n"), ("HTTP/1.1", "Connection: x, Close\r\n"),
      ("HTTP/1.1", "Connection: x\r\nConnection: close\r\n"), ("HTTP/1.1", "Connection: close, keep-alive\r\n"),
      ("HTTP/1.0", ""), ("HTTP/1.0", "Connection: keep-alive\r\n"), ("HTTP/1.0", "Expect: 100-continue\r\n"),
      ("HTTP/1.1", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
      ("HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
    ])
  func lastRequests(version: String, fields: String) async throws {
    try await TestServer.with { server in
      let request = "GET /healthz \(version)\r\n\(Self.host)\(fields)\r\nGET /readyz HTTP/1.1\r\n\(Self.host)\r\n"
      let responses = try await RawConnection.exchange(request, port: server.port, endsInput: false)
      #expect(responses.map(\.status) == [200])
      #expect(responses.first?["Connection"] == "close")
      #expect(responses.first?.text.contains("ok") == true)
    }
  }

  @Test("Only valid requests are served from memory")
  func improperReads() async throws {
    try await TestServer.with { server in
      let line = "GET /v1/items HTTP/1.1\r\n\(Self.host)"
      let proper = line + "X-Long: \(String(repeating: "x", count: 16_000))\r\n\r\n"
      for _ in 0..<2 { #expect(try await server.get("/v1/items").status == 200) }
      let before = try await server.scrape().value("tidings_http_hot_requests_total")
      #expect(try await RawConnection.exchange(proper, port: server.port).map(\.status) == [200])
      #expect(try await server.scrape().value("tidings_http_hot_requests_total") == before + 1)
      let twoHosts = line + Self.host + "\r\n"
      #expect(try await RawConnection.exchange(twoHosts, port: server.port, endsInput: false).map(\.status) == [400])
      let long = line + "X-Long: \(String(repeating: "x", count: 17_000))\r\n\r\n"
      #expect(try await RawConnection.exchange(long, port: server.port).map(\.status) == [431])
    }
  }

  @Test("A body may have up to 1 MiB, whether its length is declared or not")
  func maximumBody() async throws {
    try await TestServer.with { server in
      let head =
        "POST /v1/editorial/items HTTP/1.1\r\n\(Self.host)Authorization: Bearer \(server.key)\r\n"
        + "Content-Type: application/json\r\nConnection: close\r\n"
      for (length, status) in [(1 << 20, 422), (1 << 20 + 1, 413)] {
        let body = "{}" + String(repeating: " ", count: length - 2)
        let chunks = "\(String(length, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        for request in ["Content-Length: \(length)\r\n\r\n\(body)", "Transfer-Encoding: chunked\r\n\r\n\(chunks)"] {
          let responses = try await RawConnection.exchange(head + request, port: server.port, endsInput: false)
          #expect(responses.map(\.status) == [status], "\(length) \(request.prefix(20))")
        }
      }
    }
  }

  @Test("HTTP/1.0 requests need no Host")
  func oldVersion() async throws {
    try await TestServer.with { server in
      let responses = try await RawConnection.exchange(
        "GET /healthz HTTP/1.0\r\n\r\n", port: server.port, endsInput: false)
      #expect(responses.map(\.status) == [200])
    }
  }

  @Test("Pipelined requests are served in order, and a refusal among them comes last")
  func pipelining() async throws {
    try await TestServer.with { server in
      let paths = ["/healthz", "/v1/items", "/nothing", "/readyz", "/v1/topics"]
      let requests = paths.map { "GET \($0) HTTP/1.1\r\n\(Self.host)\r\n" }.joined()
      let responses = try await RawConnection.exchange(requests, port: server.port)
      #expect(responses.map(\.status) == [200, 200, 404, 200, 200])
      let refused = try await RawConnection.exchange(
        requests + "BREW / HTTP/1.1\r\n\r\n" + requests, port: server.port, endsInput: false)
      #expect(refused.map(\.status) == [200, 200, 404, 200, 200, 501])
    }
  }

  @Test("A client that expects 100 Continue receives it once its body is wanted, and not if the request is refused")
  func expectations() async throws {
    try await TestServer.with { server in
      let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
      func head(_ fields: String, length: Int = body.utf8.count) -> String {
        "POST /v1/editorial/items HTTP/1.1\r\n\(Self.host)Expect: 100-continue\r\nContent-Length: \(length)\r\n\(fields)\r\n"
      }
      let key = "Authorization: Bearer \(server.key)\r\n"
      let json = "Content-Type: application/json\r\n"
      let responses = try await RawConnection.exchange(
        [Data(head(key + json).utf8), Data(body.utf8)], port: server.port)
      #expect(responses.map(\.status) == [100, 201])
      // A client that sends its body at once needs no 100.
      let sent = try await RawConnection.exchange(head(key + json) + body, port: server.port)
      #expect(sent.map(\.status).last == 201)
      for (fields, status) in [(json, 401), (key, 415)] {
        let refused = try await RawConnection.exchange(head(fields), port: server.port, endsInput: false)
        #expect(refused.map(\.status) == [status])
        #expect(refused.first?["Connection"] == "close")
      }
      let large = try await RawConnection.exchange(
        head(key + json, length: 1 << 21), port: server.port, endsInput: false)
      #expect(large.map(\.status) == [413])
    }
  }

  @Test(
    "An unread or unreadable body ends the connection, and its sender still receives the response",
    arguments: ["", "key"])
  func unreadBodies(key: String) async throws {
    try await TestServer.with { server in
      let fields = key.isEmpty ? "" : "Authorization: Bearer \(server.key)\r\nContent-Type: application/json\r\n"
      let request = "POST /v1/editorial/items HTTP/1.1\r\n\(Self.host)\(fields)Content-Length: \(1 << 30)\r\n\r\n"
      let responses = try await RawConnection.exchange(
        request + String(repeating: "x", count: 3 << 20), port: server.port, endsInput: false)
      #expect(responses.map(\.status) == [key.isEmpty ? 401 : 413])
      #expect(responses.first?["Connection"] == "close")
      let broken = request.replacing("Content-Length: \(1 << 30)", with: "Transfer-Encoding: chunked") + "zz\r\n"
      let answersToBroken = try await RawConnection.exchange(
        broken + String(repeating: "x", count: 3 << 20), port: server.port, endsInput: false)
      #expect(answersToBroken.map(\.status) == [key.isEmpty ? 401 : 400])
    }
  }

  @Test("A client that continues to send after its last response is disconnected")
  func endlessBody() async throws {
    try await TestServer.with { server in
      let request = "POST /v1/items HTTP/1.1\r\n\(Self.host)Content-Length: \(1 << 30)\r\n\r\n"
      await #expect(throws: RawConnection.Failure.self) {
        try await RawConnection.exchange(
          [Data(request.utf8) + Data(count: 64 << 20)], port: server.port, endsInput: false)
      }
    }
  }

  @Test("A client that is too slow gets a 408, or is disconnected if it has sent no request")
  func slowClients() async throws {
    let body = "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{"
    try await Self.expect([], within: \.idleTimeout) { _ in "" }
    try await Self.expect([408], within: \.headerTimeout) { _ in "GET /healthz HTTP/1.1\r\n" }
    try await Self.expect([408], within: \.bodyIdleTimeout) { server in
      "POST /v1/editorial/items HTTP/1.1\r\n\(Self.host)Authorization: Bearer \(server.key)\r\n\(body)"
    }
  }

  private static func expect(
    _ statuses: [Int], within limit: WritableKeyPath<ConnectionLimits, TimeAmount>,
    after bytes: @escaping @Sendable (TestServer) -> String
  ) async throws {
    var limits = ConnectionLimits()
    limits[keyPath: limit] = .milliseconds(100)
    try await TestServer.with(limits: limits) { server in
      let responses = try await RawConnection.exchange(bytes(server), port: server.port, endsInput: false)
      #expect(responses.map(\.status) == statuses)
      try responses.forEach(Contract.shared.get().check(refusal:))
    }
  }

  @Test("A body with a content coding is refused instead of being read without decoding")
  func contentCodings() async throws {
    try await TestServer.with { server in
      let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
      let refused = try await server.write("POST", "items", body, ("Content-Encoding", "gzip"))
      #expect(try refused.json(Problem.self, status: 415).type == "/problems/unsupported-content-coding")
      #expect(refused["Accept-Encoding"] == "identity")
      #expect(try await server.write("POST", "items", body, ("Content-Encoding", "identity")).status == 201)
    }
  }

  @Test("Pages of other origins may read errors of the resources that they may read")
  func errorsAcrossOrigins() async throws {
    try await TestServer.with { server in
      let long = ("X-Long", String(repeating: "x", count: 17_000))
      for (method, target, status, isPublic) in [
        ("GET", "/v1/items", 431, true), ("GET", "/v1/editorial/items", 431, false), ("GET", "/healthz", 431, false),
      ] {
        let response = try await server.send(method, target, headers: [long])
        #expect(response.status == status)
        #expect((response["Access-Control-Allow-Origin"] == "*") == isPublic, "\(target)")
      }
      let method = try await server.send("DELETE", "/v1/items")
      #expect(method.status == 405)
      #expect(method["Access-Control-Allow-Origin"] == "*")
    }
  }
}
