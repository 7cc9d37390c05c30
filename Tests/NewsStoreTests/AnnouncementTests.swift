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

  @Test("The feeds of a topic that was deleted are not announced")
  func deletedTopic() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sea", "sky")
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
