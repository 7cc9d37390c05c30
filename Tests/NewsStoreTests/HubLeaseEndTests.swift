import BackgroundWork
import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Leases that are denied, ended or not confirmed, and work on a lease at the same time.
@Suite struct HubLeaseEndTests {
  private static let start = Date(timeIntervalSince1970: 2_000_000_000)
  private static let callbacks = "https://news.example/v1/websub/"
  private static let hub = "https://hub1.example/"

  private static func topic(_ name: String) -> String { "https://feeds.example/\(name)" }

  private static func token(_ request: HubRequest) -> String { String(request.callback.suffix(22)) }

  /// Creates a subscription whose feed names hubs, with a lease that was not requested yet.
  ///
  /// - Parameter second: The time at which the lease begins, after the start.
  private static func offer(
    _ store: NewsStore, _ name: String = "a", hubs count: Int = 1, at second: Double = 0
  ) async throws -> UUID {
    let id = UUID()
    _ = try await store.createSubscription(id, SubscriptionContent(url: topic(name)))
    let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: start))
    try await store.noteHubs((1...count).map { "https://hub\($0).example/" }, topic: topic(name), of: poll)
    try await store.finishPoll(poll, PollOutcome(wait: 3600), at: start)
    try await store.planHubLeases(callbacks: callbacks, at: start + second)
    return id
  }

  /// Creates a subscription with an active lease of a day.
  private static func make(
    _ store: NewsStore, _ name: String = "a", hubs count: Int = 1
  ) async throws -> (id: UUID, request: HubRequest) {
    let id = try await offer(store, name, hubs: count)
    let request = try #require(try await store.leaseHubRequest(for: 60, at: start))
    #expect(try await store.confirmHubLease(token(request), .subscribe, topic: topic(name), seconds: 86_400, at: start))
    try await store.finishHubRequest(request, failure: nil, at: start)
    return (id, request)
  }

  private static func poll(_ store: NewsStore, _ id: UUID, wait: Double, at second: Double) async throws -> Date? {
    let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: start + second))
    try await store.finishPoll(lease, PollOutcome(wait: wait), at: start + second)
    return try await store.subscription(id).nextPoll
  }

  @Test("A feed that has left its hub is polled regularly, or soon after a notice, whatever leases other feeds have")
  func left() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store, "a").id
      let (other, request) = try await Self.make(store, "b")
      for id in [id, other] {
        #expect(try await Self.poll(store, id, wait: 3600, at: 100) == Self.start + 100 + 4 * 3600)
      }
      let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 200))
      try await store.noteHubs([], topic: nil, of: lease)
      try await store.releaseLease(lease, wait: 0, at: Self.start + 200)
      // The lease has not expired, but its end is sent to the hub.
      try await store.planHubLeases(callbacks: Self.callbacks, at: Self.start + 201)
      #expect(try await store.subscription(id).nextPoll == Self.start + 100 + 3600)
      #expect(try await store.subscription(other).nextPoll == Self.start + 100 + 4 * 3600)
      #expect(try await Self.poll(store, id, wait: 3600, at: 300) == Self.start + 300 + 3600)
      // A hub makes polls no rarer than once a day.
      #expect(try await Self.poll(store, other, wait: 40_000, at: 300) == Self.start + 300 + 86_400)
      try await store.noteHubNotice(Self.token(request), at: Self.start + 400)
      try await store.planHubLeases(callbacks: nil, at: Self.start + 401)
      #expect(try await store.subscription(other).nextPoll == Self.start + 400)
    }
  }

  @Test("The end of a lease is no way around the wait that the server of the feed asks for")
  func retryAfter() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store).id
      #expect(try await Self.poll(store, id, wait: 3600, at: 100) == Self.start + 100 + 4 * 3600)
      func interruptedPoll(at second: Double, retryAfter: Double?) async throws {
        let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + second))
        try await store.releaseLease(lease, wait: 600, retryAfter: retryAfter, at: Self.start + second)
      }
      try await interruptedPoll(at: 200, retryAfter: 10_000)
      try await store.planHubLeases(callbacks: nil, at: Self.start + 300)
      #expect(try await store.subscription(id).nextPoll == Self.start + 10_200)
      // The time of the regular poll has no effect on later polls.
      try await interruptedPoll(at: 10_300, retryAfter: nil)
      try await store.planHubLeases(callbacks: nil, at: Self.start + 10_400)
      #expect(try await store.subscription(id).nextPoll == Self.start + 10_900)
    }
  }

  @Test("A notice has no other feed polled than its own")
  func otherFeed() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store, "a")
      let other = try await Self.make(store, "b").id
      try await store.noteHubNotice(Self.token(request), at: Self.start + 1000)
      #expect(try await store.subscription(id).nextPoll == Self.start + 1000)
      let untouched = try await store.subscription(other)
      #expect(untouched.nextPoll == Self.start + 3600 && untouched.websub?.lastNotice == nil)
    }
  }

  @Test(
    "Failures are forgotten with the confirmation or the end of a lease, an unconfirmed request too",
    arguments: [true, false])
  func forgottenFailures(isConfirmed: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.offer(store)
      var now = Self.start
      let first = try #require(try await store.leaseHubRequest(for: 60, at: now))
      try await store.finishHubRequest(first, failure: HubFailure(message: "busy", wait: 10), at: now)
      now += 10
      let second = try #require(try await store.leaseHubRequest(for: 60, at: now))
      #expect(second.failures == 1)
      try await store.finishHubRequest(second, failure: nil, at: now)
      // Until the hub has confirmed the lease, editors see why that takes time.
      #expect(try await store.subscription(id).websub?.error == "busy")
      let mode: HubActivity.Mode
      if isConfirmed {
        mode = .subscribe
        #expect(
          try await store.confirmHubLease(
            Self.token(second), .subscribe, topic: Self.topic("a"), seconds: 86_400, at: now + 1))
        now += 80_000
      } else {
        mode = .unsubscribe
        try await store.removeSubscription(id, if: .exists)
        now += 1
        try await store.planHubLeases(callbacks: Self.callbacks, at: now)
      }
      let next = try #require(try await store.leaseHubRequest(for: 60, at: now))
      #expect(next.mode == mode && next.failures == 0)
    }
  }

  @Test("A request that another process is taking at this moment is passed over, and nobody waits for it")
  func locked() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await Self.offer(store, "a")
      _ = try await Self.offer(store, "b", at: 10)
      let topic = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM hub_leases WHERE topic = \(Self.topic("a")) FOR UPDATE")
        return try await store.leaseHubRequest(for: 60, at: Self.start + 10)?.topic
      }
      #expect(topic == Self.topic("b"))
    }
  }

  @Test("A lease that two processes begin at the same time is one")
  func begunTwice() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        """
        INSERT INTO subscriptions (id, url, state, hubs, hub_topic)
        VALUES (\(UUID(1)), 'https://feeds.example/a', 'draft', '{https://hub1.example/}', 'https://feeds.example/a')
        """)
      let planning = try await sql.transaction { transaction in
        _ = try await transaction.query(
          """
          INSERT INTO hub_leases (token, subscription, hub, topic, callback, secret, state, next_request)
          VALUES (repeat('x', 22), \(UUID(1)), 'https://hub1.example/', 'https://feeds.example/a', 'c', 's', 'pending',
            \(Self.start))
          """)
        let planning = Task { try await store.planHubLeases(callbacks: Self.callbacks, at: Self.start) }
        try await eventually("the second process waits") {
          let waiting = try await sql.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
          return !waiting.isEmpty
        }
        return planning
      }
      try await planning.value
      #expect(try await sql.value("SELECT token FROM hub_leases") == String(repeating: "x", count: 22))
      #expect(try await sql.value("SELECT count(*) FROM hub_leases") == 1)
    }
  }

  @Test("A hub that refuses the end of a lease is asked five times, and no other one in its place", arguments: [1, 2])
  func refusedEnd(hubs: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      let id = try await Self.make(store, hubs: hubs).id
      _ = try await store.modifySubscription(id, if: .exists) { subscription in
        var content = SubscriptionContent(subscription)
        content.paused = true
        return content
      }
      try await store.planHubLeases(callbacks: Self.callbacks, at: Self.start + 10)
      for attempt in 0..<5 {
        let now = Self.start + 10 * Double(attempt + 1)
        let request = try #require(try await store.leaseHubRequest(for: 60, at: now))
        #expect(request.mode == .unsubscribe && request.hub == Self.hub && request.failures == attempt)
        try await store.finishHubRequest(request, failure: HubFailure(message: "busy", wait: 10), at: now)
      }
      let late = Self.start + 200_000
      #expect(try await store.leaseHubRequest(for: 60, at: late) == nil)
      try await store.planHubLeases(callbacks: Self.callbacks, at: late)
      #expect(try await sql.query("SELECT 1 FROM hub_leases").isEmpty)
    }
  }

  @Test(
    "A lease at the only hub stays active while the hub fails, and is pending after a denial", arguments: [true, false])
  func onlyHub(isDenied: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.make(store).id
      var now = Self.start + 80_000
      var expected = Subscription.WebSub(hub: Self.hub, state: .pending, error: "full")
      if isDenied {
        let request = try #require(try await store.leaseHubRequest(for: 60, at: now))
        try await store.finishHubRequest(request, failure: nil, at: now)
        #expect(try await store.denyHubLease(Self.token(request), topic: Self.topic("a"), reason: "full", at: now))
      } else {
        for _ in 0..<5 {
          now += 1
          let request = try #require(try await store.leaseHubRequest(for: 60, at: now))
          try await store.finishHubRequest(request, failure: HubFailure(message: "full", wait: 1), at: now)
        }
        (expected.state, expected.leaseEnds) = (.active, Self.start + 86_400)
      }
      #expect(try await store.subscription(id).websub == expected)
      #expect(try await store.leaseHubRequest(for: 60, at: now + 86_399) == nil)
      let next = try #require(try await store.leaseHubRequest(for: 60, at: now + 86_400))
      #expect(next.mode == .subscribe && next.failures == 0)
    }
  }

  @Test(
    "A hub that has denied its lease is not told of the end, the next one is asked, and other leases stay",
    arguments: [1, 2])
  func denied(hubs: Int) async throws {
    try await NewsDatabase.withStore { store, _ in
      let other = try await Self.make(store, "b").id
      let before = try await store.subscription(other)
      let (_, request) = try await Self.make(store, hubs: hubs)
      let now = Self.start + 10
      _ = store.hubActivity.wake.take()
      #expect(try await store.denyHubLease(Self.token(request), topic: Self.topic("a"), reason: "full", at: now))
      #expect(store.hubActivity.wake.take(), "the next hub need not wait")
      var requests: [String] = []
      while let next = try await store.leaseHubRequest(for: 60, at: now), requests.count < 9 {
        requests.append("\(next.mode) \(next.hub)")
      }
      let expected: [String] = hubs == 1 ? [] : ["subscribe https://hub2.example/"]
      #expect(requests == expected)
      #expect(try await store.subscription(other) == before)
    }
  }

  @Test("A denial during a request counts, whatever the response to the request is", arguments: [true, false])
  func deniedDuringRequest(isAccepted: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await Self.offer(store)
      let request = try #require(try await store.leaseHubRequest(for: 60, at: Self.start))
      let denial = Self.start + 1
      #expect(
        try await store.denyHubLease(Self.token(request), topic: Self.topic("a"), reason: "full", at: denial))
      let failure = isAccepted ? nil : HubFailure(message: "no answer", wait: 60)
      try await store.finishHubRequest(request, failure: failure, at: denial + 1)
      #expect(try await store.nextHubRequest(at: denial) == 86_400)
      #expect(try await store.leaseHubRequest(for: 60, at: denial + 86_400)?.failures == 0)
    }
  }

  @Test("A lease whose last request was left by a dead process is kept until it is given up")
  func lastRequest() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await Self.offer(store)
      for second in [0.0, 10, 20, 30] {
        let request = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + second))
        let failure = HubFailure(message: "busy", wait: 10)
        try await store.finishHubRequest(request, failure: failure, at: Self.start + second)
      }
      let fifth = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + 40))
      try await store.finishHubRequest(fifth, failure: nil, at: Self.start + 40)
      let left = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + 3640))
      #expect(fifth.failures == 4 && left.failures == 5)
      try await store.planHubLeases(callbacks: Self.callbacks, at: Self.start + 3700)
      let next = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + 3700))
      #expect(next.callback == fifth.callback && next.failures == 5)
    }
  }

  @Test("A hub cannot deny what it was not asked")
  func deniedUnasked() async throws {
    try await NewsDatabase.withStore { store, sql in
      let id = try await Self.offer(store, hubs: 2)
      let token: String = try await sql.value("SELECT token FROM hub_leases")
      _ = store.hubActivity.wake.take()
      #expect(try await !store.denyHubLease(token, topic: Self.topic("a"), reason: "full", at: Self.start))
      #expect(try await store.subscription(id).websub == .init(hub: Self.hub, state: .pending))
      #expect(!store.hubActivity.wake.take())
    }
  }
}
