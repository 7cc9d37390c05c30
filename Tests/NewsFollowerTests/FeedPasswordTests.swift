import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import OutgoingHTTP
import PostgresClient
import TestSupport
import Testing

@Suite("The password of a feed") struct FeedPasswordTests {
  private static let authorization = "Basic " + Data("ann:s3cret:\u{FC}".utf8).base64EncodedString()

  /// Follows `/feed` with a password.
  private static func subscribe(_ followed: Followed, path: String = "/feed") async throws -> UUID {
    let id = UUID()
    let url = try OutgoingURL("http://feeds.example:\(followed.server.port)\(path)").text
    _ = try await followed.store.createSubscription(
      id, SubscriptionContent(url: url, user: "ann", password: "s3cret:\u{FC}"))
    return id
  }

  private static func isRight(_ request: FaultRequest) -> Bool { request["Authorization"] == authorization }

  @Test("It is sent to the origin of the feed only, and a permanent redirect elsewhere does not replace the address")
  func origin() async throws {
    try await Followed.with { followed in
      let port = followed.server.port
      followed.server.respond { request in
        switch request.path {
        case "/feed": FaultResponse(status: 301, headers: [("Location", "/here")])
        case "/here" where Self.isRight(request):
          FaultResponse(status: 301, headers: [("Location", "http://other.example:\(port)/there")])
        case "/there": Followed.feed(["a"])
        default: FaultResponse(status: 401)
        }
      }
      let id = try await Self.subscribe(followed)
      let subscription = try await followed.poll(id)
      #expect(subscription.lastError == nil && subscription.url == "http://feeds.example:\(port)/feed")
      #expect(followed.server.requests.map { $0["Authorization"] } == [Self.authorization, Self.authorization, nil])
      followed.server.respond { request in
        Self.isRight(request)
          ? request.path == "/feed" ? FaultResponse(status: 301, headers: [("Location", "/new")]) : Followed.feed(["a"])
          : FaultResponse(status: 401)
      }
      #expect(try await followed.poll(id).url == "http://feeds.example:\(port)/new")
      #expect(try await followed.poll(id).lastError == nil)
    }
  }

  @Test("It is not in the database in a readable form, and one that was copied to another address is not sent")
  func copies() async throws {
    try await Followed.with { followed in
      followed.server.respond { Self.isRight($0) ? Followed.feed(["a"]) : FaultResponse(status: 401) }
      let id = try await Self.subscribe(followed)
      let rows = try await followed.sql.query(
        "SELECT position('s3cret'::bytea IN sealed_password)::bigint AS place FROM subscriptions WHERE id = \(id)")
      #expect(try #require(rows.first).decode("place", as: Int.self) == 0)
      _ = try await followed.sql.query(
        "UPDATE subscriptions SET url = replace(url, 'feeds.', 'evil.') WHERE id = \(id)")
      #expect(try await followed.poll(id).lastError?.status == 401)
      #expect(followed.server.requests.allSatisfy { $0["Authorization"] == nil })
      let other = try await Self.subscribe(followed, path: "/other")
      _ = try await followed.sql.query(
        """
        UPDATE subscriptions SET sealed_password = (SELECT sealed_password FROM subscriptions WHERE id = \(id))
        WHERE id = \(other)
        """)
      let paused = try await followed.poll(other)
      #expect(paused.paused && paused.lastError?.message.contains("another TIDINGS_FEED_PASSWORD_KEY") == true)
      #expect(followed.server.requests.count == 1)
    }
  }

  @Test("A new one replaces it, and another user, scheme, host or port needs it again")
  func changes() async throws {
    try await Followed.with { followed in
      let id = try await Self.subscribe(followed)
      func change(_ change: @escaping @Sendable (inout SubscriptionContent) -> Void) async throws {
        _ = try await followed.store.modifySubscription(id, if: .exists) { subscription in
          var content = SubscriptionContent(subscription)
          change(&content)
          return content
        }
      }
      let port = followed.server.port
      for (user, url) in [
        ("bob", "http://feeds.example:\(port)/feed"), ("ann", "https://feeds.example:\(port)/feed"),
        ("ann", "http://feeds.example/feed"), ("ann", "http://feeds.example.org:\(port)/feed"),
      ] {
        let error = await #expect(throws: StoreError.self) {
          try await change { content in (content.user, content.url) = (user, url) }
        }
        guard case .invalidFields(let errors)? = error else {
          throw Unexpected(description: "\(String(describing: error))")
        }
        #expect(errors.map(\.field) == ["password"])
      }
      followed.server.respond { Self.isRight($0) ? Followed.feed(["a"]) : FaultResponse(status: 401) }
      try await change { $0.url = "http://feeds.example:\(port)/moved" }
      #expect(try await followed.poll(id).lastError == nil)
      try await change { $0.password = "new" }
      #expect(try await followed.poll(id).lastError?.status == 401)
      #expect(try await followed.store.countFeedPasswords() == (stored: 1, unreadable: 0))
      try await change { $0.user = nil }
      #expect(try await followed.store.countFeedPasswords().stored == 0)
      #expect(try await followed.poll(id).user == nil)
      #expect(followed.server.requests.last?["Authorization"] == nil)
    }
  }

  @Test("It may be empty")
  func empty() async throws {
    try await Followed.with { followed in
      let authorization = "Basic " + Data("ann:".utf8).base64EncodedString()
      followed.server.respond { request in
        request["Authorization"] == authorization ? Followed.feed(["a"]) : FaultResponse(status: 401)
      }
      let id = UUID()
      let url = "http://feeds.example:\(followed.server.port)/feed"
      _ = try await followed.store.createSubscription(id, SubscriptionContent(url: url, user: "ann", password: ""))
      #expect(try await followed.poll(id).lastError == nil)
    }
  }

  @Test("It is not sent to a feed elsewhere to which a page links, and the address of the page stays")
  func discoveryElsewhere() async throws {
    try await Followed.with { followed in
      let address = "http://other.example:\(followed.server.port)/there"
      let page = "<html><link rel=alternate type='application/rss+xml' href='\(address)'>"
      followed.server.respond { request in
        if request.path == "/there" { return Followed.feed(["a"]) }
        guard Self.isRight(request) else { return FaultResponse(status: 401) }
        return FaultResponse(headers: [("Content-Type", "text/html")], body: Data(page.utf8))
      }
      let subscription = try await followed.poll(try await Self.subscribe(followed))
      #expect(subscription.lastError == nil && subscription.url.hasSuffix("/feed"))
      #expect(followed.server.requests.map { $0["Authorization"] } == [Self.authorization, nil])
    }
  }

  @Test("A page at the same origin is searched with it, and the preview uses it too")
  func discovery() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        guard Self.isRight(request) else { return FaultResponse(status: 401) }
        return request.path == "/feed"
          ? FaultResponse(
            headers: [("Content-Type", "text/html")],
            body: Data("<html><link rel=alternate type='application/rss+xml' href='/found'>".utf8))
          : Followed.feed(["a"])
      }
      let subscription = try await followed.poll(try await Self.subscribe(followed))
      #expect(subscription.lastError == nil && subscription.url.hasSuffix("/found"))
    }
  }
}
