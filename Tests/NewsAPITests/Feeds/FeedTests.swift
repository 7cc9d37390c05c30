import Foundation
import News
import NewsAPI
import NewsFeeds
import NewsStore
import TestKit
import TestSupport
import Testing

/// Feeds for feed readers, over HTTP. The requests are checked against the contract.
@Suite struct FeedTests {
  private static let formats = ["json", "atom", "rss"]
  private static let types = [
    "json": "application/feed+json", "atom": "application/atom+xml", "rss": "application/rss+xml",
  ]

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

  @Test("A feed has the published items, and the tag that makes a repeated request a 304", arguments: formats)
  func feed(format: String) async throws {
    try await Self.with { server in
      try await server.makeTopics(["harbour"])
      let ferry = try await server.publish("The ferry & more", topics: ["harbour"], title: "Ferry")
      let other = try await server.publish("Other news")
      for (path, isWhole) in [("/feed.\(format)", true), ("/topics/harbour/feed.\(format)", false)] {
        let first = try await server.get(path)
        #expect(first.status == 200)
        #expect(first["Content-Type"] == Self.types[format])
        #expect(first.text.contains(Self.name(ferry)))
        #expect(first.text.contains(Self.name(other)) == isWhole)
        #expect(first.text.contains("https://news.example\(path)"))
        let tag = try #require(first["ETag"])
        let token = try #require(
          try await server.get("/v1/state?topics=harbour").json(FeedState.self).topics["harbour"])
        if !isWhole { #expect(tag.hasPrefix("\"\(token).")) }
        for list in [tag, "W/\(tag)", "\"x\", \(tag)"] {
          #expect(try await server.get(path, ("If-None-Match", list)).status == 304)
        }
        let head = try await server.send("HEAD", path)
        #expect((head.status, head["ETag"], head.body.isEmpty) == (200, tag, true))
        #expect(try await server.send("OPTIONS", path).status == 204)
      }
      let before = try await server.get("/feed.\(format)")
      _ = try await server.publish("Third")
      #expect(try await server.get("/feed.\(format)", ("If-None-Match", try #require(before["ETag"]))).status == 200)
    }
  }

  @Test("Without a public URL, feeds are a 404 that says so")
  func notConfigured() async throws {
    try await TestServer.with { server in
      for path in ["/feed.atom", "/topics/harbour/feed.rss", "/feed.json"] {
        for _ in 0..<3 {
          let problem = try await server.get(path).json(Problem.self, status: 404)
          #expect(problem.type == "/problems/feeds-not-configured")
          #expect(problem.detail?.contains("TIDINGS_PUBLIC_URL") == true)
        }
      }
    }
  }

  @Test("Unknown topics and archives are a 404, wrong parameters a 400", arguments: formats)
  func errors(format: String) async throws {
    try await Self.with { server in
      _ = try await server.publish("one")
      for _ in 0..<3 {
        #expect(try await server.get("/topics/nowhere/feed.\(format)").status == 404)
        #expect(try await server.get("/topics/NOT A SLUG/feed.\(format)".replacing(" ", with: "%20")).status == 404)
        #expect(try await server.get("/feed.\(format)?archive=1").status == 404)
      }
      for query in ["archive=0", "archive=x", "archive=1&archive=1", "limit=3", "archive="] {
        #expect(try await server.get("/feed.\(format)?\(query)").status == 400, "\(query)")
      }
      #expect(try await server.get("/feed.xml").status == 404)
      #expect(try await server.send("POST", "/feed.\(format)").status == 405)
    }
  }

  @Test("The title, the hub and summaries are as configured", arguments: formats)
  func settings(format: String) async throws {
    try await Self.with({
      $0.feedTitle = "Harbour News"
      $0.feedContent = .summary
      $0.feedHubs = ["https://hub.example/"]
      $0.feedItems = 1
    }) { server in
      _ = try await server.publish(String(repeating: "words ", count: 200))
      let answer = try await server.get("/feed.\(format)")
      #expect(answer.text.contains("Harbour News"))
      #expect(answer.text.contains("https://hub.example/"))
      #expect(answer.body.count < 3000)
      try await server.makeTopics(["harbour"])
      // Subscribers name the feed to the hub by its own address.
      for path in ["/feed.\(format)", "/topics/harbour/feed.\(format)"] {
        let link = "<https://hub.example/>; rel=\"hub\", <https://news.example\(path)>; rel=\"self\""
        let found = try await server.get(path)
        #expect(found["Link"] == link)
      }
    }
  }

  @Test("Archives have 100 items each by first publication, and their tags stay when others are published")
  func archives() async throws {
    try await Self.with({ $0.feedHubs = ["https://hub.example/"] }) { server in
      let items = try await server.store.importItems(
        (1...205).map { number in
          ImportedItem(
            id: Self.id(number), source: "x", guid: "\(number)", digest: Data([1]),
            content: ItemContent(state: .published, date: Self.date, text: "item \(number)"))
        })
      #expect(items.inserted == 205)
      try await eventually("the server knows") { try await server.get("/feed.atom?archive=2").status == 200 }
      let second = try await server.get("/feed.atom?archive=2")
      let current = try await server.get("/feed.atom")
      #expect(second.text.matches(of: /<entry>/).count == 100)
      #expect(second.text.contains("<fh:archive/>"))
      #expect(second["Link"] == nil)
      #expect(current.text.matches(of: /<entry>/).count == 50)
      #expect(current.text.contains("https://news.example/feed.atom?archive=2"))
      let read = try await server.get("/feed.json?archive=1")
      #expect(read.text.matches(of: /"id":/).count == 100)
      #expect(!read.text.contains("next_url"))
      _ = try await server.publish("one more")
      let tag = try #require(second["ETag"])
      #expect(try await server.get("/feed.atom?archive=2", ("If-None-Match", tag)).status == 304)
      _ = try await server.write("PATCH", "items/\(Self.id(150))", #"{"text": "corrected"}"#, ("If-Match", "*"))
      #expect(try await server.get("/feed.atom?archive=2", ("If-None-Match", tag)).status == 200)
      #expect(try await server.get("/feed.atom").text.contains("corrected"))
    }
  }

  @Test("A repeated request for a feed reads nothing from the database")
  func fromMemory() async throws {
    try await Self.with { server in
      try await server.makeTopics(["harbour"])
      _ = try await server.publish("one", topics: ["harbour"])
      let targets = Self.formats.flatMap { ["/feed.\($0)", "/topics/harbour/feed.\($0)"] }
      for _ in 0..<3 { for target in targets { _ = try await server.get(target) } }
      let reads = try await server.scrape().value("tidings_reads_total", ["source": "database"])
      for _ in 0..<5 {
        for target in targets { #expect(try await server.get(target, ("If-None-Match", "\"x\"")).status == 200) }
      }
      #expect(try await server.scrape().value("tidings_reads_total", ["source": "database"]) == reads)
    }
  }

  @Test("Drafts and schedules change no byte of a feed, nor its tag")
  func leaks() async throws {
    try await Self.with { server in
      _ = try await server.publish("one")
      func answers() async throws -> [String] {
        var answers: [String] = []
        for format in Self.formats {
          let answer = try await server.get("/feed.\(format)")
          answers += [answer.text, answer["ETag"] ?? ""]
        }
        return answers
      }
      let before = try await answers()
      for number in 0..<20 {
        let state = number % 2 == 0 ? #""state": "draft""# : #""publishAt": "2090-01-01T00:00:00Z""#
        #expect(try await server.write("POST", "items", #"{"text": "secret", \#(state)}"#).status == 201)
      }
      #expect(try await answers() == before)
    }
  }
}
