import BackgroundWork
public import Foundation
public import News
import PostgresClient
import Synchronization

extension NewsStore {
  /// Takes the feed that is due for the longest time and that no other process polls.
  ///
  /// - Parameters:
  ///   - time: The duration after which other processes may poll the feed, in seconds.
  ///   - id: The only subscription to take, whether it is due or not; nil for any that is due.
  ///   - skipsFailing: Whether to leave out feeds whose last poll has failed.
  ///   - now: The current time; nil for that of the database, which all processes share.
  /// - Returns: nil if there is none.
  public func leaseSubscription(
    for time: Double, only id: UUID? = nil, skipsFailing: Bool = false, at now: Date? = nil
  ) async throws -> SubscriptionLease? {
    let token = UUID()
    let chosen =
      if let id {
        LeasedQueue.polls.chosen(where: "true", isDue: "s.id = \(id)", limit: 1)
      } else {
        LeasedQueue.polls.chosen(where: "NOT s.paused AND NOT (\(skipsFailing) AND s.failures > 0)", limit: 1)
      }
    let rows = try await database.query(
      LeasedQueue.polls.lease(
        token, for: time, chosen, setting: ", poll_wanted = false",
        returning: """
          \(query: Subscription.columns), s.etag, s.last_modified, s.pacing, s.failures, s.not_before, s.sealed_password,
          CASE WHEN \(query: Self.isInPeriod) THEN s.new_items ELSE 0 END AS new_items, c.now AS start
          """, at: now))
    guard let row = rows.first else { return nil }
    let subscription = try Subscription(row: row)
    let (credentials, problem) = self.credentials(of: subscription, try row.decode("sealed_password"))
    return SubscriptionLease(
      subscription: subscription, credentials: credentials, credentialsProblem: problem, etag: try row.decode("etag"),
      lastModified: try row.decode("last_modified"), pacing: try row.decode("pacing", as: PostgresJSON?.self)?.data,
      failures: try row.decode("failures"), notBefore: try row.decode("not_before"),
      newItems: try row.decode("new_items"), start: try row.decode("start"), token: token)
  }

  /// Decrypts the password of a subscription.
  private func credentials(
    of subscription: Subscription, _ sealed: Data?
  ) -> (credentials: FeedCredentials?, problem: String?) {
    guard let user = subscription.user, let sealed else { return (nil, nil) }
    guard let passwordKey else {
      return (nil, "the password of the feed cannot be read: TIDINGS_FEED_PASSWORD_KEY is not set")
    }
    guard let (origin, password) = passwordKey.open(sealed, subscription: subscription.id) else {
      return (
        nil,
        "the password of the feed cannot be read: it was stored with another TIDINGS_FEED_PASSWORD_KEY. Enter it again"
      )
    }
    return (FeedCredentials(origin: origin, user: user, password: password), nil)
  }

  /// Counts the stored passwords of feeds, and tries to open each with the key of this store.
  ///
  /// - Returns: The number of passwords, and of those that cannot be opened: all of them without a key.
  public func countFeedPasswords() async throws -> (stored: Int, unreadable: Int) {
    let rows = try await database.query(
      "SELECT s.id, s.sealed_password FROM subscriptions AS s WHERE s.sealed_password IS NOT NULL")
    let unreadable = try rows.filter { row in
      let (sealed, id): (Data, UUID) = (try row.decode("sealed_password"), try row.decode("id"))
      return passwordKey?.open(sealed, subscription: id) == nil
    }
    return (rows.count, unreadable.count)
  }

  /// Whether the new items of the subscription `s` are counted in a period of a day that has not ended at `c.now`.
  private static let isInPeriod: PostgresQuery =
    "(s.new_items_since IS NOT NULL AND s.new_items_since > c.now - interval '1 day')"

  /// Extends a lease, before work that takes time.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  /// - Returns: Whether the lease is still valid. If it is not, the process must stop.
  public func extendLease(_ lease: SubscriptionLease, by time: Double, at now: Date? = nil) async throws -> Bool {
    let rows = try await database.query(
      LeasedQueue.polls.extension(of: lease.subscription.id, leasedBy: lease.token, by: time, at: now))
    return !rows.isEmpty
  }

  /// Gives a lease back without an outcome, as at a shutdown.
  ///
  /// - Parameters:
  ///   - wait: The minimum time until the next poll, in seconds. The feed may have been requested already.
  ///   - retryAfter: The time in seconds before which the server of the feed asks for no request at all; nil if it did not
  ///     say so in this poll.
  ///   - now: The current time; nil for that of the database.
  public func releaseLease(
    _ lease: SubscriptionLease, wait: Double, retryAfter: Double? = nil, at now: Date? = nil
  ) async throws {
    let notBefore: PostgresQuery = "c.now + make_interval(secs => \(retryAfter))"
    let assignments: PostgresQuery = """
      \(query: LeasedQueue.polls.freeing), not_before = coalesce(\(query: notBefore), s.not_before),
      next_poll = greatest(s.next_poll, c.now + make_interval(secs => \(wait)), \(query: notBefore))
      """
    _ = try await database.query(
      LeasedQueue.polls.change(lease.subscription.id, leasedBy: lease.token, setting: assignments, at: now))
  }

