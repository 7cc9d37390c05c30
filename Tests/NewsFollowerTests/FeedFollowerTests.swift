import FaultServer
import Foundation
import HTTPTypes
import NIOCore
import NetworkAddresses
import News
import NewsFollower
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// A feed server, a store and a clock that the test moves.
struct Followed: Sendable {
  static let start = Date(timeIntervalSince1970: 1_770_000_000)
  let server: FaultServer
  let store: NewsStore
  let sql: PostgresPool
  let follower: FeedFollower
  private let time: Clock

  private final class Clock: Sendable {
    let now = Mutex(Followed.start)
  }

  var now: Date { time.now.withLock { $0 } }

  func advance(_ seconds: Double) { time.now.withLock { $0 += seconds } }

  /// Runs the body. Names resolve to loopback, which is allowed; `private.example` resolves to a private address.
  static func with(_ body: @Sendable (Followed) async throws -> Void) async throws {
    try await FaultServer.with { server in
      try await NewsDatabase.withStore { store, sql in
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
        var limits = OutgoingLimits()
        limits.idleTime = .seconds(1)
        let resolver = NameResolver { host, port in
          [try SocketAddress(ipAddress: host == "private.example" ? "10.0.0.1" : "127.0.0.1", port: port)]
        }
        let client = OutgoingClient(policy: policy, userAgent: "Tidings", limits: limits, resolver: resolver)
        let time = Clock()
        let follower = FeedFollower(store: store, client: client, logger: NewsDatabase.logger) {
          time.now.withLock { $0 }
        }
        let followed = Followed(server: server, store: store, sql: sql, follower: follower, time: time)
        try await withResource(client, release: { await $0.shutdown() }) { _ in try await body(followed) }
      }
    }
  }

  /// Follows `/path` of the server.
  func subscribe(
    _ path: String, host: String = "feeds.example", topics: [String] = [], state: Subscription.State = .published
  ) async throws -> UUID {
    let id = UUID()
    let url = try OutgoingURL("http://\(host):\(server.port)\(path)").text
    _ = try await store.createSubscription(id, SubscriptionContent(url: url, topics: topics, state: state))
    // The database's clock has set the time of the first poll.
    _ = try await sql.query("UPDATE subscriptions SET next_poll = \(now) WHERE id = \(id)")
    return id
  }

  /// An RSS feed of entries with the given titles, an hour apart.
  static func feed(_ titles: [String], headers: [(name: String, value: String)] = []) -> FaultResponse {
    let items = titles.enumerated().map { index, title in
      let date = start.addingTimeInterval(-3600 * Double(index + 1)).formatted(.iso8601)
      return """
        <item><guid>\(title.prefix(1))</guid><title>\(title)</title><description>About \(title)</description>
        <category>Boats</category><dc:date>\(date)</dc:date></item>
        """
    }
    let text = """
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Port</title>
      <link>https://port.example/</link>\(items.joined())</channel></rss>
      """
    return FaultResponse(headers: headers, body: Data(text.utf8))
  }
}

