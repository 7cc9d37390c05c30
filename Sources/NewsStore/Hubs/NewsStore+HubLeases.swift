import BackgroundWork
public import Foundation
import News
import PostgresClient

/// A request that a process has to send to a hub: to begin, renew or end a lease (WebSub section 5.1).
public struct HubRequest: Sendable {
  /// `subscribe` or `unsubscribe`.
  public let mode: HubActivity.Mode
  /// The address of the hub.
  public let hub: String
  /// The address of the feed.
  public let topic: String
  /// The address to which the hub sends.
  public let callback: String
  /// The key of signatures.
  public let secret: String
  /// The number of failures since the last confirmation. A request that was accepted but not confirmed is one.
  public let failures: Int
  let token: String
  let lease: UUID
}

/// The failure of a request to a hub.
public struct HubFailure: Sendable {
  /// The reason in words, at most 1 KiB.
  public var message: String
  /// The time until the next request, in seconds.
  public var wait: Double

  /// Creates a description.
  public init(message: String, wait: Double) {
    self.message = message
    self.wait = wait
  }
}

extension NewsStore {
  /// The number of failures after which the next hub of the feed is used, and after which the end of a lease is not
  /// requested again.
  public static let maximumHubFailures = 5
  /// The time in which a hub must confirm a request, in seconds.
  private static let confirmationTime: Double = 3600
  /// The wait before a hub is asked again after all hubs of the feed have failed, in seconds.
  private static let hubRest: Double = 86_400
  /// The maximum number of leases that begin in a transaction.
  private static let beginningLeases: Int32 = 200

  static func clock(_ now: Date?) -> PostgresQuery { LeasedQueue.clock(now) }

