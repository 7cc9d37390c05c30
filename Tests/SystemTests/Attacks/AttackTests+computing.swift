import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Attacks with requests, feeds and histories that take much time to compute.
extension AttackTests {
  /// Sends requests on several connections at once, and returns when all were sent. A refusal is no error.
  private static func flood(
    port: Int, connections: Int, requests: Int, for time: Duration, _ request: @escaping @Sendable (Int) -> String
  ) async throws {
    let end = ContinuousClock.now + time
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<connections {
        group.addTask {
          try await onThread(isAttack: true) {
            for round in 0..<requests where .now < end {
              _ = try? BlockingConnection(port: port).exchange(request(number * requests + round))
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("The watch sees the jobs of a server on its pool and on its event loops")
  func watch() async throws {
    try await JobWatch.with { watch in
      try await Installation.with { installation in
        let settings = watch.settings.merging(["TIDINGS_JOB_WATCH_MS": "0"]) { $1 }
        try await installation.serve(changes: settings) { server in
          #expect(try await server.status("/v1/items?q=word") == 200)
          let jobs = try watch.places()
          #expect(jobs.isSuperset(of: ["pool", "loop"]))
        }
      }
    }
  }

  private static func post(_ path: String, _ key: String, _ body: String) -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test(
    "Batches of HTML, also refused ones, delay neither readers nor the writes of editors", arguments: [false, true])
  func batches(areRefused: Bool) async throws {
    try await Self.with("batches of HTML\(areRefused ? " that are refused" : "")", growth: 512) { target in
      let drafts = try await target.installation.makeKey(scopes: ["items:write"])
      let html = "<p>" + String(repeating: "<b>a</b>", count: 1700)
      let entry = #"{"op": "create", "item": {"text": "x", "html": "\#(html)", "state": "draft"}}"#
      let unknown = #"{"op": "create", "item": {"text": "x", "topics": ["no-such-topic"], "state": "draft"}}"#
      var entries = Array(repeating: entry, count: Self.runsLongTests ? 999 : 20)
      if areRefused { entries.append(unknown) }
      let body = #"{"atomic": \#(areRefused), "entries": [\#(entries.joined(separator: ","))]}"#
      try await Self.flood(
        port: target.server.port, connections: Self.runsLongTests ? 6 : 2, requests: Self.runsLongTests ? 1000 : 2,
        for: .seconds(Self.runsLongTests ? 25 : 60)
      ) { _ in Self.post("/v1/editorial/items/batch", drafts, body) }
    }
  }

  @Test("Hostile feeds delay neither readers nor editors")
  func feeds() async throws {
    let size = Self.runsLongTests ? 1 : 64
    let bodies = [
      "amps": Self.rss(Self.item(0, String(repeating: "&", count: 15_900_000 / size))),
      "html": Self.rss(
        (0..<25).map {
          Self.item($0, "<![CDATA[" + String(repeating: "<b>a</b>", count: 60_000 / size) + "]]>")
        }.joined()),
      "many": Self.rss((0..<60_000 / size).map { Self.item($0, "b") }.joined()),
      "marks": Self.rss(Self.item(0, "e" + String(repeating: "\u{301}", count: 7_900_000 / size))),
      "tags": Self.rss((0..<12_000 / size).map { Self.item($0, "b", categories: $0 * 40..<$0 * 40 + 40) }.joined()),
    ]
    let responses = bodies.mapValues { FaultResponse(body: Data($0.utf8)) }
    try await FaultServer.with({ request in
      responses[String(request.path.dropFirst().prefix { $0.isLetter })] ?? FaultResponse(status: 404)
    }) { web in
      try await Self.with("hostile feeds", growth: 768, changes: ["TIDINGS_ALLOWED_NETWORKS": "127.0.0.1"]) { target in
        let admin = try await target.installation.makeKey(scopes: ["admin"])
        let repeated = (0..<(Self.runsLongTests ? 4 : 1)).flatMap { ["amps\($0)", "html\($0)"] }
        let paths = repeated + ["many", "marks", "tags"]
        for path in paths {
          let body = #"{"url": "\#(web.url)/\#(path)", "state": "draft"}"#
          let made = try await target.server.send("POST", "/v1/editorial/subscriptions", key: admin, body: body)
          #expect(made.status == 201)
        }
        // A poll that waits for its turn ends by itself, whether or not the feed could be read.
        let end = ContinuousClock.now + .seconds(300)
        while try await Self.polled(target.installation) < paths.count, .now < end {
          try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await Self.polled(target.installation) == paths.count)
      }
    }
  }

  /// Returns the number of feeds that were polled.
  private static func polled(_ installation: Installation) async throws -> Int {
    try await installation.value(
      """
      SELECT count(*) FROM subscriptions
      WHERE lease IS NULL AND (last_success IS NOT NULL OR error_at IS NOT NULL)
      """)
  }

  private static func rss(_ items: String) -> String {
    "<?xml version=\"1.0\"?><rss version=\"2.0\"><channel><title>x</title>\(items)</channel></rss>"
  }

  private static func item(_ number: Int, _ description: String, categories: Range<Int> = 0..<0) -> String {
    let topics = categories.map { "<category>c\($0)</category>" }.joined()
    return "<item><guid>g\(number)</guid><title>t</title><pubDate>Fri, 27 Nov 2026 10:00:00 GMT</pubDate>\(topics)"
      + "<description>\(description)</description></item>"
  }

  @Test("Histories with large differences delay neither readers nor editors")
  func histories() async throws {
    try await Self.with("histories with large differences", growth: 512) { target in
      var random = SplitMix64(seed: 41)
      func text() -> String {
        (0..<(Self.runsLongTests ? 40_000 : 4000)).map { _ in String(Int.random(in: 0..<1000, using: &random)) }
          .joined(separator: " ")
      }
      let items = "/v1/editorial/items"
      let item = try await target.server.send(
        "POST", items, key: target.key, body: #"{"text": "\#(text())", "state": "draft"}"#
      ).json(EditorialItem.self, status: 201)
      let path = "\(items)/\(item.item.id.uuidString.lowercased())"
      for _ in 0..<5 {
        let body = #"{"text": "\#(text())"}"#
        let made = try await target.server.send(
          "PATCH", path, key: target.key, headers: [("If-Match", "*")], body: body)
        #expect(made.status == 200)
      }
      let drafts = try await target.installation.makeKey(scopes: ["items:write"])
      try await Self.flood(
        port: target.server.port, connections: Self.runsLongTests ? 16 : 4, requests: Self.runsLongTests ? 1000 : 3,
        for: .seconds(Self.runsLongTests ? 25 : 60)
      ) { _ in
        "GET \(path)/history?limit=200 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(drafts)\r\n\r\n"
      }
    }
  }
}
