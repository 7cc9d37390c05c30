import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Feeds as programs of others judge them.
@Suite struct FeedValidityTests {
  /// Items with everything that an entry can have, and with nothing.
  private static let items = [
    #"{"date": "2026-01-01T00:00:00.123Z", "text": "Only a text & <b>signs</b> ]]> 😀"}"#,
    #"{"date": "2025-12-31T23:59:59Z", "text": "One\n\nTwo", "title": "A <title> & more", "topics": ["harbour"]}"#,
    #"""
    {"date": "2026-01-02T00:00:00Z", "text": "All", "title": "All \"of\" it", "summary": "A summary",
     "html": "<p>All <em>of</em> it &amp; more</p><img src='https://news.example/a.png' alt='x'>",
     "topics": ["harbour", "sport"], "language": "pt-BR", "url": "https://news.example/all?a=1&b=2", "author": "Mara Quill",
     "attachments": [{"url": "https://news.example/a.png", "type": "image/png", "bytes": 3, "width": 4, "height": 5},
       {"url": "https://news.example/b.mp3", "type": "audio/mpeg"}]}
    """#,
  ]

  private static func with(
    _ changes: [String: String] = [:], _ body: @Sendable (RunningServer, String) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let settings = ["TIDINGS_PUBLIC_URL": "https://news.example", "TIDINGS_FEED_TITLE": "Harbour & News"]
      try await installation.serve(changes: settings.merging(changes) { $1 }) { server in
        for slug in ["harbour", "sport"] {
          let made = try await server.send("POST", "/v1/editorial/topics", key: key, body: #"{"slug": "\#(slug)"}"#)
          #expect(made.status == 201)
        }
        for item in Self.items {
          let made = try await server.send("POST", "/v1/editorial/items", key: key, body: item)
          #expect(made.status == 201, "\(made.text)")
        }
        try await body(server, key)
      }
    }
  }

  /// Publishes items until the feed has an archive.
  private static func fillArchive(_ server: RunningServer, _ key: String) async throws {
    let entries = (0..<110).map {
      #"{"op": "create", "item": {"date": "2026-01-03T00:00:00Z", "text": "item \#($0)"}}"#
    }
    let body = #"{"atomic": true, "entries": [\#(entries.joined(separator: ","))]}"#
    let answer = try await server.send("POST", "/v1/editorial/items/batch", key: key, body: body)
    #expect(answer.status == 200, "\(answer.text)")
  }

  /// All kinds of documents in a format: current ones, archives, and changes.
  private static func documents(_ format: String, _ server: RunningServer, _ key: String) async throws -> [Data] {
    let path = "/feed.\(format)"
    let first = try await server.send("GET", path)
    let topic = try await server.send("GET", "/topics/harbour\(path)")
    try await fillArchive(server, key)
    let id = try #require(first.text.firstMatch(of: /urn:uuid:([0-9a-f-]{36})/)).1
    let gone = try await server.send("DELETE", "/v1/editorial/items/\(id)", key: key, headers: [("If-Match", "*")])
    #expect(gone.status == 204)
    let tag = try #require(first["ETag"])
    let changes = try await server.send("GET", path, headers: [("A-IM", "feed"), ("If-None-Match", tag)])
    #expect(changes.status == (format == "atom" ? 226 : 200))
    let archive = try await server.send("GET", path + "?archive=1")
    #expect(archive.status == 200)
    return [first, topic, try await server.send("GET", path), changes, archive].map(\.body)
  }

  @Test(
    "feedparser finds no fault in Atom and RSS, with whole texts and with summaries",
    .enabled(if: FeedTools.hasFeedparser, "feedparser is missing: apt-get install python3-feedparser"),
    arguments: ["atom", "rss"], ["full", "summary"])
  func feedparser(format: String, content: String) async throws {
    try await Self.with(["TIDINGS_FEED_CONTENT": content]) { server, key in
      for document in try await Self.documents(format, server, key) {
        let parsed = try await FeedTools.parse(document)
        #expect(!parsed.bozo, "\(parsed.problem)")
        #expect(parsed.version == (format == "atom" ? "atom10" : "rss20"))
        #expect(!parsed.titles.isEmpty && parsed.titles.keys.allSatisfy { $0.hasPrefix("urn:uuid:") })
      }
    }
  }

  @Test(
    "jing accepts Atom by the grammar of RFC 4287",
    .enabled(if: FeedTools.hasJing, "jing is missing: apt-get install jing"), arguments: ["full", "summary"])
  func jing(content: String) async throws {
    try await Self.with(["TIDINGS_FEED_CONTENT": content, "TIDINGS_HUB_URL": "https://hub.example/?a&b"]) {
      server, key in
      for document in try await Self.documents("atom", server, key) { try await FeedTools.validateAtom(document) }
    }
    await #expect(throws: Unexpected.self, "a feed without an id is refused") {
      try await FeedTools.validateAtom(Data(#"<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>"#.utf8))
    }
  }

  /// The rules of jsonfeed.org/version/1.1, as a contract for one path.
  private static let jsonFeed = """
    paths:
      /feed.json:
        get:
          responses:
            "200":
              content:
                application/feed+json:
                  schema:
                    type: object
                    required: [version, title, items]
                    properties:
                      version: { const: "https://jsonfeed.org/version/1.1" }
                      title: { type: string }
                      home_page_url: { type: string, pattern: "^https?://" }
                      feed_url: { type: string, pattern: "^https?://" }
                      description: { type: string }
                      next_url: { type: string, pattern: "^https?://" }
                      icon: { type: string }
                      favicon: { type: string }
                      authors: { type: array, items: { $ref: "#/components/schemas/Author" } }
                      language: { type: string }
                      expired: { type: boolean }
                      hubs:
                        type: array
                        items:
                          type: object
                          required: [type, url]
                          properties: { type: { type: string }, url: { type: string } }
                          additionalProperties: false
                      items: { type: array, items: { $ref: "#/components/schemas/Item" } }
                    additionalProperties: false
    components:
      schemas:
        Author:
          type: object
          minProperties: 1
          properties: { name: { type: string }, url: { type: string }, avatar: { type: string } }
          additionalProperties: false
        Item:
          type: object
          required: [id]
          anyOf: [{ required: [content_html] }, { required: [content_text] }]
          properties:
            id: { type: string, minLength: 1 }
            url: { type: string, pattern: "^https?://" }
            external_url: { type: string, pattern: "^https?://" }
            title: { type: string }
            content_html: { type: string }
            content_text: { type: string }
            summary: { type: string }
            image: { type: string }
            banner_image: { type: string }
            date_published: { type: string, pattern: "^[0-9-]{10}T[0-9:.]{8,12}Z$" }
            date_modified: { type: string, pattern: "^[0-9-]{10}T[0-9:.]{8,12}Z$" }
            authors: { type: array, items: { $ref: "#/components/schemas/Author" } }
            tags: { type: array, items: { type: string } }
            language: { type: string, pattern: "^[A-Za-z0-9-]+$" }
            attachments:
              type: array
              items:
                type: object
                required: [url, mime_type]
                properties:
                  url: { type: string, pattern: "^https?://" }
                  mime_type: { type: string, pattern: ".+/.+" }
                  title: { type: string }
                  size_in_bytes: { type: integer }
                  duration_in_seconds: { type: integer }
                additionalProperties: false
          additionalProperties: false
    """

  @Test("JSON Feed follows the rules of jsonfeed.org", arguments: ["full", "summary"])
  func jsonFeed(content: String) async throws {
    let contract = try Contract(yaml: Self.jsonFeed)
    try await Self.with(["TIDINGS_FEED_CONTENT": content, "TIDINGS_HUB_URL": "https://hub.example/"]) { server, key in
      for document in try await Self.documents("json", server, key) {
        try contract.check(
          method: "GET", target: "/feed.json", status: 200, headers: [("Content-Type", "application/feed+json")],
          body: document)
      }
    }
    #expect(throws: Contract.Violation.self) {
      try contract.check(
        method: "GET", target: "/feed.json", status: 200, headers: [("Content-Type", "application/feed+json")],
        body: Data(#"{"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": [{"id": "1"}]}"#.utf8))
    }
  }
}
