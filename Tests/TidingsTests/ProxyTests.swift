import TestTime
import Foundation
import News
import TestSupport
import Testing

/// A server behind nginx with the configuration that is delivered.
@Suite(.enabled(if: Proxy.isInstalled)) struct ProxyTests {
  private struct Setting: Sendable {
    let server: RunningServer
    let proxy: TestClient
    let key: String

    /// Through the proxy.
    func get(_ target: String, _ headers: (String, String)...) async throws -> TestResponse {
      try await proxy.send("GET", target, headers: headers)
    }

    func publish(_ text: String) async throws -> String {
      let answer = try await proxy.send(
        "POST", "/v1/editorial/items", key: key, body: #"{"date": "2026-01-01T00:00:00Z", "text": "\#(text)"}"#)
      return try answer.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
    }

    /// How many requests have reached the server for a route.
    func requests(_ route: String) async throws -> Int {
      let metrics = try await server.send("GET", "/metrics").text
      return metrics.split(separator: "\n").filter {
        $0.hasPrefix("tidings_http_requests_total{") && $0.contains("route=\"\(route)\"")
      }.compactMap { $0.split(separator: " ").last.flatMap { Int(Double($0) ?? 0) } }.reduce(0, +)
    }

    func token() async throws -> String { try #require(try await get("/v1/changes")["Sync-Token"]) }
  }

  private static func with(cache: Bool, _ body: @Sendable (Setting) async throws -> Void) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        let proxy = try await Proxy(servers: [server.port], cache: cache)
        do {
          try await body(Setting(server: server, proxy: proxy.client, key: key))
          await proxy.end()
        } catch {
          await proxy.end()
          throw error
        }
      }
    }
  }

  @Test("Tags pass unchanged, for plain and for compressed answers, and bring a 304", arguments: [true, false])
  func tags(cache: Bool) async throws {
    try await Self.with(cache: cache) { setting in
      _ = try await setting.publish(String(repeating: "word ", count: 500))
      for coding in ["identity", "gzip", "gzip, deflate, br"] {
        let answer = try await setting.get("/v1/items", ("Accept-Encoding", coding))
        let direct = try await setting.server.client.send("GET", "/v1/items", headers: [("Accept-Encoding", coding)])
        #expect(answer["ETag"] == direct["ETag"])
        #expect(answer["Content-Encoding"] == (coding == "identity" ? nil : "gzip"))
        let again = try await setting.get(
          "/v1/items", ("Accept-Encoding", coding), ("If-None-Match", try #require(answer["ETag"])))
        #expect(again.status == 304)
      }
    }
  }

  @Test("With a cache a herd is one request, and without each of them passes")
  func herd() async throws {
    for cache in [true, false] {
      try await Self.with(cache: cache) { setting in
        _ = try await setting.publish("one")
        let before = try await setting.requests("/v1/items")
        try await withThrowingTaskGroup { group in
          for _ in 0..<50 { group.addTask { try await setting.get("/v1/items").status } }
          for try await status in group { #expect(status == 200) }
        }
        let passed = try await setting.requests("/v1/items") - before
        // The second in which the answer is good may end meanwhile.
        #expect(cache ? 1...5 ~= passed : passed == 50)
      }
    }
  }

  @Test("Requests that pass share connections, so that they are answered from memory")
  func keptConnections() async throws {
    try await Self.with(cache: false) { setting in
      _ = try await setting.publish("one")
      for _ in 0..<10 { _ = try await setting.get("/v1/items") }
      let metrics = try await setting.server.send("GET", "/metrics").text
      let hot = metrics.split(separator: "\n").first { $0.hasPrefix("tidings_http_hot_requests_total ") }
      // One that closes its connection is for the router.
      #expect(Double(hot?.split(separator: " ").last ?? "") ?? 0 >= 8)
    }
  }

  @Test("What was stored gives way to what became of it", arguments: [true, false])
  func retraction(cache: Bool) async throws {
    try await Self.with(cache: cache) { setting in
      let id = try await setting.publish("one")
      for _ in 0..<3 { #expect(try await setting.get("/v1/items/" + id).status == 200) }
      let answer = try await setting.proxy.send("DELETE", "/v1/editorial/items/" + id, key: setting.key)
      #expect(answer.status == 204)
      try await eventually("it is gone") { try await setting.get("/v1/items/" + id).status == 410 }
    }
  }

  @Test("Who waits, or listens, is told at once, and nothing of it is stored", arguments: [true, false])
  func liveChannels(cache: Bool) async throws {
    try await Self.with(cache: cache) { setting in
      _ = try await setting.publish("one")
      let token = try await setting.token()
      var source = try await EventSource(setting.proxy.url, "?since=\(token)")
      for text in ["two", "three"] {
        let current = try await setting.server.send("GET", "/v1/changes").json(ChangeList.self).token
        async let waiting = setting.get("/v1/changes?wait=30&since=\(current)")
        try await eventually("it waits") {
          try await setting.server.send("GET", "/metrics").text.contains("tidings_waiting_requests 1\n")
        }
        let id = try await setting.publish(text)
        #expect(try await waiting.json(ChangeList.self).changes.count == 1)
        #expect(try await source.next()?.news().ids.first?.uuidString.lowercased() == id)
      }
    }
  }
}
