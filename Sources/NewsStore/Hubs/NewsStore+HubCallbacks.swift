public import Foundation
import News
import PostgresClient

extension NewsStore {
  /// The limits of the duration of a lease that a hub grants, in seconds.
  private static let leaseTimes: ClosedRange<Double> = 60...90 * 86_400
  /// The time after a request in which the hub may confirm it, in seconds.
  private static let confirmableTime: Double = 86_400
  /// The minimum time between polls that notices cause, in seconds.
  static let noticeInterval: Double = 30

  /// Records the hubs that a feed names. The lease at a hub follows from them.
  ///
  /// - Parameters:
  ///   - hubs: The addresses in the order of the feed; empty if it has no hub.
  ///   - topic: The address under which the hubs know the feed.
  public func noteHubs(_ hubs: [String], topic: String?, of lease: SubscriptionLease) async throws {
    let rows = try await database.query(
      """
      UPDATE subscriptions AS s SET hubs = \(hubs), hub_topic = \(topic)
      WHERE s.id = \(lease.subscription.id) AND s.lease = \(lease.token)
        AND (s.hubs, s.hub_topic) IS DISTINCT FROM (\(hubs)::text[], \(topic)::text)
      RETURNING s.id
      """)
    if !rows.isEmpty { hubActivity.signal() }
  }

  /// Confirms to a hub that a lease is to begin, to be renewed or to end (WebSub section 5.3).
  ///
  /// - Parameters:
  ///   - token: The last part of the callback.
  ///   - mode: `subscribe` or `unsubscribe`.
  ///   - topic: The address of the feed, as the hub has sent it.
  ///   - seconds: The duration of the lease in seconds; nil if the hub has sent none.
  ///   - now: The time in place of that of the database, for tests.
  /// - Returns: Whether this was requested of the hub.
  public func confirmHubLease(
    _ token: String, _ mode: HubActivity.Mode, topic: String, seconds: Double?, at now: Date? = nil
  ) async throws -> Bool {
    try await asHub(token) {
      try await self.confirm(token, mode, topic: topic, seconds: seconds, at: now)
    } ?? false
  }

  /// Runs the statements of a hub.
  ///
  /// - Returns: nil without a query of its own if there is no lease with the token.
  private func asHub<Value: Sendable>(
    _ token: String, _ body: () async throws -> Value
  ) async throws -> Value? {
    guard try await strangers.hubs.value(token) != nil else { return nil }
    return try await Self.onBehalf(of: token) { try await strangers.hubStatements.run(body) }
  }

  private func confirm(
    _ token: String, _ mode: HubActivity.Mode, topic: String, seconds: Double?, at now: Date?
  ) async throws -> Bool {
    if mode == .unsubscribe {
      // The row stays for a day, for a hub that asks again because it has missed the answer.
      return try await !database.query(
        """
        WITH \(query: Self.clock(now))
        UPDATE hub_leases AS l SET confirmed_at = c.now, failures = \(Self.maximumHubFailures), awaited = false,
          next_request = c.now + make_interval(secs => \(Self.confirmableTime))
        FROM clock AS c
        WHERE l.token = \(token) AND l.topic = \(topic) AND l.state = 'ending' AND l.asked_at IS NOT NULL
        RETURNING l.token
        """
      ).isEmpty
    }
    let time = min(max(seconds ?? Self.hubLeaseTime, Self.leaseTimes.lowerBound), Self.leaseTimes.upperBound)
    // A lease is renewed after four fifths of its time, at a moment of its own.
    let renewal = max(time * .random(in: 0.75...0.8), Self.leaseTimes.lowerBound)
    return try await !database.query(
      """
      WITH \(query: Self.clock(now))
      UPDATE hub_leases AS l SET state = 'active', confirmed_at = c.now, awaited = false, failures = 0, error = NULL,
        expires_at = c.now + make_interval(secs => \(time)), next_request = c.now + make_interval(secs => \(renewal))
      FROM clock AS c
      WHERE l.token = \(token) AND l.topic = \(topic) AND l.state <> 'ending'
        AND l.asked_at > c.now - make_interval(secs => \(Self.confirmableTime))
      RETURNING l.token
      """
    ).isEmpty
  }

  /// The duration of leases that hubs are asked for, in seconds.
  public static let hubLeaseTime: Double = 10 * 86_400

  /// Records that a hub has denied a lease, or has ended it (WebSub section 5.2). The next hub of the feed is used.
  ///
  /// - Parameters:
  ///   - reason: The reason that the hub has given, at most 1 KiB.
  ///   - now: The time in place of that of the database, for tests.
  /// - Returns: Whether there is such a lease.
  public func denyHubLease(_ token: String, topic: String, reason: String, at now: Date? = nil) async throws -> Bool {
    let isKnown = try await asHub(token) {
      try await database.transaction { transaction in
        let rows = try await transaction.query(
          """
          SELECT l.state FROM hub_leases AS l WHERE l.token = \(token) AND l.topic = \(topic) AND l.asked_at IS NOT NULL
          """)
        guard let row = rows.first else { return false }
        if try row.decode("state", as: String.self) != "ending" {
          try await Self.useNextHub(after: token, message: reason, isDenied: true, in: transaction, at: now)
        }
        return true
      }
    }
    if isKnown == true { hubActivity.signal() }
    return isKnown ?? false
  }

  /// Returns the key of the signatures of a lease; nil if there is no such lease, or it is ending.
  public func hubSecret(_ token: String) async throws -> String? {
    try await strangers.hubs.value(token).flatMap { $0.isEnding ? nil : $0.secret }
  }

  /// Records the notice of a hub that a feed has changed. The feed is polled at once, unless it was polled within the last
  /// half minute, or its server asks to wait after a failure.
  ///
  /// - Parameter now: The time in place of that of the database, for tests.
  public func noteHubNotice(_ token: String, at now: Date? = nil) async throws {
    _ = try await asHub(token) {
      try await database.query(
        """
        WITH \(query: Self.clock(now))
        UPDATE subscriptions AS s SET pushed_at = c.now,
          next_poll = CASE WHEN s.failures > 0 THEN s.next_poll ELSE least(s.next_poll,
            greatest(c.now, s.last_success + make_interval(secs => \(Self.noticeInterval)), s.not_before)) END
        FROM hub_leases AS l, clock AS c
        WHERE l.token = \(token) AND l.state = 'active' AND s.id = l.subscription AND NOT s.paused
        """)
    }
  }
}
