import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

/// Rate limits of a server whose clients connect through a proxy on loopback.
@Suite struct RateLimitTests {
  /// Runs the body with a server whose limits are so low that no bucket refills during a test.
  private static func server<Value: Sendable>(
    _ requests: Int, perKey: Int? = nil, trusting networks: [String] = ["127.0.0.0/8"],
    _ body: @Sendable (TestServer) async throws -> Value
  ) async throws -> Value {
    let proxies = TrustedProxies(networks.compactMap { IPNetwork($0) })
    return try await TestServer.with(
      settings: {
        $0.trustedProxies = proxies
        $0.requestsPerAddress = requests
        $0.requestsPerKey = perKey
      }, body)
  }

  private static func requests(_ client: String, _ targets: [String], tag: String? = nil) -> Data {
    let tag = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
    return Data(
      targets.map { "GET \($0) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\n\(tag)\r\n" }.joined().utf8)
  }

  @Test("A client that exceeds the limit gets a retry time, and other clients are served")
  func refusal() async throws {
    try await Self.server(3) { server in
      let from: @Sendable (String) async throws -> TestResponse = { client in
        try await server.get("/v1/items", ("X-Forwarded-For", client))
      }
      for _ in 0..<3 { #expect(try await from("198.51.100.1").status == 200) }
      let refused = try await from("198.51.100.1")
      #expect(refused.status == 429)
      #expect(1...30 ~= Int(try #require(refused["Retry-After"])) ?? 0)
      #expect(refused["Cache-Control"] == "no-store")
      #expect(refused["Access-Control-Allow-Origin"] == "*")
      #expect(try refused.json(Problem.self, status: 429).type == "/problems/too-many-requests")
      #expect(try await server.send("HEAD", "/v1/items", headers: [("X-Forwarded-For", "198.51.100.1")]).status == 429)
      #expect(try await from("198.51.100.2").status == 200)
      let scrape = try await server.scrape()
      #expect(scrape.value("tidings_http_limited_requests_total", ["by": "address"]) == 2)
    }
  }

  @Test("All IPv6 addresses of one subscriber count as one client")
  func subscribers() async throws {
    try await Self.server(2) { server in
      for (client, status) in [
        ("2001:db8:0:1::1", 200), ("2001:db8:0:1:ffff::2", 200), ("2001:db8:0:1::3", 429), ("2001:db8:0:2::1", 200),
        // Subnet 0, whose groups may be omitted.
        ("2001:db8:1::5", 200), ("2001:db8:1::a:b:c", 200), ("2001:0db8:1:0:ffff::", 429), ("2001:DB8:1::", 429),
        ("2001:db8:1:1::5", 200), ("2001:db8::5", 200), ("2001:db8:0:0:1:0:0:5", 200), ("2001:db8::1:0:0:5", 429),
      ] {
        let response = try await server.get("/v1/state", ("X-Forwarded-For", client))
        #expect(response.status == status, "\(client)")
      }
    }
  }

  @Test("Responses from memory and from the router count equally, and those without news count a tenth")
  func prices() async throws {
    try await Self.server(20) { server in
      let tag = try #require(try await server.get("/v1/items")["ETag"])
      let bytes = Self.requests("198.51.100.1", Array(repeating: "/v1/items", count: 250), tag: tag)
      let statuses = try await RawConnection.exchange([bytes], port: server.port, endsInput: false).map(\.status)
      #expect(statuses.dropLast() == Array(repeating: 304, count: statuses.count - 1)[...])
      #expect(statuses.last == 429)
      // Pending requests count in full until their status is known.
      #expect(190...201 ~= statuses.count)
      #expect(try await server.scrape().value("tidings_http_hot_requests_total") > 100)

      let whole = Self.requests("198.51.100.2", Array(repeating: "/v1/items", count: 30))
      let responses = try await RawConnection.exchange([whole], port: server.port, endsInput: false).map(\.status)
      #expect(responses == Array(repeating: 200, count: 20) + [429])
    }
  }

  @Test("A refusal follows the responses to earlier requests and ends the connection")
  func order() async throws {
    try await Self.server(3) { server in
      // A search is not answered from memory.
      let targets = ["/v1/items?q=a", "/v1/items", "/v1/items?limit=7", "/v1/items", "/v1/state"]
      let responses = try await RawConnection.exchange(
        [Self.requests("198.51.100.1", targets)], port: server.port, endsInput: false)
      #expect(responses.map(\.status) == [200, 200, 200, 429])
      #expect(responses.last?["Connection"] == "close")
    }
  }

  @Test("A long poll or an event stream counts once, regardless of its duration")
  func waiting() async throws {
    try await Self.server(3) { server in
      let token = try await server.get("/v1/state").json(FeedState.self).feed.description
      let client = ("X-Forwarded-For", "198.51.100.1")
      let poll = Task { try await server.get("/v1/changes?wait=50&since=\(token)", client) }
      let stream = Task { try await server.get("/v1/changes?wait=50&since=\(token)&limit=3", client) }
      let third = Task { try await server.get("/v1/changes?wait=50&since=\(token)&limit=4", client) }
      while try await server.scrape().value("tidings_waiting_requests") < 3 {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(try await server.get("/v1/changes?wait=50&since=\(token)", client).status == 429)
      #expect(try await server.get("/v1/events", client).status == 429)
      _ = try await server.publish("x")
      for task in [poll, stream, third] { #expect(try await task.value.status == 200) }
    }
  }

  @Test("Probes and metrics are never refused")
  func exempt() async throws {
    try await Self.server(1) { server in
      let client = ("X-Forwarded-For", "198.51.100.1")
      for _ in 0..<5 {
        for path in ["/healthz", "/readyz", "/metrics"] {
          let status = try await server.get(path, client).status
          #expect(status == 200)
        }
      }
      #expect(try await server.get("/v1/items", client).status == 200)
      #expect(try await server.get("/v1/items", client).status == 429)
      #expect(try await server.get("/healthz", client).status == 200)
    }
  }

  @Test("A path that only begins like a probe's is limited")
  func exactPaths() async throws {
    try await Self.server(1) { server in
      for (number, path) in ["/metricsX", "/healthz/", "/readyz2?a", "/metrics%20"].enumerated() {
        let bytes = Self.requests("198.51.100.\(number)", [path, path])
        let statuses = try await RawConnection.exchange([bytes], port: server.port, endsInput: false).map(\.status)
        #expect(statuses == [404, 429], "\(path)")
      }
    }
  }

  @Test("A proxy that does not forward addresses is not treated as one client")
  func proxyWithoutField() async throws {
    try await Self.server(1) { server in
      for _ in 0..<5 {
        let silent = try await server.get("/v1/items").status
        let unknown = try await server.get("/v1/items", ("X-Forwarded-For", "unknown")).status
        #expect(silent == 200 && unknown == 200)
      }
    }
  }

  @Test("Without configured proxies, private addresses are not limited; with them, other private addresses are")
  func unknownProxy() async throws {
    try await Self.server(1, trusting: []) { server in
      for _ in 0..<5 {
        let status = try await server.get("/v1/items", ("X-Forwarded-For", "198.51.100.1")).status
        #expect(status == 200)
      }
    }
    try await Self.server(2, trusting: ["192.0.2.0/24"]) { server in
      // The clients' own statements are ignored.
      for (number, status) in [(1, 200), (2, 200), (3, 429)] {
        let response = try await server.get("/v1/items", ("X-Forwarded-For", "198.51.100.\(number)"))
        #expect(response.status == status)
      }
    }
  }

  @Test("Requests with a key also count a tenth if there is no news")
  func keyWithNothingNew() async throws {
    try await Self.server(1000, perKey: 3) { server in
      let item = try await server.publish("one").item.id
      let path = "/v1/editorial/items/\(item)"
      let tag = try #require(try await server.send("GET", path, key: server.key)["ETag"])
      for _ in 0..<9 {
        let response = try await server.send("GET", path, key: server.key, headers: [("If-None-Match", tag)])
        #expect(response.status == 304)
      }
      #expect(try await server.write("GET", "items").status == 200)
      #expect(try await server.write("GET", "items").status == 429)
    }
  }

  @Test("Each key has a limit of its own, which other keys cannot exhaust")
  func keys() async throws {
    try await Self.server(1000, perKey: 3) { server in
      let id = server.key.split(separator: "_")[1]
      for _ in 0..<5 {
        let forged = try await server.send("GET", "/v1/editorial/items", key: "tdk_\(id)_forged")
        #expect(forged.status == 401)
      }
      for _ in 0..<3 { #expect(try await server.write("GET", "items").status == 200) }
      let refused = try await server.write("GET", "items")
      #expect(refused.status == 429)
      #expect(refused["Cache-Control"] == "no-store")
      let other = try await server.store.createKey(name: "other", permissions: [.itemsPublish])
      #expect(try await server.send("GET", "/v1/editorial/items", key: other).status == 200)
      #expect(try await server.scrape().value("tidings_http_limited_requests_total", ["by": "key"]) == 1)
    }
  }
}
