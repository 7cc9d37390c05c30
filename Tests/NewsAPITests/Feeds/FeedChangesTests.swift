import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

/// The changes of a feed since the document that a reader has (RFC 3229).
@Suite struct FeedChangesTests {
  private static let formats = ["json", "atom", "rss"]

  private static func with(
    _ change: @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    _ body: @Sendable (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with(
      settings: {
        $0.publicURL = "https://news.example"
        change(&$0)
      }, body)
  }

  private static let date = Date(timeIntervalSince1970: 1_767_225_600)

  private static func id(_ number: Int) -> UUID {
    UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)))
  }

  private static func name(_ item: EditorialItem) -> String { "urn:uuid:\(item.item.id.uuidString.lowercased())" }

  private static func changes(
    _ server: TestServer, _ path: String, since tag: String?, manipulation: String = "feed",
    _ more: (String, String)...
  ) async throws -> TestResponse {
    try await server.send(
      "GET", path, headers: [("A-IM", manipulation), ("If-None-Match", try #require(tag))] + more)
  }

  @Test("A reader that names its document receives the changes since then, with the new tag", arguments: formats)
  func difference(format: String) async throws {
    try await Self.with { server in
      let path = "/feed.\(format)"
      let old = try await server.publish("one")
      let known = try await server.get(path)
      #expect(try await Self.changes(server, path, since: known["ETag"]).status == 304)
      let new = try await server.publish("two")
      for list in [known["ETag"], known["ETag"].map { "W/\($0)" }, known["ETag"].map { "\"x\", \($0)" }] {
        let answer = try await Self.changes(server, path, since: list)
        #expect(answer.status == 226)
        #expect(answer["IM"] == "feed")
        #expect(answer["Cache-Control"] == "no-store, im")
        let vary = try #require(answer["Vary"])
        #expect(vary.contains("A-IM") && vary.contains("If-None-Match"))
        #expect(answer["ETag"] != known["ETag"])
        #expect(answer.text.contains(Self.name(new)))
        #expect(!answer.text.contains(Self.name(old)))
        let next = try await Self.changes(server, path, since: answer["ETag"])
        #expect((next.status, next["IM"]) == (304, nil))
        #expect(try await server.get(path)["ETag"] == answer["ETag"])
      }
      let compressed = try await server.get(path, ("Accept-Encoding", "gzip"))
      // A document is compressed if its number of entries shows that it has 1 KiB.
      for number in 0..<10 { _ = try await server.publish("three \(number)") }
      let answer = try await Self.changes(
        server, path, since: compressed["ETag"], manipulation: "vcdiff, feed;q=0.5", ("Accept-Encoding", "gzip"))
      #expect((answer.status, answer["Content-Encoding"]) == (226, "gzip"))
    }
  }

  @Test("Atom has removals; the other formats answer with the whole document", arguments: formats)
  func removals(format: String) async throws {
    try await Self.with { server in
      try await server.makeTopics(["harbour"])
      let stays = try await server.publish("one", topics: ["harbour"])
      let goes = try await server.publish("two", topics: ["harbour"])
      for path in ["/feed.\(format)", "/topics/harbour/feed.\(format)"] {
        let known = try await server.get(path)
        let item = try await server.publish("gone", topics: ["harbour"])
        let id = item.item.id.uuidString.lowercased()
        let later = try await server.get(path)
        #expect(try await server.write("DELETE", "items/\(id)", nil, ("If-Match", "*")).status == 204)
        for tag in [known["ETag"], later["ETag"]] {
          let answer = try await Self.changes(server, path, since: tag)
          #expect(answer.status == (format == "atom" ? 226 : 200))
          #expect(answer.text.contains("<at:deleted-entry ref=\"\(Self.name(item))\"") == (format == "atom"))
          #expect(answer.text.contains(Self.name(stays)) == (format != "atom"))
        }
      }
      // An item that leaves a topic is removed from the feed of the topic only.
      let path = "/topics/harbour/feed.\(format)"
      let (whole, topic) = (try await server.get("/feed.\(format)"), try await server.get(path))
      let id = goes.item.id.uuidString.lowercased()
      #expect(try await server.write("PATCH", "items/\(id)", #"{"topics": []}"#, ("If-Match", "*")).status == 200)
      let left = try await Self.changes(server, path, since: topic["ETag"])
      #expect(left.text.contains("<at:deleted-entry ref=\"\(Self.name(goes))\"") == (format == "atom"))
      let changed = try await Self.changes(server, "/feed.\(format)", since: whole["ETag"])
      #expect(changed.status == 226)
      #expect(changed.text.contains(Self.name(goes)) && !changed.text.contains("deleted-entry"))
    }
  }

  @Test("Other requests receive the whole document", arguments: formats)
  func whole(format: String) async throws {
    try await Self.with { server in
      try await server.makeTopics(["harbour"])
      let path = "/feed.\(format)"
      let old = try await server.publish("one", topics: ["harbour"])
      let (known, topic) = (try await server.get(path), try await server.get("/topics/harbour\(path)"))
      let tag = try #require(known["ETag"])
      _ = try await server.publish("two")
      let token = try #require(tag.dropFirst().split(separator: ".").first)
      for headers: [(String, String)] in [
        [("If-None-Match", tag)], [("A-IM", "feed")], [("A-IM", "vcdiff"), ("If-None-Match", tag)],
        [("A-IM", "feed;q=0"), ("If-None-Match", tag)], [("A-IM", "feed"), ("If-None-Match", "*\(tag)")],
        [("A-IM", "feed"), ("If-None-Match", try #require(topic["ETag"]))],
        [("A-IM", "feed"), ("If-None-Match", "\"\(token).0.000000000000\"")],
        [("A-IM", "feed"), ("If-None-Match", tag.replacing(token, with: "1zzzzzz\(token.dropFirst(7))"))],
        [("A-IM", "feed"), ("If-None-Match", tag), ("Via", "1.1 cache")],
      ] {
        let answer = try await server.send("GET", path, headers: headers)
        #expect(answer.status == 200, "\(headers)")
        #expect(answer.text.contains(Self.name(old)), "\(headers)")
      }
      let head = try await server.send("HEAD", path, headers: [("A-IM", "feed"), ("If-None-Match", tag)])
      #expect(head.status == 200)
      // A reader that names several documents has all of them.
      let latest = try #require(try await server.get(path)["ETag"])
      _ = try await server.publish("three", topics: ["harbour"])
      let answer = try await Self.changes(server, path, since: "\(latest), \(tag)")
      #expect(answer.status == 226)
      // The document of another feed is left out, however new it is.
      let other = try #require(try await server.get("/topics/harbour\(path)")["ETag"])
      #expect(try await Self.changes(server, path, since: "\(other), \(tag)").status == 226)
      #expect(answer.text.contains("three") && !answer.text.contains("two"))
    }
  }

  @Test("A trusted proxy receives the whole document, because it may name that of its cache")
  func proxy() async throws {
    try await Self.with({ settings in
      settings.trustedProxies = TrustedProxies([IPNetwork("127.0.0.1")].compactMap(\.self))
    }) { server in
      let old = try await server.publish("one")
      let known = try await server.get("/feed.atom")
      _ = try await server.publish("two")
      let answer = try await Self.changes(server, "/feed.atom", since: known["ETag"])
      #expect(answer.status == 200)
      #expect(answer.text.contains(Self.name(old)))
    }
  }

  @Test("A document of other settings is no start of changes")
  func otherSettings() async throws {
    try await Self.with { server in
      let old = try await server.publish("one")
      let known = try await server.get("/feed.atom")
      _ = try await server.publish("two")
      try await server.beside({
        $0.publicURL = "https://news.example"
        $0.feedTitle = "Other"
      }) { other in
        let answer = try await Self.changes(other, "/feed.atom", since: known["ETag"])
        #expect(answer.status == 200)
        #expect(answer.text.contains(Self.name(old)))
      }
    }
  }

  @Test("More changes than a document can have are answered with the whole document")
  func many() async throws {
    try await Self.with { server in
      _ = try await server.publish("one")
      let known = try await server.get("/feed.atom")
      _ = try await server.store.importItems(
        (1...600).map { number in
          ImportedItem(
            id: Self.id(number), source: "x", guid: "\(number)", digest: Data([1]),
            content: ItemContent(state: .published, date: Self.date, text: "item \(number)"))
        })
      try await eventually("the server knows") { try await server.get("/feed.atom")["ETag"] != known["ETag"] }
      let answer = try await Self.changes(server, "/feed.atom", since: known["ETag"])
      #expect((answer.status, answer["IM"]) == (200, nil))
      #expect(answer.text.contains("archive=6"))
    }
  }

  @Test("A reader that applies all changes has the document, whatever happens between them")
  func follow() async throws {
    try await Self.with { server in
      var random = SplitMix64(seed: 5)
      var items: [UUID] = []
      var (known, tag): (Set<String>, String?) = ([], nil)
      func read() async throws {
        let answer =
          tag == nil
          ? try await server.get("/feed.atom") : try await Self.changes(server, "/feed.atom", since: tag)
        if answer.status == 304 { return }
        tag = answer["ETag"]
        let ids = answer.text.matches(of: /<id>urn:uuid:([^<]*)<\/id>/).map { String($0.1) }
        if answer.status == 200 { known = [] }
        known.formUnion(ids)
        known.subtract(answer.text.matches(of: /ref="urn:uuid:([^"]*)"/).map { String($0.1) })
      }
      for round in 0..<60 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          if let id = items.randomElement(using: &random) {
            _ = try await server.write("DELETE", "items/\(id)", nil, ("If-Match", "*"))
            items.removeAll { $0 == id }
          }
        case 1:
          if let id = items.randomElement(using: &random) {
            _ = try await server.write("PATCH", "items/\(id)", #"{"text": "\#(round)"}"#, ("If-Match", "*"))
          }
        default: items.append(try await server.publish("\(round)").item.id)
        }
        if Int.random(in: 0..<3, using: &random) == 0 { try await read() }
      }
      try await read()
      #expect(known == Set(items.map { $0.uuidString.lowercased() }))
    }
  }
}