  /// Makes a feed due now, or as soon as its server allows a request. A poll that is under way is followed by another one.
  ///
  /// - Parameter once: The request, if it may be repeated.
  /// - Returns: The subscription with the time of the poll.
  /// - Throws: `StoreError.notFound`, `subscriptionPaused`, `outcomeUnknown`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func requestPoll(_ id: UUID, once: RepeatableWrite<Subscription>? = nil) async throws -> Subscription {
    try await transaction(once) { transaction in
      if try await Self.lockedSubscription(id, in: transaction).paused { throw StoreError.subscriptionPaused }
      _ = try await transaction.query(
        """
        UPDATE subscriptions SET next_poll = greatest(least(next_poll, clock_timestamp()), not_before),
          poll_wanted = true
        WHERE id = \(id)
        """)
      return try await Self.lockedSubscription(id, in: transaction)
    }
  }

  /// Records the outcome of a poll and ends its lease. Nothing is recorded if the lease was lost.
  ///
  /// If another subscription has the new address already, this one is paused: the feed would be polled twice.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func finishPoll(_ lease: SubscriptionLease, _ outcome: PollOutcome, at now: Date? = nil) async throws {
    let (failure, pacing) = (outcome.failure, outcome.pacing.map { PostgresJSON(data: $0) })
    let (etag, lastModified) = (outcome.validators?.etag, outcome.validators?.lastModified)
    let (id, url) = (lease.subscription.id, lease.subscription.url)
    let (inserted, losses) = (outcome.entries.inserted, outcome.losses)
    // While a hub notifies, polls only make up for lost notices. A notice during the poll may concern a later change.
    let (pushed, rare) = (min(outcome.wait, Self.noticeInterval), max(outcome.wait, min(4 * outcome.wait, 86_400)))
    let finished = try await database.query(
      """
      WITH \(query: Self.clock(now)), target AS (
        SELECT n.url, (SELECT o.id FROM subscriptions AS o WHERE o.url = n.url AND o.id <> \(id)) AS owner
        FROM (VALUES (\(outcome.movedTo)::text)) AS n (url) WHERE n.url <> \(url)
      ), result AS (
        SELECT c.now, t.url, c.now + make_interval(secs => \(outcome.retryAfter)) AS not_before,
          \(outcome.pauses) OR t.owner IS NOT NULL AS pauses,
          \(failure != nil) OR t.owner IS NOT NULL AS fails,
          CASE WHEN t.owner IS NULL THEN \(failure?.status)::bigint END AS status,
          CASE WHEN t.owner IS NULL THEN \(failure?.message)
            ELSE format('the feed is at %s, which the subscription %s follows', t.url, t.owner) END AS message
        FROM clock AS c LEFT JOIN target AS t ON true
      ), hub AS (
        SELECT EXISTS (
          SELECT FROM hub_leases AS l, clock AS c
          WHERE l.subscription = \(id) AND l.state = 'active' AND l.expires_at > c.now
        ) AS notifies
      )
      UPDATE subscriptions AS s SET \(query: LeasedQueue.polls.freeing), poll_wanted = false,
        regular_poll = CASE WHEN NOT r.fails AND h.notifies THEN r.now + make_interval(secs => \(outcome.wait)) END,
        next_poll = CASE WHEN s.poll_wanted THEN greatest(r.now, r.not_before)
          WHEN r.fails THEN r.now + make_interval(secs => \(outcome.wait))
          WHEN s.pushed_at >= \(lease.start) THEN greatest(r.now + make_interval(secs => \(pushed)), r.not_before)
          WHEN h.notifies THEN r.now + make_interval(secs => \(rare)) ELSE r.now + make_interval(secs => \(outcome.wait)) END,
        not_before = r.not_before,
        last_success = CASE WHEN r.fails THEN s.last_success ELSE r.now END,
        error_at = CASE WHEN r.fails THEN r.now END, error_status = r.status, error_message = r.message,
        failures = CASE WHEN r.fails THEN s.failures + 1 ELSE 0 END,
        new_items = \(inserted) + CASE WHEN \(query: Self.isInPeriod) THEN s.new_items ELSE 0 END,
        new_items_since = CASE WHEN \(query: Self.isInPeriod) THEN s.new_items_since
          WHEN \(inserted > 0) THEN c.now END,
        losses = CASE WHEN \(losses == nil) THEN s.losses WHEN \(losses?.count ?? 0 > 0) THEN jsonb_build_object(
          'at', json_date(r.now), 'count', \(losses?.count)::bigint, 'messages', \(losses?.messages)::text[]) END,
        paused = s.paused OR r.pauses, title = coalesce(s.title, \(outcome.title)),
        language = coalesce(s.language, \(outcome.language)),
        etag = CASE WHEN \(outcome.validators != nil) THEN \(etag) ELSE s.etag END,
        last_modified = CASE WHEN \(outcome.validators != nil) THEN \(lastModified) ELSE s.last_modified END,
        pacing = coalesce(\(pacing), s.pacing),
        url = CASE WHEN r.url IS NULL OR r.pauses THEN s.url ELSE r.url END,
        revision = s.revision + CASE WHEN r.pauses OR r.url IS NOT NULL THEN 1 ELSE 0 END
      FROM result AS r, hub AS h, clock AS c WHERE s.id = \(id) AND s.lease = \(lease.token)
      RETURNING r.fails
      """)
    guard let row = finished.first else { return }
    let hasFailed: Bool = try row.decode("fails")
    pollCounts.withLock { $0.add(outcome, hasFailed: hasFailed) }
  }
}
