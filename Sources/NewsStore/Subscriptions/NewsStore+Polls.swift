public import Foundation
public import News
import PostgresClient

/// The right of a process to poll a feed until a time.
public struct SubscriptionLease: Sendable {
  /// The subscription at the start of the poll.
  public let subscription: Subscription
  /// The entity tag of the last response.
  public let etag: String?
  /// The date of the last response's content, as it was sent.
  public let lastModified: String?
  /// The cadence of the feed as JSON, as the last poll has written it.
  public let pacing: Data?
  /// The number of failures since the last success.
  public let failures: Int
  /// The time of the start, by the database's clock.
  public let start: Date
  let token: UUID
}

/// The outcome of a poll.
public struct PollOutcome: Sendable {
  /// The time until the next poll, in seconds.
  public var wait: Double
  /// The failure; nil for a success.
  public var failure: (status: Int?, message: String)?
  /// Whether polling ends until an editor resumes it.
  public var pauses = false
  /// The new address after permanent redirects.
  public var movedTo: String?
  /// The title of the feed, which is used if editors have given none.
  public var title: String?
  /// The validators of the response; nil to keep the last ones.
  public var validators: (etag: String?, lastModified: String?)?
  /// The cadence of the feed as JSON; nil to keep the last one.
  public var pacing: Data?

  /// Creates the outcome of a success without further facts.
  public init(wait: Double) {
    self.wait = wait
  }
}

extension NewsStore {
  /// Takes the feed that is due for the longest time and that no other process polls.
  ///
  /// - Parameters:
  ///   - time: The duration after which other processes may poll the feed, in seconds.
  ///   - id: The only subscription to take, whether it is due or not; nil for any that is due.
  /// - Returns: nil if there is none.
  public func leaseSubscription(for time: Double, only id: UUID? = nil) async throws -> SubscriptionLease? {
    try await leaseSubscription(for: time, only: id, at: nil)
  }

  /// - Parameter now: The time in place of that of the database, for tests.
  package func leaseSubscription(
    for time: Double, only id: UUID? = nil, at now: Date?
  ) async throws -> SubscriptionLease? {
    let token = UUID()
    let rows = try await database.query(
      """
      WITH clock AS (SELECT coalesce(\(now)::timestamptz, clock_timestamp()) AS now), due AS (
        SELECT d.id FROM subscriptions AS d, clock AS c
        WHERE CASE WHEN \(id)::uuid IS NULL THEN NOT d.paused AND d.next_poll <= c.now ELSE d.id = \(id) END
          AND (d.leased_until IS NULL OR d.leased_until <= c.now)
        ORDER BY d.next_poll LIMIT 1 FOR UPDATE OF d SKIP LOCKED
      )
      UPDATE subscriptions AS s SET lease = \(token), leased_until = c.now + make_interval(secs => \(time))
      FROM due AS d, clock AS c WHERE s.id = d.id
      RETURNING \(query: Subscription.columns), s.etag, s.last_modified, s.pacing, s.failures, c.now AS start
      """)
    guard let row = rows.first else { return nil }
    return SubscriptionLease(
      subscription: try Subscription(row: row), etag: try row.decode("etag"),
      lastModified: try row.decode("last_modified"), pacing: try row.decode("pacing", as: PostgresJSON?.self)?.data,
      failures: try row.decode("failures"), start: try row.decode("start"), token: token)
  }

  /// Extends a lease, before work that takes time.
  ///
  /// - Returns: Whether the lease is still valid. If it is not, the process must stop.
  public func extendLease(_ lease: SubscriptionLease, by time: Double) async throws -> Bool {
    let rows = try await database.query(
      """
      UPDATE subscriptions SET leased_until = greatest(leased_until, clock_timestamp() + make_interval(secs => \(time)))
      WHERE id = \(lease.subscription.id) AND lease = \(lease.token) RETURNING id
      """)
    return !rows.isEmpty
  }

  /// Gives a lease back without an outcome, as at a shutdown.
  public func releaseLease(_ lease: SubscriptionLease) async throws {
    _ = try await database.query(
      """
      UPDATE subscriptions SET lease = NULL, leased_until = NULL
      WHERE id = \(lease.subscription.id) AND lease = \(lease.token)
      """)
  }

  /// Records the outcome of a poll and ends its lease. Nothing is recorded if the lease was lost.
  public func finishPoll(_ lease: SubscriptionLease, _ outcome: PollOutcome) async throws {
    try await finishPoll(lease, outcome, at: nil)
  }

  /// - Parameter now: The time in place of that of the database, for tests.
  package func finishPoll(_ lease: SubscriptionLease, _ outcome: PollOutcome, at now: Date?) async throws {
    let (failure, pacing) = (outcome.failure, outcome.pacing.map { PostgresJSON(data: $0) })
    let (etag, lastModified) = (outcome.validators?.etag, outcome.validators?.lastModified)
    // An address that another subscription has already is not taken over.
    _ = try await database.query(
      """
      WITH clock AS (SELECT coalesce(\(now)::timestamptz, clock_timestamp()) AS now), moved AS (
        SELECT n.url FROM (VALUES (\(outcome.movedTo)::text)) AS n (url)
        WHERE n.url IS NOT NULL AND NOT EXISTS (SELECT 1 FROM subscriptions AS o WHERE o.url = n.url)
      )
      UPDATE subscriptions AS s SET lease = NULL, leased_until = NULL,
        next_poll = c.now + make_interval(secs => \(outcome.wait)),
        last_success = CASE WHEN \(failure == nil) THEN c.now ELSE s.last_success END,
        error_at = CASE WHEN \(failure == nil) THEN NULL ELSE c.now END,
        error_status = \(failure?.status), error_message = \(failure?.message),
        failures = CASE WHEN \(failure == nil) THEN 0 ELSE s.failures + 1 END,
        paused = s.paused OR \(outcome.pauses), title = coalesce(s.title, \(outcome.title)),
        etag = CASE WHEN \(outcome.validators != nil) THEN \(etag) ELSE s.etag END,
        last_modified = CASE WHEN \(outcome.validators != nil) THEN \(lastModified) ELSE s.last_modified END,
        pacing = coalesce(\(pacing), s.pacing), url = coalesce((SELECT m.url FROM moved AS m), s.url),
        revision = s.revision + CASE WHEN \(outcome.pauses) OR EXISTS (SELECT 1 FROM moved) THEN 1 ELSE 0 END
      FROM clock AS c WHERE s.id = \(lease.subscription.id) AND s.lease = \(lease.token)
      """)
  }
}
