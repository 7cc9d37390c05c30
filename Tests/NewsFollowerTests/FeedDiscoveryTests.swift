import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The feed of a page whose address is followed.
@Suite struct FeedDiscoveryTests {
  private static func page(_ links: String) -> FaultResponse {
    FaultResponse(
      headers: [("Content-Type", "text/html"), ("ETag", "\"page\"")],
      body: Data(
        "<!doctype html><html lang=en><head><title>Port</title>\(links)</head><body>Welcome</body></html>".utf8))
  }

  private static func link(_ address: String) -> String {
    #"<link rel="alternate" type="application/rss+xml" href="\#(address)">"#
  }

  @Test("The first poll replaces the address of a page by that of its feed")
  func found() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/": Self.page(Self.link("/gone") + Self.link("/feed")).setting("Link", "</other>; rel=hub")
        case "/feed":
          Followed.feed(
            ["a"], headers: [("ETag", "\"feed\""), ("Link", "</hub>; rel=hub")], channel: "<language>de</language>")
        default: FaultResponse(status: 404)
        }
      }
      let id = try await followed.subscribe("/")
      try await followed.follower.pollDue()
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.url == "http://feeds.example:\(followed.server.port)/feed")
      #expect(subscription.title == "Port" && subscription.language == "de" && subscription.revision == 2)
      #expect(subscription.lastError == nil && subscription.lastSuccess == Followed.start)
      #expect(try await followed.titles() == ["a"])
      // The hubs and the validators are those of the feed.
      let row = try #require(try await followed.sql.query("SELECT hubs FROM subscriptions").first)
      let hubs = try row.decode("hubs", as: [String].self)
      #expect(hubs == ["http://feeds.example:\(followed.server.port)/hub"])
      _ = followed.server.takeRequests()
      _ = try await followed.poll(id)
      #expect(followed.server.requests.map(\.path) == ["/feed"])
      #expect(followed.server.requests.map { $0["If-None-Match"] } == ["\"feed\""])
    }
  }

  @Test("A page without a link to a feed, and one whose feed cannot be read, are failures that say so")
  func notFound() async throws {
    try await Followed.with { followed in
      let port = followed.server.port
      followed.server.respond { request in
        switch request.path {
        case "/empty": Self.page("")
        case "/gone": Self.page(Self.link("/nowhere"))
        case "/private": Self.page(Self.link("http://private.example:\(port)/feed"))
        case "/itself": Self.page(Self.link("/itself"))
        case "/broken": Self.page(Self.link("/half"))
        case "/half": FaultResponse(body: Data((Self.brokenFeed + "<item><title>z</title></item>").utf8))
        default: FaultResponse(status: 404)
        }
      }
      func message(_ path: String) async throws -> String {
        let id = try await followed.subscribe(path)
        let subscription = try await followed.poll(id)
        #expect(subscription.url.hasSuffix(path) && !subscription.paused && subscription.lastError?.status == 200)
        return subscription.lastError?.message ?? ""
      }
      let empty = try await message("/empty")
      #expect(empty.contains("neither a feed nor a page that links to one"))
      let gone = try await message("/gone")
      #expect(gone.contains("the server has answered with the status 404"))
      let inside = try await message("/private")
      #expect(inside.contains("private address"))
      let itself = try await message("/itself")
      #expect(itself.contains("cannot be read"))
      let broken = try await message("/broken")
      #expect(broken.contains("cannot be read") && broken.contains("/half"))
      #expect(try await followed.titles() == [])
    }
  }

  @Test(
    "The first three links of a page are tried, and the failure names the first of them", arguments: [200, 404])
  func manyLinks(status: Int) async throws {
    try await Followed.with { followed in
      let third = "http://private.example:\(followed.server.port)/3"
      followed.server.respond { request in
        switch request.path {
        case "/": Self.page(["/1", "/2", third, "/4"].map(Self.link).joined())
        case "/1": FaultResponse(status: 503)
        case "/2": status == 200 ? Self.page("") : FaultResponse(status: status)
        case "/4": Followed.feed(["a"])
        default: FaultResponse(status: 404)
        }
      }
      let message = try await followed.poll(try await followed.subscribe("/")).lastError?.message
      #expect(message?.contains("/1: the server has answered with the status 503") == true, "\(message ?? "")")
      // The third one is refused before it is requested.
      #expect(followed.server.requests.map(\.path) == ["/", "/1", "/2"])
    }
  }

  @Test(
    "The longest Retry-After of a page and of its links is respected, also by a poll by hand",
    arguments: [([:], 300), (["/": "9000", "/1": "7200"], 9000), (["/1": "7200", "/2": "600"], 7200)]
      as [([String: String], Double)])
  func retryAfter(values: [String: String], wait: Double) async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        let response =
          request.path == "/"
          ? Self.page(Self.link("/1") + Self.link("/2")) : FaultResponse(status: request.path == "/1" ? 429 : 503)
        return values[request.path].map { response.setting("Retry-After", $0) } ?? response
      }
      let id = try await followed.subscribe("/")
      #expect(try await followed.poll(id).nextPoll == Followed.start + wait * 1.1)
      guard !values.isEmpty else { return }
      followed.advance(wait - 1)
      guard case .notBefore(let end) = try await followed.follower.poll(id) else {
        throw Unexpected(description: "the wait was not respected")
      }
      #expect(end == Followed.start + wait && followed.server.requests.count == 3)
    }
  }

  @Test(
    "Retry-After of all responses is respected if the entries of a found feed cannot be stored",
    arguments: [(["/feed": "7200"], 7200), (["/1": "7200", "/feed": "600"], 7200)] as [([String: String], Double)])
  func retryAfterFault(values: [String: String], wait: Double) async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        let headers = values[request.path].map { [(name: "Retry-After", value: $0)] } ?? []
        switch request.path {
        case "/": return Self.page(Self.link("/1") + Self.link("/feed"))
        case "/feed": return Followed.feed(["a"], headers: headers)
        default: return FaultResponse(status: 503, headers: headers)
        }
      }
      let id = try await followed.subscribe("/")
      for statement in Unstorable.entries.statements { _ = try await followed.sql.query(.init(unsafeSQL: statement)) }
      try await followed.follower.pollDue()
      #expect(followed.server.requests.map(\.path) == ["/", "/1", "/feed"])
      #expect(try await followed.store.subscription(id).nextPoll == Followed.start + wait)
    }
  }

  @Test(
    "A page that leads on to a feed by itself is read as the feed, and keeps its address", arguments: [true, false])
  func refresh(hasField: Bool) async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/feed": return Followed.feed(["a"])
        case "/":
          // The field of the response comes before the page.
          let page = Self.page("<meta http-equiv=refresh content='0;url=\(hasField ? "/nowhere" : "/feed")'>")
          return hasField ? page.setting("Refresh", "0; url=/feed") : page
        default: return FaultResponse(status: 404)
        }
      }
      let subscription = try await followed.poll(try await followed.subscribe("/"))
      #expect(subscription.lastError == nil && subscription.url == "http://feeds.example:\(followed.server.port)/")
      #expect(try await followed.titles() == ["a"])
    }
  }

  @Test("A failure is described in 1,000 characters at most")
  func longMessage() async throws {
    try await Followed.with { followed in
      let address = "http://private.example:\(followed.server.port)/" + String(repeating: "a", count: 1500)
      followed.server.respond { _ in Self.page(Self.link(address)) }
      let message = try await followed.poll(try await followed.subscribe("/")).lastError?.message
      #expect(message?.count == 1000 && message?.contains("private.example") == true)
    }
  }

  @Test("A page that declares no encoding has that of its response, and so have the addresses in it")
  func charset() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/":
          var page = Self.page(Self.link("/Žižkov")).setting("Content-Type", "text/html; charset=iso-8859-2")
          page.body = String(decoding: page.body, as: UTF8.self).data(using: .isoLatin2) ?? Data()
          return page
        case "/%C5%BDi%C5%BEkov": return Followed.feed(["a"])
        default: return FaultResponse(status: 404)
        }
      }
      let subscription = try await followed.poll(try await followed.subscribe("/"))
      #expect(subscription.lastError == nil && subscription.url.hasSuffix("/%C5%BDi%C5%BEkov"), "\(subscription.url)")
    }
  }

  @Test("Relative addresses in a feed belong to its address after redirects")
  func relativeAddresses() async throws {
    try await Followed.with { followed in
      let feed = """
        {"version": "https://jsonfeed.org/version/1.1", "title": "Port", "items": [{"id": "1", "url": "first",
        "content_text": "x", "date_published": "2026-01-02T00:00:00Z"}]}
        """
      followed.server.respond { request in
        request.path == "/old"
          ? FaultResponse(status: 302, headers: [("Location", "/news/feed.json")])
          : FaultResponse(body: Data(feed.utf8))
      }
      #expect(try await followed.poll(try await followed.subscribe("/old")).lastError == nil)
      let urls = try await followed.store.editorialItems(EditorialQuery()).items.map(\.item.url)
      #expect(urls == ["http://feeds.example:\(followed.server.port)/news/first"])
    }
  }

  private static let brokenFeed = "<rss version=\"2.0\"><channel><title>Sea</title>"

  @Test(
    "Links without a complete feed are passed over, and the address of a feed is that after permanent redirects",
    arguments: ["", brokenFeed, brokenFeed + "<item><guid>z</guid><title>z</title></item>"])
  func laterLink(other: String) async throws {
    try await Followed.with { followed in
      let port = followed.server.port
      followed.server.respond { request in
        switch request.path {
        case "/":
          Self.page(["http://private.example:\(port)/feed", "/other", "/old"].map(Self.link).joined())
        case "/other": other.isEmpty ? Self.page("") : FaultResponse(body: Data(other.utf8))
        case "/old": FaultResponse(status: 301, headers: [("Location", "/feed")])
        default: Followed.feed(["a"])
        }
      }
      let subscription = try await followed.poll(try await followed.subscribe("/"))
      #expect(subscription.lastError == nil && subscription.url.hasSuffix("/feed"))
      #expect(try await followed.titles() == ["a"])
    }
  }

  @Test("A feed that a page replaces for a while is not exchanged for another one")
  func errorPage() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      _ = followed.server.takeRequests()
      followed.server.respond { request in
        request.path == "/feed" ? Self.page(Self.link("/other")) : Followed.feed(["b"])
      }
      let failed = try await followed.poll(id)
      #expect(failed.url.hasSuffix("/feed") && failed.lastError?.message.contains("is not a feed") == true)
      #expect(failed.lastError?.status == 200)
      #expect(followed.server.requests.count == 1)
      // With a new address, the search begins again.
      let url = "http://feeds.example:\(followed.server.port)/page"
      _ = try await followed.store.modifySubscription(id, if: .exists) { subscription in
        var content = SubscriptionContent(subscription)
        content.url = url
        return content
      }
      #expect(try await followed.store.subscription(id).lastSuccess == nil)
      followed.server.respond { request in
        request.path == "/page" ? Self.page(Self.link("/other")) : Followed.feed(["b"])
      }
      #expect(try await followed.poll(id).url.hasSuffix("/other"))
    }
  }

  @Test("A page or a redirect whose feed is followed already pauses the subscription, and names the other one")
  func followedAlready() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/page": Self.page(Self.link("/feed"))
        case "/old": FaultResponse(status: 301, headers: [("Location", "/feed")])
        default: Followed.feed(["a"])
        }
      }
      let feed = try await followed.subscribe("/feed")
      for path in ["/page", "/old"] {
        let id = try await followed.subscribe(path)
        let paused = try await followed.poll(id)
        #expect(paused.paused && paused.revision == 2 && paused.url.hasSuffix(path))
        #expect(paused.lastError?.message.contains(feed.uuidString.lowercased()) == true)
      }
    }
  }
}
