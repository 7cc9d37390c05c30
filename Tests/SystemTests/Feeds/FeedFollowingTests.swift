import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Feed readers of others that follow a feed while editors work.
@Suite struct FeedFollowingTests {
  /// The place at which readers request the feed.
  enum Place: String, CaseIterable, Sendable {
    case direct, nginx, varnish

    static let installed = allCases.filter { $0.edge.map { Edge.installed.contains($0) } ?? true }

    var edge: Edge? {
      switch self {
      case .direct: nil
      case .nginx: .nginx
      case .varnish: .varnish
      }
    }
  }

  /// Runs the body with a server and the port at which readers request its feeds.
  private static func with(
    _ place: Place, _ body: @Sendable (Installation, RunningServer, _ key: String, _ port: Int) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve(changes: ["TIDINGS_PUBLIC_URL": "https://news.example"]) { server in
        guard let edge = place.edge else { return try await body(installation, server, key, server.port) }
        let proxy = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)
        try await Proxy.with(proxy) { try await body(installation, server, key, $0.port) }
      }
    }
  }

  /// Makes 200 random edits, and lets the reader read in between.
  ///
  /// - Parameters:
  ///   - interval: The number of edits between two reads, less than a document has items.
  ///   - read: Receives the titles of the published items by their ids.
  private static func edit(
    _ server: RunningServer, _ key: String, seed: UInt64, readingEvery interval: Int,
    read: (_ titles: [String: String]) async throws -> Void
  ) async throws {
    var random = SplitMix64(seed: seed)
    var titles: [String: String] = [:]
    func send(_ method: String, _ path: String, _ body: String?) async throws -> TestResponse {
      try await server.send(
        method, "/v1/editorial/items" + path, key: key, headers: method == "POST" ? [] : [("If-Match", "*")], body: body
      )
    }
    for number in 0..<200 {
      let known = titles.keys.sorted().randomElement(using: &random)
      switch (Int.random(in: 0..<10, using: &random), known) {
      case (0, let id?):
        #expect(try await send("DELETE", "/\(id)", nil).status == 204)
        titles[id] = nil
      case (1...4, let id?):
        #expect(try await send("PATCH", "/\(id)", #"{"title": "title \#(number)"}"#).status == 200)
        titles[id] = "title \(number)"
      default:
        let day = Int.random(in: 10...28, using: &random)
        let body = #"{"date": "2025-12-\#(day)T00:00:00Z", "text": "text", "title": "title \#(number)"}"#
        let item = try await send("POST", "", body).json(EditorialItem.self, status: 201).item
        titles[item.id.uuidString.lowercased()] = "title \(number)"
      }
      if number % interval == interval - 1 { try await read(titles) }
    }
  }

  private static func follow(
    _ place: Place, seed: UInt64, _ make: @Sendable (_ url: String, _ folder: URL) throws -> any FeedFollower
  ) async throws {
    try await with(place) { installation, server, key, port in
      try await withFolder(["readme": ""]) { folder in
        let follower = try make("http://127.0.0.1:\(port)/feed.atom", folder)
        // A cache may send an older document for a few seconds, in which more edits are made here than a document has
        // items. So its readers read until they have a new one, as one does that polls every few minutes.
        try await Self.edit(server, key, seed: seed, readingEvery: place == .direct ? 8 : 25) { titles in
          try await eventually("the reader has all items as they are") {
            let known = try await follower.read()
            return titles.allSatisfy { known["urn:uuid:" + $0] == $1 }
          }
        }
        let setting = EdgeSetting(
          installation: installation, server: server, proxy: server.client, port: port, key: key)
        let differences = try await setting.requests("/feed.atom", status: 226)
        #expect((differences > 0) == (place == .direct), "\(differences)")
      }
    }
  }

  @Test(
    "feedparser loses nothing over 200 edits, by differences and through caches",
    .enabled(if: FeedTools.hasFeedparser, "feedparser is missing: apt-get install python3-feedparser"),
    arguments: Place.installed)
  func feedparser(place: Place) async throws {
    try await Self.follow(place, seed: 11) { FeedparserFollower(url: $0, folder: $1) }
  }

  @Test(
    "newsboat loses nothing over 200 edits, by differences and through caches",
    .enabled(if: FeedTools.hasNewsboat, "newsboat is missing: apt-get install newsboat"), arguments: Place.installed)
  func newsboat(place: Place) async throws {
    try await Self.follow(place, seed: 12) { try NewsboatFollower(url: $0, folder: $1) }
  }

  @Test("A document from a cache is no start of changes, whatever the reader sends", arguments: Edge.installed)
  func manipulationThroughCache(edge: Edge) async throws {
    try await Self.with(edge == .varnish ? .varnish : .nginx) { _, server, key, port in
      let proxy = TestClient(url: "http://127.0.0.1:\(port)", isProxy: true)
      func publish() async throws {
        let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
        #expect(try await server.send("POST", "/v1/editorial/items", key: key, body: body).status == 201)
      }
      try await publish()
      let direct = try await server.send("GET", "/feed.atom")
      let tag = try #require(direct["ETag"])
      try await publish()
      let headers = [("A-IM", "feed"), ("If-None-Match", tag)]
      #expect(try await server.send("GET", "/feed.atom", headers: headers).status == 226)
      for _ in 0..<3 {
        let answer = try await proxy.send("GET", "/feed.atom", headers: headers)
        #expect(answer.status == 200)
        #expect(answer.text.matches(of: /<entry>/).count == 2)
      }
    }
  }
}
