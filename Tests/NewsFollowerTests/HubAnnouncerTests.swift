import FaultServer
import Foundation
import NetworkAddresses
import NewsFollower
import NewsStore
import OutgoingHTTP
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// Announcements of changed feeds to a hub.
@Suite struct HubAnnouncerTests {
  private static let address = "https://news.example"

  private struct Hub: Sendable {
    let server: TestServer
    let web: FaultServer
    let announcer: HubAnnouncer
    let other: HubAnnouncer
    let offset: Offset
    let log: RecordingLog

    final class Offset: Sendable {
      let seconds = Mutex(0.0)
    }

    func advance(_ seconds: Double) { offset.seconds.withLock { $0 += seconds } }

    /// Publishes items in new topics, at most 16 each.
    func publish(inTopics count: Int) async throws {
      let topics = (0..<count).map { "t\($0)" }
      try await server.makeTopics(topics)
      for start in stride(from: 0, to: count, by: 16) {
        _ = try await server.publish("x", topics: Array(topics[start...].prefix(16)))
      }
    }

    /// Announces what is due.
    ///
    /// - Returns: The addresses that the hub has received since the last call, sorted.
    func announce() async throws -> [String] {
      try await announcer.announceDue()
      return received()
    }

    func received() -> [String] {
      web.takeRequests().map { request in
        let form = Hubs.Request(request).form
        #expect(form["hub.mode"] == "publish" && form["hub.topic"] == form["hub.url"])
        #expect(request.method == "POST" && request["Content-Type"] == "application/x-www-form-urlencoded")
        return form["hub.url"]?.replacing(HubAnnouncerTests.address, with: "") ?? ""
      }.sorted()
    }
  }

  private static let feed = ["/feed.atom", "/feed.json", "/feed.rss"]

  private static func withHub(_ body: @Sendable (Hub) async throws -> Void) async throws {
    try await TestServer.with { server in
      try await FaultServer.with({ _ in FaultResponse(status: 204) }) { web in
        var policy = AddressPolicy()
        policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
        let client = OutgoingClient(policy: policy, userAgent: "Tidings")
        // The clock stands still, so that the test may be slow.
        let (start, offset, log) = (Date(), Hub.Offset(), RecordingLog())
        func announcer() -> HubAnnouncer {
          HubAnnouncer(
            store: server.store, client: client, hub: "\(web.url)/hub", publicURL: address,
            logger: log.logger
          ) { start + offset.seconds.withLock { $0 } }
        }
        let hub = Hub(server: server, web: web, announcer: announcer(), other: announcer(), offset: offset, log: log)
        try await withResource(client, release: { await $0.shutdown() }) { _ in try await body(hub) }
      }
    }
  }

