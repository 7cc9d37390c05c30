import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The right to announce changed feeds to a hub, which one process has at a time.
@Suite struct AnnouncementTests {
  private static let start = Date(timeIntervalSince1970: 2_000_000_000)
  private static let feeds = AnnouncedFeeds(
    hub: "https://hub.example/", base: "https://news.example", names: ["feed.atom", "feed.rss"])

  /// Publishes an item after the hub was added.
  private static func publish(_ store: NewsStore, _ sql: PostgresPool, topics: [String] = []) async throws {
    #expect(try await store.leaseAnnouncements(feeds, at: start).lease == nil)
    try await sql.publish([UUID(1)], topics: topics)
  }

  private static func lease(_ store: NewsStore, at second: Double) async throws -> AnnouncementLease {
    try #require(try await store.leaseAnnouncements(feeds, at: start + second).lease)
  }

  @Test("The lease of a dead process is taken over, and whatever that process does later has no effect")
  func takenOver() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.publish(store, sql)
      let lost = try await Self.lease(store, at: 0)
      #expect(lost.feeds.map(\.url) == ["https://news.example/feed.atom", "https://news.example/feed.rss"])
      let early = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 179)
      #expect(early.lease == nil && early.wait == 1)
      let lease = try await Self.lease(store, at: 180)
      #expect(try await !store.noteAnnouncement(of: lost.feeds[0], isAccepted: true, lost, at: Self.start + 181))
      try await store.finishAnnouncements(lost, hasFailed: true, wait: 9999, at: Self.start + 182)
      try await store.releaseAnnouncements(lost)
      let busy = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 183)
      #expect(busy.lease == nil && busy.wait == 177)
      for feed in lease.feeds {
        #expect(try await store.noteAnnouncement(of: feed, isAccepted: true, lease, at: Self.start + 184))
      }
      try await store.finishAnnouncements(lease, hasFailed: false, wait: 10, at: Self.start + 185)
      let done = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 200)
      #expect(done.lease == nil && done.wait == nil)
    }
  }

  @Test("Each announcement prolongs a lease, and a change during it is announced again")
  func prolongation() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.publish(store, sql)
      let lease = try await Self.lease(store, at: 0)
      try await sql.publish([UUID(2)])
      #expect(try await store.noteAnnouncement(of: lease.feeds[0], isAccepted: true, lease, at: Self.start + 100))
      let early = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 270)
      #expect(early.lease == nil && early.wait == 10)
      try await store.finishAnnouncements(lease, hasFailed: false, wait: 50, at: Self.start + 271)
      let pause = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 300)
      #expect(pause.lease == nil && pause.wait == 21)
      #expect(
        Set(try await Self.lease(store, at: 321).feeds.map(\.url)) == [
          "https://news.example/feed.atom", "https://news.example/feed.rss",
        ])
    }
  }

  @Test("What one hub was told, has refused or is told at this moment has no effect on another hub")
  func twoHubs() async throws {
    try await NewsDatabase.withStore { store, sql in
      var others = Self.feeds
      others.hub = "https://another.example/"
      #expect(try await store.leaseAnnouncements(others, at: Self.start).lease == nil)
      try await Self.publish(store, sql)
      let first = try await Self.lease(store, at: 0)
      let other = try #require(try await store.leaseAnnouncements(others, at: Self.start).lease)
      #expect(first.feeds.count == 2 && other.feeds.map(\.url) == first.feeds.map(\.url))
      for feed in first.feeds {
        #expect(try await store.noteAnnouncement(of: feed, isAccepted: true, first, at: Self.start))
        #expect(try await store.noteAnnouncement(of: feed, isAccepted: false, other, at: Self.start))
      }
      try await store.finishAnnouncements(first, hasFailed: false, wait: 10, at: Self.start)
      try await store.finishAnnouncements(other, hasFailed: true, wait: 500, at: Self.start)
      let done = try await store.leaseAnnouncements(Self.feeds, at: Self.start + 20)
      #expect(done.lease == nil && done.wait == nil && store.hubActivity.announcementFailures == 0)
      let early = try await store.leaseAnnouncements(others, at: Self.start + 20)
      #expect(early.lease == nil && early.wait == 480 && store.hubActivity.announcementFailures == 1)
      let again = try #require(try await store.leaseAnnouncements(others, at: Self.start + 500).lease)
      #expect(again.failures == 1 && again.feeds.map(\.failures) == [1, 1])
    }
  }

  @Test("Nobody waits for a process that is taking the lease at this moment")
  func locked() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.publish(store, sql)
      let answer = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM announcing_hubs FOR UPDATE")
        return try await store.leaseAnnouncements(Self.feeds, at: Self.start + 5)
      }
      #expect(answer.lease == nil && answer.wait == 0)
    }
  }

  @Test("At most 200 feeds are announced in one lease, and the others in the next one")
  func many() async throws {
    try await NewsDatabase.withStore { store, sql in
      #expect(try await store.leaseAnnouncements(Self.feeds, at: Self.start).lease == nil)
      _ = try await sql.query(
        "INSERT INTO scopes (scope, version) SELECT 't' || n, 1 FROM generate_series(1, 101) AS n")
      _ = try await sql.query("INSERT INTO topics (slug) SELECT 't' || n FROM generate_series(1, 101) AS n")
      let first = try await Self.lease(store, at: 0)
      #expect(first.feeds.count == 200)
      for feed in first.feeds {
        #expect(try await store.noteAnnouncement(of: feed, isAccepted: true, first, at: Self.start))
      }
      try await store.finishAnnouncements(first, hasFailed: false, wait: 0, at: Self.start)
      let second = try await Self.lease(store, at: 0)
      #expect(second.feeds.count == 2)
      #expect(Set(second.feeds.map(\.url)).isDisjoint(with: first.feeds.map(\.url)))
    }
  }

  @Test("Feeds that the hub has refused come last")
  func order() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.publish(store, sql)
      let first = try await Self.lease(store, at: 0)
      #expect(try await store.noteAnnouncement(of: first.feeds[0], isAccepted: false, first, at: Self.start))
      try await store.finishAnnouncements(first, hasFailed: true, wait: 30, at: Self.start)
      #expect(store.hubActivity.announcementFailures == 1)
      let second = try await Self.lease(store, at: 30)
      #expect(first.failures == 0 && second.failures == 1)
      #expect(second.feeds.map(\.failures) == [0, 1])
      #expect(second.feeds.map(\.url) == ["https://news.example/feed.rss", "https://news.example/feed.atom"])
      try await store.finishAnnouncements(second, hasFailed: false, wait: 0, at: Self.start + 30)
      #expect(store.hubActivity.announcementFailures == 0)
      #expect(try await Self.lease(store, at: 30).failures == 0)
    }
  }

  @Test("The feeds of a topic that was deleted, or that never had an item, are not announced")
  func deletedTopic() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sea", "sky", "air")
      try await Self.publish(store, sql, topics: ["sea", "sky"])
      _ = try await sql.query("DELETE FROM topics WHERE slug = 'sea'")
      let urls = try await Self.lease(store, at: 0).feeds.map(\.url)
      #expect(
        urls.map { $0.dropFirst(Self.feeds.base.count) } == [
          "/feed.atom", "/feed.rss", "/topics/sky/feed.atom", "/topics/sky/feed.rss",
        ])
    }
  }
}
