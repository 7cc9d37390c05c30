import Foundation
import News
import NewsStore
import PostgresClient
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

  @Test("The lease of a dead process ends, and its late outcome is ignored")
  func takenOver() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, 1)[0]
      let first = try #require(try await store.leaseSubscription(for: 60, at: Self.start))
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 59) == nil)
      let second = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 60))
      #expect(try await store.extendLease(first, by: 60) == false)
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
      #expect(second.lastError?.message.contains(ids[0].uuidString.lowercased()) == true && second.lastSuccess == nil)
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
    }
  }

  @Test("Subscriptions are counted by the success of their polls, with the longest delay of a poll")
  func counts() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = try await Self.make(store, 5)
      _ = try await sql.query("UPDATE subscriptions SET next_poll = \(Self.start)")
      _ = try await sql.query("UPDATE subscriptions SET failures = 3 WHERE id = \(ids[0])")
      _ = try await sql.query("UPDATE subscriptions SET failures = 2 WHERE id = \(ids[1])")
      _ = try await sql.query(
        "UPDATE subscriptions SET failures = 9, paused = true, next_poll = '2020-01-01Z' WHERE id = \(ids[2])")
      // A poll under way is not late.
      _ = try #require(try await store.leaseSubscription(for: 600, only: ids[3], at: Self.start + 10))
      _ = try await sql.query("UPDATE subscriptions SET next_poll = '2020-01-01Z' WHERE id = \(ids[3])")
      try await store.countSubscriptions(at: Self.start + 120)
      let counts = store.polls.subscriptions
      #expect(counts.working == 3 && counts.failing == 1 && counts.paused == 1)
      #expect(counts.overdueSeconds == 120)
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
      let lease = try #require(try await store.leaseSubscription(for: 60, at: Self.start + 30))
      failure.pauses = true
      try await store.finishPoll(lease, failure, at: Self.start + 30)
      let paused = try await store.subscription(id)
      #expect(paused.paused && paused.nextPoll == nil && paused.revision == 2)
      #expect(try await store.leaseSubscription(for: 60, at: Self.start + 1e6) == nil)
    }
  }
}