  /// Begins and ends leases so that they are those that the subscriptions want. Requests follow from them.
  ///
  /// - Parameters:
  ///   - callbacks: The address of the callbacks up to their tokens; nil to end all leases.
  ///   - now: The time in place of that of the database, for tests.
  public func planHubLeases(callbacks: String?, at now: Date? = nil) async throws {
    try await database.transaction { transaction in
      for statement in Self.endings(callbacks, now) { _ = try await transaction.query(statement) }
      guard let callbacks else { return }
      let missing = try await transaction.query(
        """
        SELECT s.id FROM subscriptions AS s
        WHERE NOT s.paused AND s.hubs <> '{}' AND s.hub_topic IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM hub_leases AS l WHERE l.subscription = s.id AND l.state <> 'ending')
        ORDER BY s.id LIMIT \(Self.beginningLeases) FOR KEY SHARE OF s
        """
      ).map { try $0.decode("id", as: UUID.self) }
      if missing.isEmpty { return }
      let tokens = missing.map { _ in String(base64URL: [UInt8].random(16)) }
      let secrets = missing.map { _ in String(base64URL: [UInt8].random(32)) }
      // Another process may have begun the same lease.
      _ = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        INSERT INTO hub_leases (token, subscription, hub, topic, callback, secret, state, next_request)
        SELECT n.token, s.id, s.hubs[1], s.hub_topic, \(callbacks) || n.token, n.secret, 'pending', c.now
        FROM unnest(\(missing), \(tokens), \(secrets)) AS n (id, token, secret)
          JOIN subscriptions AS s ON s.id = n.id CROSS JOIN clock AS c
        ON CONFLICT DO NOTHING
        """)
    }
  }

  /// The statements that end leases which are not wanted, forget those that have ended, and return to regular polls.
  private static func endings(_ callbacks: String?, _ now: Date?) -> [PostgresQuery] {
    [
      """
      WITH \(query: clock(now)), unwanted AS (
        SELECT l.token, l.asked_at IS NULL AS is_unknown FROM hub_leases AS l
        WHERE l.state <> 'ending' AND NOT EXISTS (
          SELECT 1 FROM subscriptions AS s
          WHERE s.id = l.subscription AND NOT s.paused AND l.hub = ANY (s.hubs) AND l.topic = s.hub_topic
            AND l.callback = \(callbacks)::text || l.token
        )
        FOR UPDATE OF l
      ), removed AS (
        DELETE FROM hub_leases AS l USING unwanted AS u WHERE l.token = u.token AND u.is_unknown
      )
      UPDATE hub_leases AS l SET state = 'ending', failures = 0, awaited = false, next_request = c.now
      FROM unwanted AS u, clock AS c WHERE l.token = u.token AND NOT u.is_unknown
      """,
      """
      WITH \(query: clock(now))
      DELETE FROM hub_leases AS l USING clock AS c
      WHERE l.state = 'ending' AND l.failures >= \(maximumHubFailures) AND l.next_request <= c.now
        AND (l.leased_until IS NULL OR l.leased_until <= c.now)
      """,
      """
      WITH \(query: clock(now))
      UPDATE subscriptions AS s SET next_poll = greatest(s.regular_poll, s.not_before), regular_poll = NULL
      FROM clock AS c
      WHERE s.next_poll > s.regular_poll AND NOT EXISTS (
        SELECT 1 FROM hub_leases AS l WHERE l.subscription = s.id AND l.state = 'active' AND l.expires_at > c.now
      )
      """,
    ]
  }

  /// Takes the request that is due for the longest time and that no other process sends.
  ///
  /// - Parameters:
  ///   - time: The duration after which another process may send it again, in seconds.
  ///   - skipsFailing: Whether to leave out requests whose last attempt has failed.
  ///   - now: The time in place of that of the database, for tests.
  /// - Returns: nil if there is none.
  public func leaseHubRequest(
    for time: Double, skipsFailing: Bool = false, at now: Date? = nil
  ) async throws -> HubRequest? {
    let lease = UUID()
    let chosen = LeasedQueue.hubRequests.chosen(
      where: """
        NOT (l.state = 'ending' AND l.failures >= \(Self.maximumHubFailures))
        AND NOT (\(skipsFailing) AND l.failures > 0)
        """, limit: 1)
    let rows = try await database.query(
      LeasedQueue.hubRequests.lease(
        lease, for: time, chosen,
        setting: """
          , asked_at = c.now, failures = l.failures + CASE WHEN l.awaited THEN 1 ELSE 0 END, awaited = false
          """, returning: "l.token, l.state, l.hub, l.topic, l.callback, l.secret, l.failures", at: now))
    guard let row = rows.first else { return nil }
    let isEnding = try row.decode("state", as: String.self) == "ending"
    return HubRequest(
      mode: isEnding ? .unsubscribe : .subscribe, hub: try row.decode("hub"), topic: try row.decode("topic"),
      callback: try row.decode("callback"), secret: try row.decode("secret"), failures: try row.decode("failures"),
      token: try row.decode("token"), lease: lease)
  }

  /// Returns the time until the next request is due, in seconds, 0 or more; nil if there is none.
  ///
  /// - Parameter now: The time in place of that of the database, for tests.
  public func nextHubRequest(at now: Date? = nil) async throws -> Double? {
    let rows = try await database.query(LeasedQueue.hubRequests.wait(at: now))
    return try rows.first?.decode("wait", as: Double?.self).map { max(0, $0) }
  }

  /// Records the outcome of a request. Nothing is recorded if another process has taken it over.
  ///
  /// After five failures, the next hub of the feed is used; after the last hub, the first one a day later.
  ///
  /// - Parameters:
  ///   - failure: The failure; nil if the hub has accepted the request.
  ///   - now: The time in place of that of the database, for tests.
  public func finishHubRequest(_ request: HubRequest, failure: HubFailure?, at now: Date? = nil) async throws {
    try await database.transaction { transaction in
      // The hub may have confirmed the request before it has answered it. A lease that is not wanted any more is ended by a
      // further request.
      let rows = try await transaction.query(
        """
        WITH \(query: Self.clock(now)), request AS (
          SELECT l.token, l.confirmed_at >= l.asked_at IS TRUE AS is_confirmed,
            (l.state = 'ending') <> \(request.mode == .unsubscribe) AS is_outdated
          FROM hub_leases AS l WHERE l.token = \(request.token) AND l.lease = \(request.lease) FOR UPDATE
        )
        UPDATE hub_leases AS l SET \(query: LeasedQueue.hubRequests.freeing),
          awaited = \(failure == nil) AND NOT r.is_confirmed AND NOT r.is_outdated,
          failures = l.failures
            + CASE WHEN \(failure == nil) OR r.is_confirmed OR r.is_outdated THEN 0 ELSE 1 END,
          error = CASE WHEN r.is_confirmed OR r.is_outdated THEN l.error ELSE coalesce(\(failure?.message), l.error) END,
          next_request = CASE WHEN r.is_confirmed OR r.is_outdated THEN l.next_request
            ELSE c.now + make_interval(secs => \(failure?.wait ?? Self.confirmationTime)) END
        FROM request AS r, clock AS c WHERE l.token = r.token
        RETURNING l.failures, l.state
        """)
      guard let row = rows.first, try row.decode("failures", as: Int.self) >= Self.maximumHubFailures,
        try row.decode("state", as: String.self) != "ending"
      else { return }
      try await Self.useNextHub(
        after: request.token, message: failure?.message ?? "", isDenied: false, in: transaction, at: now)
    }
  }

  /// Gives a request back without an outcome, as at a shutdown.
  public func releaseHubRequest(_ request: HubRequest) async throws {
    let queue = LeasedQueue.hubRequests
    _ = try await database.query(
      queue.change(request.token, leasedBy: request.lease, setting: queue.freeing, at: nil))
  }

  /// Replaces a lease by one at the next hub of the feed.
  static func useNextHub(
    after token: String, message: String, isDenied: Bool, in transaction: PostgresTransaction, at now: Date?
  ) async throws {
    let rows = try await transaction.query(
      """
      SELECT l.hub, l.confirmed_at IS NOT NULL AS is_known, s.hubs
      FROM hub_leases AS l JOIN subscriptions AS s ON s.id = l.subscription WHERE l.token = \(token) FOR UPDATE OF l
      """)
    guard let row = rows.first else { return }
    let hubs: [String] = try row.decode("hubs")
    guard let index = hubs.firstIndex(of: try row.decode("hub", as: String.self)) else { return }
    if hubs.count == 1 {
      _ = try await transaction.query(
        """
        WITH \(query: clock(now))
        UPDATE hub_leases AS l SET state = CASE WHEN \(isDenied) THEN 'pending' ELSE l.state END,
          expires_at = CASE WHEN \(isDenied) THEN NULL ELSE l.expires_at END, error = \(message), failures = 0,
          awaited = false, next_request = c.now + make_interval(secs => \(hubRest)),
          \(query: LeasedQueue.hubRequests.freeing)
        FROM clock AS c WHERE l.token = \(token)
        """)
      return
    }
    let isKnown = try !isDenied && row.decode("is_known", as: Bool.self)
    let next = (index + 1) % hubs.count
    let wait = next == 0 ? hubRest : 0
    let (newToken, secret) = (String(base64URL: [UInt8].random(16)), String(base64URL: [UInt8].random(32)))
    // The unique index admits the new lease only after the old one is ending.
    let insertion: PostgresQuery = """
      INSERT INTO hub_leases (token, subscription, hub, topic, callback, secret, state, next_request, error)
      SELECT \(newToken), o.subscription, \(hubs[next]), o.topic, left(o.callback, -length(o.token)) || \(newToken),
        \(secret), 'pending', c.now + make_interval(secs => \(wait)), \(message)
      FROM (SELECT * FROM hub_leases WHERE token = \(token)) AS o, clock AS c
      """
    _ = try await transaction.query(
      """
      WITH \(query: clock(now))
      UPDATE hub_leases AS l SET state = 'ending', failures = CASE WHEN \(isKnown) THEN 0 ELSE \(maximumHubFailures) END,
        awaited = false, next_request = c.now, \(query: LeasedQueue.hubRequests.freeing)
      FROM clock AS c WHERE l.token = \(token)
      """)
    _ = try await transaction.query("WITH \(query: clock(now)) \(query: insertion)")
  }
}
