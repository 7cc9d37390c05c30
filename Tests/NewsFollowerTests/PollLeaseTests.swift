import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestKit
import Testing

/// The polls under way at a time, and the time for which one has its feed.
@Suite struct PollLeaseTests {
  @Test("At most 16 feeds are polled at a time")
  func width() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse().hanging(at: .start) }
      for number in 0..<24 { _ = try await followed.subscribe("/\(number)") }
      async let polls: Void = followed.follower.pollDue()
      var most = 0
      try await eventually("all feeds are requested") {
        let rows = try await followed.sql.query("SELECT count(*) FROM subscriptions WHERE lease IS NOT NULL")
        let running = try #require(rows.first).decode(0, as: Int.self)
        most = max(most, running)
        return followed.server.requests.count == 24
      }
      try await polls
      #expect(most <= 16)
    }
  }

  @Test("A poll has its feed for five more minutes when it begins to store entries")
  func stored() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in
        followed.advance(100)
        return Followed.feed(["a"])
      }
      let id = try await followed.subscribe("/feed")
      let poll = try await followed.sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
        let poll = Task { try await followed.poll(id) }
        try await eventually("the time is extended") {
          let end = Followed.start + 400
          return try await !followed.sql.query("SELECT 1 FROM subscriptions WHERE leased_until = \(end)").isEmpty
        }
        return poll
      }
      #expect(try await poll.value.lastError == nil)
    }
  }

  @Test("A poll that another process has taken over after five minutes stores nothing", arguments: [true, false])
  func takenOver(isByHand: Bool) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]).hanging(at: .start) }
      let id = try await followed.subscribe("/feed")
      @Sendable func poll() async throws {
        if isByHand { _ = try await followed.follower.poll(id) } else { try await followed.follower.pollDue() }
      }
      async let attempt: Void = poll()
      try await eventually("the feed is requested") { !followed.server.requests.isEmpty }
      let store = followed.store
      #expect(try await store.leaseSubscription(for: 60, only: id, at: Followed.start + 299) == nil)
      #expect(try await store.leaseSubscription(for: 60, only: id, at: Followed.start + 300) != nil)
      followed.server.release()
      try await attempt
      let subscription = try await store.subscription(id)
      #expect(subscription.lastSuccess == nil && subscription.lastError == nil)
      #expect(try await followed.titles() == [])
    }
  }
}
