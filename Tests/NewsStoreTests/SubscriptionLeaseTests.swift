import Foundation
import News
import NewsStore
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

  @Test("A permanent redirect becomes the address, unless another subscription has it")
  func moved() async throws {
    try await NewsDatabase.withStore { store, _ in
      let ids = try await Self.make(store, 2)
      var outcome = PollOutcome(wait: 600)
      outcome.movedTo = "https://new.example/"
      for id in ids {
        let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
        try await store.finishPoll(lease, outcome, at: Self.start)
      }
      let (first, second) = (try await store.subscription(ids[0]), try await store.subscription(ids[1]))
      #expect(first.url == "https://new.example/" && first.revision == 2)
      #expect(second.url == "https://feeds.example/1" && second.revision == 1)
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