@Suite struct FeedFollowerTests {
  @Test("A feed is polled when it is due, and its entries are stored as an import would store them")
  func entries() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b"], headers: [("ETag", "\"1\""), ("Last-Modified", "x")]) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let titles = try await followed.store.editorialItems(EditorialQuery()).items.map(\.item.title)
      #expect(Set(titles) == ["a", "b"])
      #expect(try await followed.store.topics().topics.map(\.slug) == ["boats"])
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.lastSuccess == Followed.start && subscription.lastError == nil)
      let next = try #require(subscription.nextPoll)
      // Half of the hour between entries, and up to a tenth more.
      #expect(Followed.start + 1800...Followed.start + 1980 ~= next)
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 1)

      followed.server.respond { request in
        request["If-None-Match"] == "\"1\"" && request["If-Modified-Since"] == "x"
          ? FaultResponse(status: 304) : FaultResponse(status: 500)
      }
      followed.advance(1980)
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 2)
      #expect(try await followed.store.subscription(id).lastError == nil)
    }
  }

  @Test("An entry is applied only when it has changed at its source, and a retracted one does not come back")
  func editors() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b", "c"]) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let items = try await followed.store.editorialItems(EditorialQuery()).items
      func item(_ title: String) throws -> EditorialItem { try #require(items.first { $0.item.title == title }) }
      _ = try await followed.store.write(try item("a").item.id, if: .exists) { item in
        var content = ItemContent(try #require(item))
        content.title = "edited"
        return content
      }
      try await followed.store.retract(try item("c").item.id, reason: nil, if: .exists)
      followed.server.respond { _ in Followed.feed(["a", "b2", "c2"]) }
      #expect(try await followed.follower.poll(id)?.lastError == nil)
      let published = try await followed.store.editorialItems(EditorialQuery(state: .published)).items
      #expect(Set(published.map(\.item.title)) == ["edited", "b2"])
    }
  }

  @Test("Items of a subscription in the state draft are drafts with its topics, and stay as editors leave them")
  func drafts() async throws {
    try await Followed.with { followed in
      try await followed.store.ensureTopics(["sea": TopicContent(titles: [:], position: 0)])
      followed.server.respond { _ in Followed.feed(["a", "b"]) }
      let id = try await followed.subscribe("/feed", topics: ["sea"], state: .draft)
      try await followed.follower.pollDue()
      let drafts = try await followed.store.editorialItems(EditorialQuery(state: .draft)).items
      #expect(drafts.count == 2 && drafts.allSatisfy { $0.item.topics == ["sea"] })
      let a = try #require(drafts.first { $0.item.title == "a" })
      _ = try await followed.store.write(a.item.id, if: .exists) { item in
        var content = ItemContent(try #require(item))
        content.state = .published
        return content
      }
      followed.server.respond { _ in Followed.feed(["a2", "b2"]) }
      _ = try await followed.follower.poll(id)
      let published = try await followed.store.editorialItems(EditorialQuery(state: .published)).items
      #expect(published.map(\.item.title) == ["a2"])
    }
  }

  @Test("Failures are reported, back off, and respect Retry-After")
  func failures() async throws {
    try await Followed.with { followed in
      let id = try await followed.subscribe("/feed")
      followed.server.respond { _ in FaultResponse(status: 503, headers: [("Retry-After", "7200")]) }
      try await followed.follower.pollDue()
      let failing = try await followed.store.subscription(id)
      #expect(failing.lastError?.status == 503 && failing.lastSuccess == nil)
      #expect(failing.nextPoll == Followed.start + 7200)
      followed.server.respond { _ in FaultResponse(body: Data("<html>".utf8)) }
      followed.advance(7200)
      try await followed.follower.pollDue()
      let second = try await followed.store.subscription(id)
      #expect(second.lastError?.message.contains("not a complete feed") == true)
      let wait = try #require(second.nextPoll).timeIntervalSince(followed.now)
      #expect(600...720 ~= wait)
    }
  }

  @Test("A feed that is gone is paused, and a permanent redirect changes the address")
  func goneAndMoved() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/gone": FaultResponse(status: 410)
        case "/old": FaultResponse(status: 301, headers: [("Location", "/new")])
        default: Followed.feed(["a"])
        }
      }
      let (gone, old) = (try await followed.subscribe("/gone"), try await followed.subscribe("/old"))
      try await followed.follower.pollDue()
      let paused = try await followed.store.subscription(gone)
      #expect(paused.paused && paused.lastError?.message == "the feed is gone for good (410)")
      let moved = try await followed.store.subscription(old)
      #expect(moved.url.hasSuffix("/new") && moved.revision == 2)
    }
  }

  @Test("A feed that does not answer, and one at a private address, delay no other")
  func stuck() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        request.path == "/stuck" ? FaultResponse().hanging(at: .start) : Followed.feed(["a"])
      }
      let stuck = try await followed.subscribe("/stuck")
      let secret = try await followed.subscribe("/", host: "private.example")
      for number in 0..<40 { _ = try await followed.subscribe("/\(number)") }
      try await followed.follower.pollDue()
      #expect(try await followed.store.subscription(stuck).lastError?.message.contains("paused for too long") == true)
      #expect(try await followed.store.subscription(secret).lastError?.message.contains("private address") == true)
      let successes = try await followed.store.subscriptions().count { $0.lastError == nil }
      #expect(successes == 40)
    }
  }

  @Test("Several processes never poll a feed twice")
  func severalProcesses() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      for number in 0..<30 { _ = try await followed.subscribe("/\(number)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { try await followed.follower.pollDue() } }
        try await group.waitForAll()
      }
      let paths = followed.server.requests.map(\.path)
      #expect(paths.count == 30 && Set(paths).count == 30)
    }
  }

  @Test("Cache-Control lengthens the interval")
  func maxAge() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b"], headers: [("Cache-Control", "public, max-age=40000")]) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let next = try #require(try await followed.store.subscription(id).nextPoll)
      #expect(Followed.start + 40_000...Followed.start + 44_000 ~= next)
    }
  }
}
