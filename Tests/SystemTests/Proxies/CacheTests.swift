import Foundation
import News
import TestKit
import TestSupport
import Testing

/// The freshness of responses in a cache in front of the server.
@Suite struct CacheTests {
  @Test("1000 concurrent clients cause one request per second to the server", arguments: Edge.caches)
  func herd(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      // In the first round the cache is empty; in the second it revalidates a stored response.
      for _ in 1...2 {
        let before = try await setting.requests("/v1/items")
        let start = ContinuousClock.now
        try await withThrowingTaskGroup { group in
          for _ in 0..<1000 { group.addTask { try await setting.get("/v1/items").status } }
          for try await status in group { #expect(status == 200) }
        }
        let passed = try await setting.requests("/v1/items") - before
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(1...(seconds + 2) ~= passed, "\(passed) requests within \(seconds) s")
        try await Task.sleep(for: .seconds(3))
      }
    }
  }

  @Test("Without a cache, each request reaches the server", .enabled(if: Proxy.isInstalled))
  func noCache() async throws {
    try await EdgeSetting.with(.nginxWithoutCache) { setting in
      let before = try await setting.requests("/v1/items")
      try await withThrowingTaskGroup { group in
        for _ in 0..<50 { group.addTask { try await setting.get("/v1/items").status } }
        for try await status in group { #expect(status == 200) }
      }
      #expect(try await setting.requests("/v1/items") - before == 50)
    }
  }

  @Test("A stored response is revalidated with its entity tag and transferred once", arguments: Edge.caches)
  func revalidation(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let plain = [("Accept-Encoding", "identity")]
      let first = try await setting.proxy.send("GET", "/v1/items", headers: plain)
      // The second pause also exceeds `stale-while-revalidate`.
      for pause in [2, 12] {
        let before = try await setting.requests("/v1/items", status: 304)
        try await Task.sleep(for: .seconds(pause))
        let again = try await setting.proxy.send("GET", "/v1/items", headers: plain)
        #expect((again.status, again["ETag"]) == (200, first["ETag"]))
        try await eventually("the response is revalidated") {
          try await setting.requests("/v1/items", status: 304) == before + 1
        }
      }
      #expect(try await setting.requests("/v1/items", status: 200) == 1)
    }
  }

  @Test("No response is older than Cache-Control allows, while editors publish", arguments: Edge.caches)
  func bound(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      var acknowledged: [(text: String, time: ContinuousClock.Instant)] = []
      // The readers use various intervals.
      let intervals = [0, 100, 900, 1100, 2000, 100, 3000, 0, 4500, 100, 1000]
      for (number, pause) in (intervals + intervals).enumerated() {
        let text = "item \(number)"
        _ = try await setting.publish(text)
        acknowledged.append((text, .now))
        try await Task.sleep(for: .milliseconds(pause))
        let asked = ContinuousClock.now
        let texts = Set(try await setting.texts("/v1/items?limit=100"))
        for known in acknowledged where known.time + Edge.bound < asked { #expect(texts.contains(known.text)) }
      }
    }
  }

  @Test("A 410 replaces a stored response, whether it was requested meanwhile or not", arguments: Edge.installed)
  func retraction(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      let (busy, quiet) = (try await setting.publish("one"), try await setting.publish("two"))
      for id in [busy, quiet, busy, quiet] { #expect(try await setting.get("/v1/items/" + id).status == 200) }
      try await setting.retract(quiet)
      try await setting.retract(busy)
      let retracted = ContinuousClock.now
      var isGone = false
      while .now - retracted < Edge.bound {
        let status = try await setting.get("/v1/items/" + busy).status
        #expect(status == 410 || !isGone)
        isGone = status == 410
        try await Task.sleep(for: .milliseconds(300))
      }
      #expect(try await setting.get("/v1/items/" + busy).status == 410)
      #expect(try await setting.get("/v1/items/" + quiet).status == 410)
    }
  }

  @Test(
    "The token of a stored and revalidated page skips no change that was published meanwhile",
    arguments: Edge.caches)
  func storedToken(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("second", date: "2025-02-01T00:00:00Z")
      _ = try await setting.publish("first")
      let target = "/v1/items?limit=1"
      let before = try await setting.get(target)
      let older = try await setting.publish("third", date: "2025-01-01T00:00:00Z")
      let current = try await setting.token()
      let asked = try await setting.requests("/v1/items", status: 304)
      try await eventually("the cache revalidates") {
        _ = try await setting.get(target)
        return try await setting.requests("/v1/items", status: 304) > asked
      }
      for _ in 0..<2 {
        let page = try await setting.get(target)
        #expect((page.status, page["ETag"]) == (200, before["ETag"]))
        let token = try #require(page["Sync-Token"])
        let changes = try await setting.server.send("GET", "/v1/changes?since=\(token)").json(ChangeList.self).changes
        let brings = changes.contains { change in
          if case .put(let item) = change { item.id.uuidString.lowercased() == older } else { false }
        }
        #expect(brings || token == current.description, "\(token)")
      }
    }
  }

  @Test(
    "A 410 for an expired token replaces stored changes, and contains a valid token",
    arguments: Edge.installed)
  func expiry(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let target = "/v1/changes?since=\(try await setting.token())"
      _ = try await setting.publish("two")
      for _ in 0..<2 { #expect(try await setting.get(target).json(ChangeList.self).changes.count == 1) }
      #expect(try await setting.installation.run("epoch", "new").status == 0)
      try await eventually("the server knows") { try await setting.server.send("GET", target).status == 410 }
      let known = ContinuousClock.now
      var isGone = false
      while .now - known < Edge.bound {
        let status = try await setting.get(target).status
        #expect(status == 410 || !isGone)
        isGone = status == 410
        try await Task.sleep(for: .milliseconds(300))
      }
      let token = try #require(try await setting.get(target).json(Problem.self, status: 410).token)
      #expect(try await setting.server.send("GET", "/v1/changes?since=\(token)").status == 200)
    }
  }

  @Test("Readers' credentials and cookies do not pass the cache", arguments: Edge.caches)
  func credentials(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let fields = [
        ("Authorization", "Bearer x"), ("Authorization", "Basic eDp5"), ("Cookie", "a=b"), ("Cookie", "c=d"),
      ]
      let start = ContinuousClock.now
      for number in 0..<20 { #expect(try await setting.get("/v1/items", fields[number % 4]).status == 200) }
      let seconds = Int((ContinuousClock.now - start) / .seconds(1))
      // The cache revalidates once a second.
      #expect(1...(seconds + 2) ~= (try await setting.requests("/v1/items")))
    }
  }

  @Test("Without a server, stored responses are served, and others are a 503 or 502", arguments: Edge.caches)
  func outage(edge: Edge) async throws {
    try await EdgeSetting.with(edge) { setting in
      _ = try await setting.publish("one")
      let before = try await setting.get("/v1/items")
      setting.server.process.send(SIGKILL)
      _ = await setting.server.process.result()
      let end = ContinuousClock.now + .seconds(15)
      while .now < end {
        let answer = try await setting.get("/v1/items")
        #expect((answer.status, answer["ETag"]) == (200, before["ETag"]))
        try await Task.sleep(for: .milliseconds(500))
      }
      #expect(try await setting.get("/v1/items", ("If-None-Match", try #require(before["ETag"]))).status == 304)
      let other = try await setting.undeclared("/v1/topics")
      #expect([502, 503].contains(other?.status))
    }
  }
}
