import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import OutgoingHTTP
import TestSupport
import Testing

@Suite("The preview of a feed") struct FeedPreviewTests {
  private static func preview(
    _ followed: Followed, _ path: String, _ credentials: FeedCredentials? = nil
  ) async throws -> FeedPreview {
    let url = try OutgoingURL("http://feeds.example:\(followed.server.port)\(path)")
    return try await FeedPreviewer(client: followed.client).preview(
      of: url, credentials: credentials, assignment: ImportBatch.Assignment(topics: ["desk"], state: .draft),
      at: Followed.start)
  }

  private static func page(_ links: [String]) -> FaultResponse {
    let tags = links.map { "<link rel=alternate type='application/rss+xml' href='\($0)'>" }
    return FaultResponse(
      headers: [("Content-Type", "text/html")], body: Data("<html><title>Port</title>\(tags.joined())".utf8))
  }

  @Test(
    "It has the address that a subscription would have: that after permanent redirects",
    arguments: [
      ("/feed", "/feed"), ("/old", "/feed"), ("/today", "/today"), ("/page", "/feed"), ("/pages", "/today"),
      ("/leads", "/leads"),
    ])
  func address(path: String, address: String) async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/old": FaultResponse(status: 301, headers: [("Location", "/feed")])
        case "/today": FaultResponse(status: 302, headers: [("Location", "/feed")])
        case "/page": Self.page(["/old"])
        case "/pages": Self.page(["/nowhere", "/today"])
        case "/leads": Self.page([]).setting("Refresh", "0; url=/feed")
        case "/feed": Followed.feed(["a", "b"], channel: "<language>de</language>")
        default: FaultResponse(status: 404)
        }
      }
      let preview = try await Self.preview(followed, path)
      #expect(preview.address == "http://feeds.example:\(followed.server.port)\(address)")
      #expect(preview.title == "Port" && preview.language == "de" && preview.count == 2)
      #expect(preview.items.map(\.title) == ["a", "b"])
      #expect(preview.items.allSatisfy { $0.topics == ["desk"] && $0.state == .draft })
    }
  }

  @Test("It has the first five entries, and the number of all of them")
  func count() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b", "c", "d", "e", "f"], hasDates: false) }
      let preview = try await Self.preview(followed, "/feed")
      #expect(preview.items.first?.date == Followed.start, "an entry without a date has the present one")
      #expect(preview.count == 6 && preview.items.map(\.title) == ["a", "b", "c", "d", "e"])
    }
  }

  @Test("Its failure has the status of the response, and without a response it has none", arguments: [404, 0])
  func failedFeed(status: Int) async throws {
    try await Followed.with { followed in
      // Without a status, the address leads elsewhere.
      let port = followed.server.port
      followed.server.respond { _ in
        status == 0
          ? FaultResponse(status: 302, headers: [("Location", "http://private.example:\(port)/")])
          : FaultResponse(status: status)
      }
      let failure = await #expect(throws: FeedPreviewFailure.self) { try await Self.preview(followed, "/feed") }
      let expected: Int? = status == 0 ? nil : status
      #expect(failure?.status == expected)
      #expect(failure?.reason.contains(status == 0 ? "private address" : "the status 404") == true)
    }
  }

  @Test("Its failure has the status of a feed that breaks off")
  func brokenFeed() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]).withoutEnd }
      let failure = await #expect(throws: FeedPreviewFailure.self) { try await Self.preview(followed, "/feed") }
      #expect(failure?.status == 200 && failure?.reason.contains("not a complete feed") == true)
    }
  }

  @Test("Its failure names the first link of a page that cannot be read", arguments: [(503, 200), (200, 404)])
  func firstLink(status: Int, second: Int) async throws {
    try await Followed.with { followed in
      let third = "http://private.example:\(followed.server.port)/3"
      followed.server.respond { request in
        switch request.path {
        case "/page": Self.page(["/1", "/2", third])
        default: FaultResponse(status: request.path == "/1" ? status : second, body: Data("<p>Hello</p>".utf8))
        }
      }
      let failure = await #expect(throws: FeedPreviewFailure.self) { try await Self.preview(followed, "/page") }
      #expect(failure?.status == 200)
      #expect(failure?.reason.contains("whose feed cannot be read: http://feeds.example") == true)
      #expect(failure?.reason.contains("/1: ") == true && failure?.reason.contains("/2: ") == false)
      #expect(failure?.reason.contains("private") == false)
    }
  }

  @Test("Its failure is safe to print")
  func unsafeReason() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.unreadableLine }
      let failure = await #expect(throws: FeedPreviewFailure.self) { try await Self.preview(followed, "/feed") }
      #expect(failure?.reason.contains("the topic's language \"de\" is not a language tag") == true)
    }
  }

  @Test("Its failure is described in 1,000 characters at most")
  func longReason() async throws {
    try await Followed.with { followed in
      let address = "http://private.example:\(followed.server.port)/" + String(repeating: "a", count: 1500)
      followed.server.respond { _ in Self.page([address]) }
      let failure = await #expect(throws: FeedPreviewFailure.self) { try await Self.preview(followed, "/page") }
      #expect(failure?.reason.count == 1000)
    }
  }

  @Test("The password is sent to the feed of a page at the same origin, and to no other")
  func password() async throws {
    try await Followed.with { followed in
      let origin = "http://feeds.example:\(followed.server.port)"
      let elsewhere = "http://other.example:\(followed.server.port)/there"
      let authorization = "Basic " + Data("ann:s3cret".utf8).base64EncodedString()
      followed.server.respond { request in
        guard request["Authorization"] == authorization else { return FaultResponse(status: 401) }
        return request.path == "/page" ? Self.page([elsewhere, "/feed"]) : Followed.feed(["a"])
      }
      let credentials = FeedCredentials(origin: origin, user: "ann", password: "s3cret")
      let preview = try await Self.preview(followed, "/page", credentials)
      #expect(preview.address == "\(origin)/feed")
      #expect(followed.server.requests.map(\.path) == ["/page", "/there", "/feed"])
      #expect(followed.server.requests[1]["Authorization"] == nil)
    }
  }
}
