import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite("The list of subscriptions") struct SubscriptionListTests {
  private static func follow(_ store: NewsStore, _ url: String, _ title: String? = nil) async throws {
    _ = try await store.createSubscription(UUID(), SubscriptionContent(url: url, title: title))
  }

  @Test("It is ordered by address")
  func order() async throws {
    try await NewsDatabase.withStore { store, _ in
      for name in ["sea", "air", "port"] { try await Self.follow(store, "https://\(name).example/") }
      #expect(
        try await store.subscriptions().map(\.url) == [
          "https://air.example/", "https://port.example/", "https://sea.example/",
        ])
    }
  }

  @Test(
    "A search takes no account of upper and lower case, in titles and addresses, and a feed needs no title",
    arguments: [
      ("port AUTH", ["https://a.example/News"]), ("/news", ["https://a.example/News", "https://b.example/news"]),
      ("B.EXAMPLE", ["https://b.example/news"]), ("sea", []),
    ])
  func search(text: String, addresses: [String]) async throws {
    try await NewsDatabase.withStore { store, _ in
      try await Self.follow(store, "https://a.example/News", "Port Authority")
      try await Self.follow(store, "https://b.example/news")
      let page = try await store.subscriptions(SubscriptionQuery(search: text))
      #expect(page.subscriptions.map(\.subscription.url) == addresses)
      #expect(page.total == 2 && !page.hasMore)
    }
  }

  @Test("A subscription is found by its address, and its failures are its own")
  func found() async throws {
    try await NewsDatabase.withStore { store, sql in
      for name in ["sea", "air", "port"] { try await Self.follow(store, "https://\(name).example/", name) }
      _ = try await sql.query("UPDATE subscriptions SET failures = length(title)")
      let port = try #require(try await store.subscription(withURL: "https://port.example/"))
      #expect(port.title == "port")
      #expect(try await store.failedPolls(of: port.id) == 4)
      #expect(try await store.subscription(withURL: "https://port.example") == nil)
      await #expect(throws: StoreError.alreadyFollowed(port.id)) {
        try await store.createSubscription(UUID(), SubscriptionContent(url: "https://port.example/"))
      }
      let sea = try #require(try await store.subscription(withURL: "https://sea.example/"))
      await #expect(throws: StoreError.alreadyFollowed(port.id)) {
        try await store.modifySubscription(sea.id, if: .exists) { _ in SubscriptionContent(port) }
      }
      #expect(try await store.subscription(sea.id) == sea)
      #expect(try await store.failedPolls(of: UUID()) == 0)
    }
  }

  @Test("A new subscription has all that it was created with", arguments: Subscription.State.allCases)
  func fields(state: Subscription.State) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("port", "sea")
      var content = SubscriptionContent(
        url: "https://port.example/", title: "Port", topics: ["port", "sea"], state: state, language: "de-CH",
        paused: state == .draft, user: "ann", password: "s3cret")
      let made = try await store.createSubscription(UUID(1), content)
      #expect(made.id == UUID(1) && made.revision == 1)
      content.password = nil
      #expect(SubscriptionContent(made) == content)
      let lease = try #require(try await store.leaseSubscription(for: 60, only: UUID(1)))
      #expect(SubscriptionContent(lease.subscription) == content)
      #expect(lease.credentials?.user == "ann" && lease.credentials?.password == "s3cret")
    }
  }

  @Test("What editors do with one subscription leaves another one as it is")
  func others() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("port", "sea")
      let (id, other, start) = (UUID(1), UUID(2), Date(timeIntervalSince1970: 2_000_000_000))
      for (id, name) in [(id, "a"), (other, "b")] {
        _ = try await store.createSubscription(id, SubscriptionContent(url: "https://\(name).example/"))
      }
      var failure = PollOutcome(wait: 600)
      failure.failure = (status: 503, message: "busy")
      let lease = try #require(try await store.leaseSubscription(for: 60, only: other, at: start))
      try await store.finishPoll(lease, failure, at: start)
      let before = try await store.subscription(other)
      let changes: [@Sendable (inout SubscriptionContent) -> Void] = [
        { $0.title = "Port" }, { $0.url = "https://c.example/" }, { $0.paused = true }, { $0.paused = false },
        { $0.state = .draft }, { $0.language = "de" }, { $0.topics = ["sea"] },
        { content in (content.user, content.password) = ("ann", "s3cret") },
      ]
      for change in changes {
        _ = try await store.modifySubscription(id, if: .exists) { subscription in
          var content = SubscriptionContent(subscription)
          change(&content)
          return content
        }
        #expect(try await store.subscription(other) == before)
      }
      let changed = try await store.subscription(id)
      #expect(
        SubscriptionContent(changed)
          == SubscriptionContent(
            url: "https://c.example/", title: "Port", topics: ["sea"], state: .draft, language: "de", user: "ann"))
      #expect(changed.revision == 1 + changes.count)
      _ = try await store.requestPoll(id)
      try await store.removeSubscription(id, if: .exists)
      #expect(try await store.subscriptions() == [before])
      let page = try await store.subscriptions(SubscriptionQuery())
      #expect(page.subscriptions.map(\.failures) == [1] && page.counts == [.failing: 1, .paused: 0])
    }
  }

  @Test("A feed keeps its failures while it is paused, until it has a new address")
  func failures() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.createSubscription(UUID(1), SubscriptionContent(url: "https://a.example/", paused: true))
      var failure = PollOutcome(wait: 600)
      failure.failure = (status: 503, message: "busy")
      let lease = try #require(try await store.leaseSubscription(for: 60, only: UUID(1)))
      try await store.finishPoll(lease, failure)
      func change(_ content: SubscriptionContent) async throws -> SubscriptionListPage {
        _ = try await store.modifySubscription(UUID(1), if: .exists) { _ in content }
        return try await store.subscriptions(SubscriptionQuery())
      }
      let renamed = try await change(SubscriptionContent(url: "https://a.example/", title: "Port", paused: true))
      #expect(renamed.subscriptions.map(\.failures) == [1] && renamed.counts[.failing] == 0)
      let moved = try await change(SubscriptionContent(url: "https://b.example/", title: "Port"))
      #expect(moved.subscriptions.map(\.failures) == [0] && moved.counts[.failing] == 0)
    }
  }

  @Test("A key for passwords has 32 bytes", arguments: [0, 16, 31, 32, 33])
  func key(bytes: Int) {
    #expect((FeedPasswordKey(Data(repeating: 7, count: bytes).base64EncodedString()) != nil) == (bytes == 32))
  }
}
