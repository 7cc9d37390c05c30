import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Behaviour that is the same through every proxy, with and without a cache.
@Suite struct ProxyTests {
  @Test("Entity tags pass unchanged for plain and compressed responses, and result in a 304", arguments: Edge.installed)
  func tags(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish(String(repeating: "word ", count: 500))
      for coding in ["identity", "gzip", "gzip, deflate, br", "br, gzip;q=0.5", "gzip;q=0", "deflate"] {
        let answer = try await setting.get("/v1/items", ("Accept-Encoding", coding))
        let direct = try await setting.server.client.send("GET", "/v1/items", headers: [("Accept-Encoding", coding)])
        let tag = try #require(answer["ETag"])
        #expect(tag == direct["ETag"])
        #expect(answer["Vary"] == "Accept-Encoding")
        #expect(answer["Content-Encoding"] == direct["Content-Encoding"], "\(coding)")
        #expect((answer["Content-Encoding"] == "gzip") == (coding.contains("gzip") && coding != "gzip;q=0"))
        for list in [tag, "W/\(tag)", #""other", \#(tag)"#] {
          let again = try await setting.get("/v1/items", ("Accept-Encoding", coding), ("If-None-Match", list))
          #expect(again.status == 304, "\(list)")
          #expect(again["ETag"] == tag)
          #expect(again.body.isEmpty)
        }
      }
    }
  }

  @Test("A stored list is updated when it gets a next page", arguments: Edge.installed)
  func nextPage(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      for _ in 0..<20 { _ = try await setting.publish("new") }
      let target = "/v1/items?limit=20"
      let before = try await setting.get(target)
      #expect(before["Link"] == nil)
      let older = try await setting.proxy.send(
        "POST", "/v1/editorial/items", key: setting.key, body: #"{"date": "2025-01-01T00:00:00Z", "text": "old"}"#)
      #expect(older.status == 201)
      try await eventually("the link is there") { try await setting.get(target).next != nil }
      let next = try #require(try await setting.get(target).next)
      #expect(try await setting.texts(next) == ["old"])
    }
  }

  @Test("Both validators of a response result in a 304, another tag in a 200", arguments: Edge.installed)
  func bothValidators(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let id = try await setting.publish("one")
      // The response contains `Last-Modified` only once that second has passed; nginx would keep serving an earlier
      // copy without it.
      try await eventually("there is a date") {
        try await setting.server.send("GET", "/v1/items/" + id)["Last-Modified"] != nil
      }
      let answer = try await setting.get("/v1/items/" + id)
      let (tag, date) = (try #require(answer["ETag"]), try #require(answer["Last-Modified"]))
      let again = try await setting.get("/v1/items/" + id, ("If-None-Match", tag), ("If-Modified-Since", date))
      #expect(again.status == 304)
      let other = try await setting.get("/v1/items/" + id, ("If-None-Match", #""x""#), ("If-Modified-Since", date))
      #expect(other.status == 200)
    }
  }

  @Test("HEAD returns the header of GET, and a range of a list is ignored", arguments: Edge.installed)
  func head(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish(String(repeating: "word ", count: 500))
      for target in ["/v1/items", "/v1/changes", "/v1/state", "/v1/topics"] {
        let answer = try await setting.get(target)
        let head = try await setting.proxy.send("HEAD", target)
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        for name in ["ETag", "Cache-Control", "Content-Type", "Vary"] { #expect(head[name] == answer[name], "\(name)") }
        let part = try await setting.get(target, ("Range", "bytes=0-9"))
        #expect((part.status, part.body) == (200, answer.body))
      }
    }
  }

  @Test("A client with the current token gets a 304, and then the change", arguments: Edge.installed)
  func changes(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let token = try await setting.token()
      let target = "/v1/changes?since=\(token)"
      let none = try await setting.get(target)
      #expect(try none.json(ChangeList.self).changes.isEmpty)
      #expect(none["ETag"] == "\"\(token)\"")
      #expect(try await setting.get(target, ("If-None-Match", "\"\(token)\"")).status == 304)
      _ = try await setting.publish("two")
      try await eventually("there is something new") {
        try await setting.get(target, ("If-None-Match", "\"\(token)\"")).status == 200
      }
      #expect(try await setting.get(target).json(ChangeList.self).changes.count == 1)
    }
  }

  @Test("A request with `at` gets no older response", arguments: Edge.installed)
  func at(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      for number in 1...10 {
        _ = try await setting.get("/v1/items")
        _ = try await setting.publish("item \(number)")
        let texts = try await setting.texts("/v1/items?at=\(try await setting.token())")
        #expect(texts.contains("item \(number)"))
      }
    }
  }

  @Test("Uncached requests reuse connections, so that they are answered from memory", .enabled(if: Proxy.isInstalled))
  func keptConnections() async throws {
    try await EdgeSetting.with(.nginxWithoutCache) { setting in
      _ = try await setting.publish("one")
      for _ in 0..<10 { _ = try await setting.get("/v1/items") }
      let metrics = try await setting.server.send("GET", "/metrics").text
      let hot = metrics.split(separator: "\n").first { $0.hasPrefix("tidings_http_hot_requests_total ") }
      // A request that closes its connection goes to the router.
      #expect(Double(hot?.split(separator: " ").last ?? "") ?? 0 >= 8)
    }
  }

  @Test("Long polls and event streams are answered at once and not cached", arguments: Edge.installed)
  func liveChannels(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let token = try await setting.token()
      var source = try await EventSource(setting.proxy.url, "?since=\(token)")
      for text in ["two", "three"] {
        let current = try await setting.token()
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

  @Test("`If-None-Match: *` results in a 304, whether the response is stored or not", arguments: Edge.installed)
  func anyTag(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      for _ in 0..<2 {
        let answer = try await setting.get("/v1/items", ("If-None-Match", "*"))
        #expect((answer.status, answer.body.count) == (304, 0))
      }
      #expect(try await setting.get("/v1/items").status == 200)
      #expect(try await setting.get("/v1/items", ("If-None-Match", "*")).status == 304)
    }
  }

  @Test("Only the paths for operators are blocked, not paths with the same prefix", arguments: Edge.installed)
  func nearlyMetrics(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let direct = try await setting.server.send("GET", "/metricsX").json(Problem.self, status: 404)
      let passed = try await setting.get("/metricsX")
      #expect(try passed.json(Problem.self, status: 404) == direct)
      // Only the server sets `X-Request-Id`.
      #expect(passed["X-Request-Id"] != nil)
      let hidden = try #require(try await setting.undeclared("/metrics"))
      #expect((hidden.status, hidden["X-Request-Id"]) == (404, nil))
    }
  }

  @Test("No spelling of a target reaches what a proxy blocks", arguments: Edge.installed)
  func spellings(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let paths = [
        "/metrics", "/metrics?", "/metrics?x=1", "/metrics/", "//metrics", "/./metrics", "/x/../metrics", "/%6Detrics",
        "/%6detrics", "/metrics%3F", "/metrics%00", "/metrics;x", "/METRICS", "/%2Fmetrics", "\\metrics",
      ]
      let origins = [
        "", "http://x", "https://x", "HTTPS://x:1", "Http://u@x", "https://x/", "https://", "ftp://x", "x:/",
      ]
      let others = [
        "metrics", "*", "https:/metrics", "https://x https://x/metrics", "https://xhttps://x/metrics",
        "https://x?/../metrics", "http://xhttp://x/metrics", "x?y://z/metrics",
      ]
      for target in origins.flatMap({ origin in paths.map { origin + $0 } }) + others {
        let request = Data("GET \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
        // A proxy may close the connection of a malformed request without a response.
        let bytes = try await RawConnection.bytes([request], port: setting.port, endsInput: false)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("tidings_http_requests_total"), "\(target)")
      }
      // The same spelling of a read is served, and a cookie or a key reaches no other route than in origin form.
      for origin in ["http://x", "https://x", "HTTPS://x:1"] {
        #expect(try await setting.undeclared(origin + "/v1/items")?.status == 200)
        #expect(try await setting.undeclared(origin + "/healthz")?.status == 200)
        #expect(try await setting.undeclared(origin + "/v1/editorial/items")?.status == 401)
      }
    }
  }

  @Test("Metrics are blocked, and editors' requests pass with their key", arguments: Edge.installed)
  func operators(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      #expect(try await setting.undeclared("/metrics")?.status == 404)
      #expect(try await setting.get("/v1/editorial/items").status == 401)
      #expect(try await setting.proxy.send("GET", "/v1/editorial/items", key: setting.key).status == 200)
      #expect(try await setting.get("/healthz").status == 200)
      #expect(try await setting.get("/readyz").status == 200)
      // A key has no effect on public responses.
      let one = try await setting.get("/v1/items")
      #expect(try await setting.proxy.send("GET", "/v1/items", key: setting.key)["ETag"] == one["ETag"])
    }
  }
}
