import FaultServer
import Foundation
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

/// The time of a test, which only the test moves.
final class VirtualClock: Sendable {
  private let time: Mutex<Date>

  init(_ start: Date) {
    time = Mutex(start)
  }

  var now: Date { time.withLock { $0 } }

  func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
}

/// A feed server, a store and a clock that the test moves.
struct Followed: Sendable {
  static let start = Date(timeIntervalSince1970: 1_770_000_000)
  let server: FaultServer
  let store: NewsStore
  let sql: PostgresPool
  let follower: FeedFollower
  let client: OutgoingClient
  /// The log of the follower.
  let log: RecordingLog
  private let time: VirtualClock

  var now: Date { time.now }

  func advance(_ seconds: Double) { time.advance(seconds) }

  /// Runs the body. Names resolve to loopback, which is allowed; `private.example` resolves to a private address, and
  /// `rebinding.example` to a link-local one from the second look-up on. The random numbers that spread polls are 0.5.
  static func with(
    newItems: NewItemLimits = NewItemLimits(), _ body: @Sendable (Followed) async throws -> Void
  ) async throws {
    try await FaultServer.with { server in
      try await NewsDatabase.withStore { store, sql in
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
        var limits = OutgoingLimits()
        limits.idleTime = .seconds(1)
        let lookups = Count()
        let resolver = NameResolver { host, port in
          let address =
            switch host {
            case "private.example": "10.0.0.1"
            case "rebinding.example": lookups.next() == 1 ? "127.0.0.1" : "169.254.169.254"
            default: "127.0.0.1"
            }
          return [try SocketAddress(ipAddress: address, port: port)]
        }
        let client = OutgoingClient(policy: policy, userAgent: "Tidings", limits: limits, resolver: resolver)
        let (time, log) = (VirtualClock(Followed.start), RecordingLog())
        let follower = FeedFollower(
          store: store, client: client, logger: log.logger, limits: newItems, clock: { time.now }, random: { 0.5 })
        let followed = Followed(
          server: server, store: store, sql: sql, follower: follower, client: client, log: log, time: time)
        try await withResource(client, release: { await $0.shutdown() }) { _ in try await body(followed) }
      }
    }
  }

  /// Follows `/path` of the server.
  func subscribe(
    _ path: String, host: String = "feeds.example", topics: [String] = [], state: Subscription.State = .published,
    language: String? = nil
  ) async throws -> UUID {
    let id = UUID()
    let url = try OutgoingURL("http://\(host):\(server.port)\(path)").text
    _ = try await store.createSubscription(
      id, SubscriptionContent(url: url, topics: topics, state: state, language: language))
    // The database's clock has set the time of the first poll.
    _ = try await sql.query("UPDATE subscriptions SET next_poll = \(now) WHERE id = \(id)")
    return id
  }

  /// Polls a subscription, whether it is due or not.
  func poll(_ id: UUID) async throws -> Subscription {
    guard case .finished(let subscription, _) = try await follower.poll(id) else {
      throw Unexpected(description: "the feed was not polled")
    }
    return subscription
  }

  /// Returns the time in seconds until the next poll.
  func wait(_ id: UUID) async throws -> Double {
    try #require(try await store.subscription(id).nextPoll).timeIntervalSince(now)
  }

  /// The titles of all published items.
  func titles() async throws -> Set<String> {
    Set(try await store.editorialItems(EditorialQuery(state: .published)).items.compactMap(\.item.title))
  }

  /// A line of an export that cannot be read, for a reason that names the override U+202E in it.
  static let unreadableLine = FaultResponse(
    body: Data(
      """
      {"sourceDigest": "", "id": "019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10", "date": "2026-01-02T00:00:00Z", "text": "x",
      "newTopics": [{"slug": "sea", "position": 0, "titles": {"d\\u202Ee": "Sea"}}]}
      """.replacing("\n", with: " ").utf8))

  /// An RSS feed of entries with the given titles, an hour apart.
  ///
  /// - Parameters:
  ///   - channel: Further elements of the channel.
  ///   - hasDates: Whether the entries have dates.
  static func feed(
    _ titles: [String], headers: [(name: String, value: String)] = [], channel: String = "", hasDates: Bool = true
  ) -> FaultResponse {
    let items = titles.enumerated().map { index, title in
      let date = start.addingTimeInterval(-3600 * Double(index + 1)).formatted(.iso8601)
      return """
        <item><guid>\(title.prefix(1))</guid><title>\(title)</title><description>About \(title)</description>
        <category>Boats</category>\(hasDates ? "<dc:date>\(date)</dc:date>" : "")</item>
        """
    }
    let text = """
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">
      <channel><title>Port</title><link>https://port.example/</link>\(channel)\(items.joined())</channel></rss>
      """
    return FaultResponse(headers: headers, body: Data(text.utf8))
  }
}

extension FaultResponse {
  /// The RSS feed in the body without its end tags.
  var withoutEnd: FaultResponse { self.body { Data($0.dropLast("</channel></rss>".utf8.count)) } }
}
