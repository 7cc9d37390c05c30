import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct SubscriptionLeaseTests {
  private static let start = Date(timeIntervalSince1970: 2_000_000_000)

  private static func make(_ store: NewsStore, _ count: Int) async throws -> [UUID] {
    var ids: [UUID] = []
    for number in 0..<count {
      let id = UUID()
      _ = try await store.createSubscription(id, SubscriptionContent(url: "https://feeds.example/\(number)"))
      ids.append(id)
    }
    return ids
  }

  @Test("Concurrent processes take each feed that is due once")
  func once() async throws {
    try await NewsDatabase.withStore { store, _ in
      let ids = try await Self.make(store, 20)
      let taken = try await withThrowingTaskGroup(of: UUID?.self) { group in
        for _ in 0..<40 {
          group.addTask {
            // A row that another process takes at the same time is skipped, so that there may be a further one.
            for _ in 0..<5 {
              if let lease = try await store.leaseSubscription(for: 60, at: Self.start) { return lease.subscription.id }
            }
            return nil
          }
        }
        return try await group.reduce(into: [UUID]()) { taken, id in if let id { taken.append(id) } }
      }
      #expect(taken.count == 20 && Set(taken) == Set(ids))
    }
  }

  @Test("The feed that is due for the longest time comes first")
  func order() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = try await Self.make(store, 3)
      for (id, seconds) in zip(ids, [10.0, 30, 20]) {
        _ = try await sql.query("UPDATE subscriptions SET next_poll = \(Self.start - seconds) WHERE id = \(id)")
      }
      for id in [ids[1], ids[2], ids[0]] {
        #expect(try await store.leaseSubscription(for: 60, at: Self.start)?.subscription.id == id)
      }
    }
  }

  @Test("An extension makes a lease longer, and never shorter")
  func extended() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await Self.make(store, 1)
      let lease = try #require(try await store.leaseSubscription(for: 300, at: Self.start))
      #expect(try await store.extendLease(lease, by: 60, at: Self.start + 10))
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 299) == nil)
      #expect(try await store.extendLease(lease, by: 300, at: Self.start + 299))
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 598) == nil)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 599) != nil)
    }
  }

  @Test("The lease of a dead process ends, and its late outcome is ignored")
  func takenOver() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      let first = try #require(try await store.leaseSubscription(for: 60, at: Self.start))
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 59) == nil)
      let second = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 60))
      #expect(try await store.extendLease(first, by: 60) == false)
      try await store.releaseLease(first, wait: 0, at: Self.start + 60)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 61) == nil)
      var failure = PollOutcome(wait: 1)
      failure.failure = (status: 500, message: "late")
      try await store.finishPoll(first, failure, at: Self.start + 61)
      #expect(try await store.subscription(id).lastError == nil)
      try await store.finishPoll(second, PollOutcome(wait: 600), at: Self.start + 62)
      let subscription = try await store.subscription(id)
      #expect(subscription.lastSuccess == Self.start + 62 && subscription.nextPoll == Self.start + 662)
      #expect(subscription.revision == 1)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 661) == nil)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 662) != nil)
    }
  }

  @Test("A new address is stored. If another subscription has it, this one is paused")
  func moved() async throws {
    try await NewsDatabase.withStore { store, _ in
      let ids = try await Self.make(store, 2)
      var outcome = PollOutcome(wait: 600)
      outcome.movedTo = "https://new.example/"
      (outcome.title, outcome.language) = ("Port", "de")
      for id in ids {
        let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
        try await store.finishPoll(lease, outcome, at: Self.start)
      }
      let (first, second) = (try await store.subscription(ids[0]), try await store.subscription(ids[1]))
      #expect(first.url == "https://new.example/" && first.revision == 2 && first.lastError == nil)
      #expect(first.title == "Port" && first.language == "de")
      #expect(second.url == "https://feeds.example/1" && second.revision == 2 && second.paused)
      let owner = ids[0].uuidString.lowercased()
      #expect(
        second.lastError?.message == "the feed is at https://new.example/, which the subscription \(owner) follows")
      #expect(second.lastSuccess == nil)
      #expect(store.polls.failed == 1 && store.polls.unchanged == 1)
      // The status belongs to another failure.
      var gone = outcome
      gone.failure = (status: 410, message: "gone")
      let again = try #require(try await store.leaseSubscription(for: 60, only: ids[1], at: Self.start))
      try await store.finishPoll(again, gone, at: Self.start)
      let error = try await store.subscription(ids[1]).lastError
      #expect(error?.message == second.lastError?.message && error?.status == nil)
      // Editors' values stay, and an address that is the same is no change.
      let lease = try #require(try await store.leaseSubscription(for: 60, only: ids[0], at: Self.start))
      (outcome.title, outcome.language) = ("Harbour", "en")
      try await store.finishPoll(lease, outcome, at: Self.start)
      let third = try await store.subscription(ids[0])
      #expect(third.title == "Port" && third.language == "de" && third.revision == 2)
    }
  }

  @Test("A poll on request comes at once, after the end of one that is under way, and not before Retry-After")
  func requested() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      let first = try #require(try await store.leaseSubscription(for: 60, at: Self.start))
      _ = try await store.requestPoll(id)
      var outcome = PollOutcome(wait: 600)
      try await store.finishPoll(first, outcome, at: Self.start + 1)
      #expect(try await store.subscription(id).nextPoll == Self.start + 1)

      outcome.retryAfter = 500
      let second = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 1))
      try await store.finishPoll(second, outcome, at: Self.start + 1)
      #expect(try await store.subscription(id).nextPoll == Self.start + 601)
      #expect(try await store.requestPoll(id).nextPoll == Self.start + 501)
      let third = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 501))
      #expect(third.notBefore == Self.start + 501)
      try await store.releaseLease(third, wait: 60, at: Self.start + 502)
      #expect(try await store.subscription(id).nextPoll == Self.start + 562)

      let paused = try await store.modifySubscription(id, if: .exists) { subscription in
        var content = SubscriptionContent(subscription)
        content.paused = true
        return content
      }
      #expect(paused.paused)
      await #expect(throws: StoreError.subscriptionPaused) { try await store.requestPoll(id) }
      await #expect(throws: StoreError.notFound) { try await store.requestPoll(UUID()) }
      // Resuming is no way around the wait either.
      let resumed = try await store.modifySubscription(id, if: .exists) { subscription in
        var content = SubscriptionContent(subscription)
        content.paused = false
        return content
      }
      #expect(resumed.nextPoll == Self.start + 501)
      // A poll that is given back is the one that was asked for, and no further one follows it.
      let fourth = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 501))
      try await store.releaseLease(fourth, wait: 60, at: Self.start + 502)
      let fifth = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 562))
      try await store.finishPoll(fifth, PollOutcome(wait: 600), at: Self.start + 563)
      #expect(try await store.subscription(id).nextPoll == Self.start + 1163)
      // The server has asked for no wait any more, so that the time is that of the database, long before the start.
      let requested = try await store.requestPoll(id)
      #expect(try #require(requested.nextPoll) < Self.start)
    }
  }

  @Test(
    "A poll on request during another one follows it at once, and not before Retry-After of that one",
    arguments: [false, true])
  func requestedDuringPoll(fails: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      let lease = try #require(try await store.leaseSubscription(for: 60, at: Self.start))
      _ = try await store.requestPoll(id)
      var outcome = PollOutcome(wait: 600)
      outcome.retryAfter = 500
      if fails { outcome.failure = (status: 503, message: "busy") }
      try await store.finishPoll(lease, outcome, at: Self.start + 1)
      #expect(try await store.subscription(id).nextPoll == Self.start + 501)
    }
  }

  private static func change(
    _ store: NewsStore, _ id: UUID, _ change: @escaping @Sendable (inout SubscriptionContent) -> Void
  ) async throws {
    _ = try await store.modifySubscription(id, if: .exists) { subscription in
      var content = SubscriptionContent(subscription)
      change(&content)
      return content
    }
  }

  @Test("A feed with a new address begins afresh, and a poll of the former address has no effect")
  func newAddress() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      var outcome = PollOutcome(wait: 600)
      (outcome.validators, outcome.pacing, outcome.retryAfter) = (("\"1\"", "x"), Data("{}".utf8), 500)
      let first = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.finishPoll(first, outcome, at: Self.start)
      let former = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 10))
      #expect(former.etag == "\"1\"" && former.lastModified == "x" && former.pacing != nil)
      try await Self.change(store, id) { $0.url = "https://other.example/" }
      #expect(try await store.subscription(id).lastSuccess == nil)
      let new = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 11))
      #expect(new.etag == nil && new.lastModified == nil && new.pacing == nil)
      #expect(new.notBefore == nil, "the wait was that of the former server")
      try await store.finishPoll(former, outcome, at: Self.start + 12)
      #expect(try await store.subscription(id).lastSuccess == nil)
    }
  }

  @Test("The failure, the losses and the new items of a feed are not those of its new address, which is polled at once")
  func newAddressOfFailingFeed() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      var (outcome, losses) = (PollOutcome(wait: 600), PollLosses())
      losses.add("an entry has no text")
      outcome.failure = (status: 404, message: "not found")
      outcome.losses = losses
      outcome.entries.inserted = 7
      let first = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.finishPoll(first, outcome, at: Self.start)
      let former = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 10))
      #expect(former.failures == 1 && former.newItems == 7 && former.subscription.losses?.count == 1)
      try await Self.change(store, id) { $0.url = "https://other.example/" }
      let changed = try await store.subscription(id)
      #expect(changed.lastError == nil && changed.losses == nil)
      // The time of the change is that of the database, long before the start.
      #expect(try #require(changed.nextPoll) < Self.start)
      let new = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 11))
      #expect(new.failures == 0 && new.newItems == 0)
    }
  }

  @Test("A change of a feed other than its address has no effect on its polls")
  func otherChanges() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      var failure = PollOutcome(wait: 600)
      failure.failure = (status: 503, message: "busy")
      let first = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.finishPoll(first, failure, at: Self.start)
      try await Self.change(store, id) { $0.title = "Port" }
      #expect(try await store.subscription(id).nextPoll == Self.start + 600)
      let second = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 600))
      #expect(second.failures == 1)
      try await Self.change(store, id) { $0.language = "de" }
      try await store.finishPoll(second, PollOutcome(wait: 600), at: Self.start + 601)
      let polled = try await store.subscription(id)
      #expect(polled.lastSuccess == Self.start + 601 && polled.nextPoll == Self.start + 1201)
      #expect(polled.title == "Port" && polled.language == "de" && polled.revision == 3)
    }
  }

  @Test("A feed that another process is taking at this moment is passed over, and nobody waits for it")
  func locked() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = try await Self.make(store, 2)
      _ = try await sql.query("UPDATE subscriptions SET next_poll = '2020-01-01Z' WHERE id = \(ids[0])")
      let taken = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM subscriptions WHERE id = \(ids[0]) FOR UPDATE")
        return try await store.leaseSubscription(for: 60, at: Self.start)?.subscription.id
      }
      #expect(taken == ids[1])
      // A request does not put it behind feeds that are due for a shorter time.
      #expect(try await store.requestPoll(ids[0]).nextPoll == Date(timeIntervalSince1970: 1_577_836_800))
    }
  }

  @Test(
    "A write waits for another one of the feed, and is refused if it was made for the revision before",
    arguments: [false, true])
  func concurrentWrites(removes: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      let id = try await Self.make(store, 1)[0]
      let write = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE subscriptions SET revision = revision + 1 WHERE id = \(id)")
        let write = Task<Void, any Error> {
          if removes { return try await store.removeSubscription(id, if: .revisions([1])) }
          _ = try await store.modifySubscription(id, if: .revisions([1])) { subscription in
            var content = SubscriptionContent(subscription)
            content.title = "Port"
            return content
          }
        }
        try await eventually("the write waits") {
          let waiting = try await sql.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
          return !waiting.isEmpty
        }
        return write
      }
      await #expect(throws: StoreError.preconditionFailed) { try await write.value }
      #expect(try await store.subscription(id).title == nil)
    }
  }

  @Test("A resumed feed has no failures, and is polled again at once if a poll is under way")
  func resumed() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      var failure = PollOutcome(wait: 10)
      failure.failure = (status: 503, message: "busy")
      for second in [0.0, 10] {
        let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + second))
        try await store.finishPoll(lease, failure, at: Self.start + second)
      }
      for paused in [true, false] { try await Self.change(store, id) { $0.paused = paused } }
      let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 20))
      #expect(lease.failures == 0)
      for paused in [true, false] { try await Self.change(store, id) { $0.paused = paused } }
      try await store.finishPoll(lease, PollOutcome(wait: 600), at: Self.start + 21)
      #expect(try await store.subscription(id).nextPoll == Self.start + 21)
    }
  }

  @Test("Subscriptions are counted by the success of their polls, with the longest delay of a poll")
  func counts() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = try await Self.make(store, 7)
      _ = try await sql.query("UPDATE subscriptions SET next_poll = \(Self.start)")
      _ = try await sql.query("UPDATE subscriptions SET failures = 3 WHERE id = \(ids[0])")
      _ = try await sql.query("UPDATE subscriptions SET failures = 2 WHERE id = \(ids[1])")
      _ = try await sql.query(
        "UPDATE subscriptions SET failures = 9, paused = true, next_poll = '2020-01-01Z' WHERE id = \(ids[2])")
      _ = try await sql.query("UPDATE subscriptions SET paused = true WHERE id = \(ids[6])")
      _ = try await sql.query(
        "UPDATE subscriptions SET failures = 1, next_poll = \(Self.start + 60) WHERE id = \(ids[5])")
      try await store.countSubscriptions(at: Self.start - 60)
      #expect(store.polls.subscriptions.overdueSeconds == 0, "no poll is due")
      // A poll under way is not late.
      _ = try #require(try await store.leaseSubscription(for: 600, only: ids[3], at: Self.start + 10))
      _ = try await sql.query("UPDATE subscriptions SET next_poll = '2020-01-01Z' WHERE id = \(ids[3])")
      try await store.countSubscriptions(at: Self.start + 120)
      let counts = store.polls.subscriptions
      #expect(counts.working == 4 && counts.failing == 1 && counts.paused == 2)
      #expect(counts.overdueSeconds == 120)
      try await store.countSubscriptions(at: Self.start + 611)
      #expect(store.polls.subscriptions.overdueSeconds > 1e8, "the process of the poll under way has died")
      // Feeds that work come first if there is little room.
      let healthy = try await store.leaseSubscription(for: 60, skipsFailing: true, at: Self.start + 120)
      #expect(healthy?.subscription.id == ids[4])
      #expect(try await store.leaseSubscription(for: 60, skipsFailing: true, at: Self.start + 120) == nil)
    }
  }

  @Test("Failures are counted until a success, and a feed that is gone is paused")
  func failures() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      var failure = PollOutcome(wait: 10)
      failure.failure = (status: 503, message: "busy")
      for count in 0..<3 {
        let lease = try #require(
          try await store.leaseSubscription(for: 60, at: Self.start + Double(count) * 10))
        #expect(lease.failures == count)
        try await store.finishPoll(lease, failure, at: Self.start + Double(count) * 10)
      }
      let failing = try await store.subscription(id)
      #expect(failing.lastError == .init(at: Self.start + 20, status: 503, message: "busy"))
      func failingFeeds() async throws -> [UUID] {
        try await store.subscriptions(SubscriptionQuery(health: .failing)).subscriptions.map(\.subscription.id)
      }
      #expect(try await failingFeeds() == [id])
      let success = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 30))
      try await store.finishPoll(success, PollOutcome(wait: 10), at: Self.start + 30)
      #expect(try await store.subscription(id).lastError == nil)
      #expect(try await failingFeeds().isEmpty)
      let lease = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 40))
      #expect(lease.failures == 0)
      failure.pauses = true
      try await store.finishPoll(lease, failure, at: Self.start + 40)
      let paused = try await store.subscription(id)
      #expect(paused.paused && paused.nextPoll == nil && paused.revision == 2)
      // A command may poll it, which does not resume it.
      let byHand = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 50))
      try await store.finishPoll(byHand, PollOutcome(wait: 10), at: Self.start + 50)
      #expect(try await store.subscription(id).paused)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 1e6) == nil)
    }
  }
}