  @Test("Publications are announced once for each changed feed, however many they are")
  func coalescing() async throws {
    try await Self.withHub { hub in
      #expect(try await hub.announce() == [])
      try await hub.server.makeTopics(["sea", "sky"])
      for number in 0..<5 { _ = try await hub.server.publish("\(number)", topics: ["sea"]) }
      let sea = Self.feed + Self.feed.map { "/topics/sea\($0)" }
      #expect(try await hub.announce() == sea)
      #expect(try await hub.announce() == [])

      // Further changes wait until ten seconds have passed.
      for _ in 0..<2 { _ = try await hub.server.publish("x", topics: ["sky"]) }
      #expect(try await hub.announce() == [])
      hub.advance(9)
      let wait = try #require(try await hub.announcer.announceDue())
      #expect(0.9...1.1 ~= wait && hub.received() == [])
      hub.advance(2)
      #expect(try await hub.announce() == Self.feed + Self.feed.map { "/topics/sky\($0)" })
      hub.advance(11)
      #expect(try await hub.announce() == [])
      // Drafts and changes that readers do not see are no publications.
      let draft = try await hub.server.write("POST", "items", #"{"text": "x", "state": "draft"}"#)
      #expect(draft.status == 201)
      hub.advance(11)
      #expect(try await hub.announce() == [])
      #expect(hub.server.store.hubActivity.count(of: .publish, accepted: true) == 12)
    }
  }

  @Test("A failed announcement is repeated after a wait, or after the time that the hub asks for")
  func failures() async throws {
    try await Self.withHub { hub in
      hub.web.respond { _ in FaultResponse(status: 503, headers: [("Retry-After", "600")]) }
      _ = try await hub.server.publish("x")
      #expect(try await !hub.announce().isEmpty)
      #expect(hub.server.store.hubActivity.announcementFailures == 1)
      let line = try #require(hub.log.text.split(separator: "\n").first)
      for words in ["warning the hub has not accepted an announcement", "\(hub.web.url)/hub", "the status 503"] {
        #expect(line.contains(words), "\(line)")
      }
      hub.advance(590)
      #expect(try await hub.announce() == [])
      hub.web.respond { _ in FaultResponse(status: 503) }
      hub.advance(20)
      #expect(try await !hub.announce().isEmpty)
      #expect(hub.server.store.hubActivity.announcementFailures == 2)
      hub.advance(59)
      #expect(try await hub.announce() == [])
      hub.web.respond { _ in FaultResponse(status: 202) }
      hub.advance(20)
      #expect(try await hub.announce() == Self.feed)
      #expect(hub.server.store.hubActivity.announcementFailures == 0)
    }
  }

  @Test("A feed that the hub refuses delays no other, and is given up until it changes")
  func refusal() async throws {
    try await Self.withHub { hub in
      hub.web.respond { request in
        FaultResponse(status: String(decoding: request.body, as: UTF8.self).contains("feed.rss") ? 404 : 200)
      }
      _ = try await hub.server.publish("x")
      #expect(try await hub.announce() == Self.feed)
      for _ in 0..<4 {
        hub.advance(86_400)
        #expect(try await hub.announce() == ["/feed.rss"])
      }
      hub.advance(86_400)
      #expect(try await hub.announce() == [])
      _ = try await hub.server.publish("y")
      #expect(try await hub.announce() == Self.feed)
    }
  }

  @Test(
    "A hub that is busy, silent or elsewhere is asked until it accepts, after six hours and a fifth at most",
    arguments: [302, 408, 429, 500, nil] as [Int?])
  func busy(status: Int?) async throws {
    try await Self.withHub { hub in
      hub.web.respond { _ in status.map { FaultResponse(status: $0) } ?? FaultResponse().truncated(at: .start) }
      _ = try await hub.server.publish("x")
      for count in 1...12 {
        #expect(try await !hub.announce().isEmpty, "\(count)")
        hub.advance(26_000)
      }
      // The wait is not shorter than six hours either.
      #expect(try await !hub.announce().isEmpty)
      hub.advance(21_590)
      #expect(try await hub.announce() == [])
      hub.advance(4410)
      hub.web.respond { _ in FaultResponse(status: 204) }
      #expect(try await hub.announce() == Self.feed)
    }
  }

  @Test("A hub that is busy is not asked about all of many feeds")
  func manyFeedsOfBusyHub() async throws {
    try await Self.withHub { hub in
      try await hub.publish(inTopics: 6)
      hub.web.respond { _ in FaultResponse(status: 503) }
      #expect(try await hub.announce().count == 4)
    }
  }

  @Test("A process that has lost its lease to another one announces nothing more")
  func lostLease() async throws {
    try await Self.withHub { hub in
      try await hub.publish(inTopics: 6)
      // The fifth feed is announced after the first one, and the sixth waits.
      hub.web.respond(next: FaultResponse(status: 204))
      hub.web.respond { _ in FaultResponse(status: 204).hanging(at: .start) }
      async let announced: Double? = hub.announcer.announceDue()
      try await eventually("the first feeds are announced") { hub.web.requests.count >= 5 }
      let end = Date() + 1000
      _ = try await hub.server.sql.query(
        "UPDATE announcing_hubs SET lease = gen_random_uuid(), leased_until = \(end)")
      hub.web.respond { _ in FaultResponse(status: 204) }
      hub.web.release()
      // The end of the other lease is waited for.
      let wait = try await announced ?? 0
      #expect(wait > 500 && hub.received().count == 5)
    }
  }

  @Test("One refused feed of many counts as a failure of the hub, whatever becomes of the others")
  func refusedOfMany() async throws {
    try await Self.withHub { hub in
      try await hub.publish(inTopics: 6)
      hub.web.respond { request in
        FaultResponse(status: String(decoding: request.body, as: UTF8.self).contains("example%2Ffeed.atom") ? 404 : 200)
      }
      #expect(try await hub.announce().count == 21)
      #expect(hub.server.store.hubActivity.announcementFailures == 1)
      hub.advance(29)
      #expect(try await hub.announce() == [])
    }
  }

  @Test("A hub may ask for a wait of a day at most")
  func longWait() async throws {
    try await Self.withHub { hub in
      hub.web.respond { _ in FaultResponse(status: 503, headers: [("Retry-After", "1000000")]) }
      _ = try await hub.server.publish("x")
      #expect(try await !hub.announce().isEmpty)
      hub.advance(86_399)
      #expect(try await hub.announce() == [])
      hub.advance(2)
      #expect(try await !hub.announce().isEmpty)
    }
  }

  @Test("Several processes announce each feed once")
  func severalProcesses() async throws {
    try await Self.withHub { hub in
      try await hub.publish(inTopics: 10)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for announcer in [hub.announcer, hub.other, hub.announcer] {
          group.addTask { try await announcer.announceDue() }
        }
        try await group.waitForAll()
      }
      let received = hub.received()
      #expect(received.count == 33 && Set(received).count == 33)
    }
  }

