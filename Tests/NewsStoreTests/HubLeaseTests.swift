import BackgroundWork
import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Polls of feeds with a hub, and the order of requests to hubs.
@Suite struct HubLeaseTests {
  private static let start = Date(timeIntervalSince1970: 2_000_000_000)
  private static let topic = "https://feeds.example/"

  /// Creates a subscription with an active lease, which was polled at the start and is due an hour later.
  ///
  /// - Returns: The subscription, and the request for the lease.
  private static func make(_ store: NewsStore) async throws -> (id: UUID, request: HubRequest) {
    let id = try await offer(store)
    let request = try #require(try await store.leaseHubRequest(for: 60, at: start))
    #expect(try await store.confirmHubLease(token(request), .subscribe, topic: topic, seconds: 86_400, at: start))
    try await store.finishHubRequest(request, failure: nil, at: start)
    return (id, request)
  }

  /// Creates a subscription whose feed names a hub, with a lease that was not requested yet.
  private static func offer(_ store: NewsStore) async throws -> UUID {
    let id = UUID()
    _ = try await store.createSubscription(id, SubscriptionContent(url: topic))
    let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: start))
    try await store.noteHubs(["https://hub.example/"], topic: topic, of: poll)
    try await store.finishPoll(poll, PollOutcome(wait: 3600), at: start)
    try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: start)
    return id
  }

  private static func token(_ request: HubRequest) -> String { String(request.callback.suffix(22)) }

  private static func poll(
    _ store: NewsStore, _ id: UUID, wait: Double = 3600, retryAfter: Double? = nil, at now: Date,
    during action: () async throws -> Void = {}
  ) async throws -> Date? {
    let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: now))
    try await action()
    var outcome = PollOutcome(wait: wait)
    outcome.retryAfter = retryAfter
    try await store.finishPoll(lease, outcome, at: now)
    return try await store.subscription(id).nextPoll
  }

  @Test("Polls are rare while a lease is active, and regular again after its end")
  func rarePolls() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, _) = try await Self.make(store)
      // A feed that asks for a longer wait than a day has it.
      #expect(try await Self.poll(store, id, wait: 200_000, at: Self.start + 50) == Self.start + 200_050)
      // The lease of one feed has no effect on another.
      let other = UUID()
      _ = try await store.createSubscription(other, SubscriptionContent(url: "https://other.example/"))
      #expect(try await Self.poll(store, other, at: Self.start + 60) == Self.start + 3660)
      #expect(try await Self.poll(store, id, at: Self.start + 100) == Self.start + 100 + 4 * 3600)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 200)
      #expect(try await store.subscription(id).nextPoll == Self.start + 100 + 4 * 3600)
      // The hub has not renewed the lease.
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 86_401)
      #expect(try await store.subscription(id).nextPoll == Self.start + 100 + 3600)
      #expect(try await Self.poll(store, id, at: Self.start + 90_000) == Self.start + 90_000 + 3600)
    }
  }

  @Test("A notice has the feed polled at once, many of them once in half a minute")
  func notices() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      let token = Self.token(request)
      for second in 10..<20 { try await store.noteHubNotice(token, at: Self.start + Double(second)) }
      #expect(try await store.subscription(id).nextPoll == Self.start + 30)
      for second in 300..<310 { try await store.noteHubNotice(token, at: Self.start + Double(second)) }
      #expect(try await store.subscription(id).nextPoll == Self.start + 30)
      _ = try await Self.poll(store, id, at: Self.start + 400)
      try await store.noteHubNotice(token, at: Self.start + 1000)
      #expect(try await store.subscription(id).nextPoll == Self.start + 1000)
      try await store.noteHubNotice(String(token.reversed()), at: Self.start + 900)
      #expect(try await store.subscription(id).nextPoll == Self.start + 1000)
    }
  }

  @Test("A notice before the confirmation of its lease leads to no poll")
  func unconfirmedNotice() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = UUID()
      _ = try await store.createSubscription(id, SubscriptionContent(url: Self.topic))
      let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.noteHubs(["https://hub.example/"], topic: Self.topic, of: poll)
      try await store.finishPoll(poll, PollOutcome(wait: 3600), at: Self.start)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start)
      let request = try #require(try await store.leaseHubRequest(for: 60, at: Self.start))
      try await store.noteHubNotice(Self.token(request), at: Self.start + 100)
      let subscription = try await store.subscription(id)
      #expect(subscription.nextPoll == Self.start + 3600 && subscription.websub?.lastNotice == nil)
    }
  }

  @Test("A notice about a feed that is paused is forgotten")
  func pausedNotice() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (id, request) = try await Self.make(store)
      _ = try await store.modifySubscription(id, if: .exists) { subscription in
        var content = SubscriptionContent(subscription)
        content.paused = true
        return content
      }
      try await store.noteHubNotice(Self.token(request), at: Self.start + 100)
      #expect(try await sql.value("SELECT count(*) FROM subscriptions WHERE pushed_at IS NULL", as: Int.self) == 1)
    }
  }

  @Test(
    "A hub that fails five times is replaced, and told of the end of the lease if it has confirmed it",
    arguments: [true, false])
  func replacement(isConfirmed: Bool) async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, hubs) = (UUID(), ["https://hub1.example/", "https://hub2.example/"])
      _ = try await store.createSubscription(id, SubscriptionContent(url: Self.topic))
      let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.noteHubs(hubs, topic: Self.topic, of: poll)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start)
      var now = Self.start
      if isConfirmed {
        let request = try #require(try await store.leaseHubRequest(for: 60, at: now))
        #expect(
          try await store.confirmHubLease(Self.token(request), .subscribe, topic: Self.topic, seconds: 86_400, at: now))
        try await store.finishHubRequest(request, failure: nil, at: now)
        now += 80_000
      }
      for attempt in 0..<5 {
        let request = try #require(try await store.leaseHubRequest(for: 60, at: now))
        #expect(request.mode == .subscribe && request.hub == hubs[0] && request.failures == attempt)
        try await store.finishHubRequest(request, failure: HubFailure(message: "busy", wait: 10), at: now)
        if attempt < 4 { #expect(try await store.leaseHubRequest(for: 60, at: now + 9) == nil) }
        now += 10
      }
      var requests: Set<String> = []
      while let request = try await store.leaseHubRequest(for: 60, at: now) {
        requests.insert("\(request.mode) \(request.hub)")
      }
      #expect(requests == Set(["subscribe \(hubs[1])"] + (isConfirmed ? ["unsubscribe \(hubs[0])"] : [])))
    }
  }

  @Test("A notice during a poll, from its first moment on, leads to a further poll", arguments: [100, 101] as [Double])
  func noticeDuringPoll(second: Double) async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      let next = try await Self.poll(store, id, at: Self.start + 100) {
        try await store.noteHubNotice(Self.token(request), at: Self.start + second)
      }
      #expect(next == Self.start + 130)
    }
  }

  @Test("A notice leads to no poll before Retry-After, also if it arrives during a poll")
  func retryAfter() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      let next = try await Self.poll(store, id, retryAfter: 500, at: Self.start + 100) {
        try await store.noteHubNotice(Self.token(request), at: Self.start + 101)
      }
      #expect(next == Self.start + 600)
      _ = try await Self.poll(store, id, retryAfter: 5000, at: Self.start + 700)
      try await store.noteHubNotice(Self.token(request), at: Self.start + 1000)
      #expect(try await store.subscription(id).nextPoll == Self.start + 5700)
    }
  }

  @Test("A notice does not shorten the wait after a failure")
  func backoff() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      #expect(try await Self.poll(store, id, at: Self.start + 50) == Self.start + 50 + 4 * 3600)
      let lease = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 100))
      var outcome = PollOutcome(wait: 7200)
      outcome.failure = (status: 503, message: "busy")
      try await store.noteHubNotice(Self.token(request), at: Self.start + 101)
      try await store.finishPoll(lease, outcome, at: Self.start + 102)
      try await store.noteHubNotice(Self.token(request), at: Self.start + 103)
      #expect(try await store.subscription(id).nextPoll == Self.start + 7302)
      // Neither does the end of the lease, after which polls are regular again.
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 86_401)
      #expect(try await store.subscription(id).nextPoll == Self.start + 7302)
    }
  }

  @Test(
    "A lease has the duration that its hub grants, from a minute to 90 days",
    arguments: [
      (1, 60), (nil, 864_000), (100_000, 100_000), (1e9, 90 * 86_400),
    ] as [(Double?, Double)])
  func durations(granted: Double?, expected: Double) async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      #expect(
        try await store.confirmHubLease(
          Self.token(request), .subscribe, topic: Self.topic, seconds: granted, at: Self.start))
      #expect(try await store.subscription(id).websub?.leaseEnds == Self.start + expected)
      let renewal = try #require(try await store.nextHubRequest(at: Self.start))
      #expect(max(60, 0.75 * expected)...max(60, 0.8 * expected) ~= renewal)
    }
  }

  @Test("A confirmation is accepted for a day, and one that precedes the response to its request counts")
  func confirmations() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      // The lease is renewed after about four fifths of its day.
      let wait = try #require(try await store.nextHubRequest(at: Self.start))
      #expect(64_800...69_120 ~= wait)
      func confirm(_ second: Double) async throws -> Bool {
        try await store.confirmHubLease(
          Self.token(request), .subscribe, topic: Self.topic, seconds: nil, at: Self.start + second)
      }
      let renewal = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + wait))
      #expect(renewal.failures == 0)
      try await store.finishHubRequest(renewal, failure: HubFailure(message: "busy", wait: 60), at: Self.start + wait)
      #expect(try await store.subscription(id).websub?.error == "busy")
      #expect(try await confirm(wait + 1))
      #expect(try await store.subscription(id).websub?.error == nil)
      #expect(try await confirm(wait + 86_399))
      #expect(try await !confirm(wait + 86_400))
    }
  }

  @Test("A hub that has confirmed a lease has not failed, whatever its response to the request is")
  func failureAfterConfirmation() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.offer(store)
      let request = try #require(try await store.leaseHubRequest(for: 60, at: Self.start))
      #expect(
        try await store.confirmHubLease(
          Self.token(request), .subscribe, topic: Self.topic, seconds: 86_400, at: Self.start + 1))
      let failure = HubFailure(message: "no answer", wait: 60)
      try await store.finishHubRequest(request, failure: failure, at: Self.start + 2)
      let websub = try #require(try await store.subscription(id).websub)
      #expect(websub.state == .active && websub.error == nil)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 3600) == nil)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 80_000)?.failures == 0)
    }
  }

  @Test("A request that a hub has accepted and not confirmed is sent again after an hour, as a failure")
  func unconfirmed() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = try await Self.offer(store)
      let first = try #require(try await store.leaseHubRequest(for: 60, at: Self.start))
      try await store.finishHubRequest(first, failure: nil, at: Self.start + 1)
      #expect(try await store.nextHubRequest(at: Self.start + 1) == 3600)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 3600) == nil)
      let second = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + 3601))
      #expect(first.failures == 0 && second.failures == 1 && second.callback == first.callback)
      #expect(try await store.subscription(id).websub?.state == .pending)
    }
  }

  @Test("A lease for which no hub was asked is forgotten with its feed")
  func unasked() async throws {
    try await NewsDatabase.withStore { store, sql in
      let id = try await Self.offer(store)
      try await store.removeSubscription(id, if: .exists)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 1)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 1) == nil)
      #expect(try await sql.query("SELECT 1 FROM hub_leases").isEmpty)
    }
  }

  @Test("An installation that moves to another address ends its leases, and begins them anew with the address")
  func moved() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (_, request) = try await Self.make(store)
      try await store.planHubLeases(callbacks: "https://moved.example/v1/websub/", at: Self.start + 10)
      var requests: [HubRequest] = []
      while let next = try await store.leaseHubRequest(for: 60, at: Self.start + 10) { requests.append(next) }
      #expect(requests.count == 2)
      let end = try #require(requests.first { $0.mode == .unsubscribe })
      let new = try #require(requests.first { $0.mode == .subscribe })
      #expect(end.callback == request.callback && new.callback.hasPrefix("https://moved.example/v1/websub/"))
      #expect(new.secret != request.secret)
    }
  }

  @Test("The hubs of a poll that has lost its lease are ignored")
  func hubsOfLostPoll() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = UUID()
      _ = try await store.createSubscription(id, SubscriptionContent(url: Self.topic))
      let lost = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      _ = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 60))
      try await store.noteHubs(["https://hub.example/"], topic: Self.topic, of: lost)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 61)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 61) == nil)
    }
  }

  @Test("Only hubs that have changed wake the task for requests to hubs")
  func signal() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, _) = try await Self.make(store)
      let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start + 100))
      _ = store.hubActivity.wake.take()
      try await store.noteHubs(["https://hub.example/"], topic: Self.topic, of: poll)
      #expect(!store.hubActivity.wake.take())
      try await store.noteHubs(["https://hub.example/"], topic: "\(Self.topic)a", of: poll)
      #expect(store.hubActivity.wake.take())
      try await store.noteHubs(["https://other.example/"], topic: "\(Self.topic)a", of: poll)
      #expect(store.hubActivity.wake.take())
    }
  }

  @Test("The end of a lease is requested only after the request for it is over")
  func order() async throws {
    try await NewsDatabase.withStore { store, _ in
      let id = UUID()
      _ = try await store.createSubscription(id, SubscriptionContent(url: Self.topic))
      let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
      try await store.noteHubs(["https://hub.example/"], topic: Self.topic, of: poll)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start)
      let request = try #require(try await store.leaseHubRequest(for: 60, at: Self.start))
      #expect(request.mode == .subscribe)
      try await store.removeSubscription(id, if: .exists)
      try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + 1)
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 2) == nil)
      #expect(
        try await !store.confirmHubLease(
          Self.token(request), .subscribe, topic: Self.topic, seconds: nil, at: Self.start + 2))
      try await store.finishHubRequest(request, failure: HubFailure(message: "busy", wait: 600), at: Self.start + 3)
      let end = try #require(try await store.leaseHubRequest(for: 60, at: Self.start + 3))
      #expect(end.mode == .unsubscribe && end.callback == request.callback && end.failures == 0)
    }
  }

  @Test("Of several requests to hubs the one goes first that has been due for the longest time")
  func longestDue() async throws {
    try await NewsDatabase.withStore { store, _ in
      let ids = [UUID(2), UUID(1), UUID(3)]
      for (second, id) in zip([0.0, 10, 20], ids) {
        let topic = "\(Self.topic)\(id)"
        _ = try await store.createSubscription(id, SubscriptionContent(url: topic))
        let poll = try #require(try await store.leaseSubscription(for: 60, only: id, at: Self.start))
        try await store.noteHubs(["https://hub.example/"], topic: topic, of: poll)
        try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start + second)
      }
      #expect(try await store.nextHubRequest(at: Self.start - 5) == 5)
      #expect(try await store.nextHubRequest(at: Self.start + 20) == 0)
      for id in ids {
        let request = try await store.leaseHubRequest(for: 60, at: Self.start + 20)
        #expect(request?.topic == "\(Self.topic)\(id)")
      }
      #expect(try await store.leaseHubRequest(for: 60, at: Self.start + 20) == nil)
      #expect(try await store.nextHubRequest(at: Self.start + 20) == 60)
    }
  }

  @Test("Leases of many feeds begin 200 at a time")
  func many() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        """
        INSERT INTO subscriptions (id, url, state, hubs, hub_topic)
        SELECT gen_random_uuid(), 'https://feeds.example/' || n, 'draft', '{https://hub.example/}', 'topic ' || n
        FROM generate_series(1, 201) AS n
        """)
      for count in [200, 201, 201] {
        try await store.planHubLeases(callbacks: "https://news.example/v1/websub/", at: Self.start)
        #expect(try await sql.value("SELECT count(DISTINCT topic) FROM hub_leases") == count)
      }
    }
  }

  @Test("The request of a dead process is sent again, and its late outcome is ignored")
  func takenOver() async throws {
    try await NewsDatabase.withStore { store, _ in
      let (id, request) = try await Self.make(store)
      let due = Self.start + 86_400
      let first = try #require(try await store.leaseHubRequest(for: 60, at: due))
      #expect(try await store.leaseHubRequest(for: 60, at: due + 59) == nil)
      let second = try #require(try await store.leaseHubRequest(for: 60, at: due + 60))
      #expect(second.callback == request.callback && second.secret == request.secret)
      try await store.releaseHubRequest(first)
      #expect(try await store.leaseHubRequest(for: 60, at: due + 61) == nil)
      try await store.finishHubRequest(first, failure: HubFailure(message: "late", wait: 1), at: due + 61)
      #expect(try await store.subscription(id).websub?.error == nil)
    }
  }
}