  @Test("More feeds than are announced at a time are announced one after the other, without a wait")
  func manyFeeds() async throws {
    try await Self.withHub { hub in
      try await hub.publish(inTopics: 66)
      let received = try await hub.announce()
      #expect(received.count > NewsStore.maximumAnnouncements && received.count == 201 && Set(received).count == 201)
    }
  }

  @Test("A process that is stopped during an announcement leaves it to another one at once")
  func stopped() async throws {
    try await Self.withHub { hub in
      hub.web.respond { _ in FaultResponse().hanging(at: .start) }
      _ = try await hub.server.publish("x")
      let stopped = Task { try await hub.announcer.announceDue() }
      try await eventually("the hub is asked for each feed") { hub.web.requests.count == Self.feed.count }
      stopped.cancel()
      await #expect(throws: (any Error).self) { try await stopped.value }
      hub.web.respond { _ in FaultResponse(status: 204) }
      _ = hub.received()
      try await hub.other.announceDue()
      #expect(hub.received() == Self.feed)
    }
  }

  @Test("While an announcer runs, each change is announced within seconds")
  func running() async throws {
    try await Self.withHub { hub in
      let running = Task { await hub.announcer.run() }
      defer { running.cancel() }
      for round in 1...2 {
        let began = ContinuousClock.now
        _ = try await hub.server.publish("x")
        try await eventually("the feeds are announced") { hub.web.requests.count == 3 * round }
        // Without a change, the database is read once a minute.
        #expect(ContinuousClock.now - began < .seconds(40))
        try await eventually("the lease has ended") {
          try await !hub.server.sql.query("SELECT 1 FROM announcing_hubs WHERE lease IS NULL").isEmpty
        }
        hub.advance(11)
      }
    }
  }

  @Test("A new hub is told of the changes of the last hour only")
  func newHub() async throws {
    try await Self.withHub { hub in
      try await hub.server.makeTopics(["old", "recent"])
      _ = try await hub.server.publish("x", topics: ["old", "recent"])
      for (scope, minutes) in [("old", 120), ("recent", 50)] {
        _ = try await hub.server.sql.query(
          "UPDATE scopes SET changed_at = changed_at - make_interval(mins => \(minutes)::int) WHERE scope = \(scope)")
      }
      #expect(try await hub.announce() == Self.feed + Self.feed.map { "/topics/recent\($0)" })
      _ = try await hub.server.publish("y", topics: ["old"])
      hub.advance(11)
      #expect(try await hub.announce() == Self.feed + Self.feed.map { "/topics/old\($0)" })
    }
  }
}
