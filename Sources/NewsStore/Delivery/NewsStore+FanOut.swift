public import Foundation
import PostgresClient

extension NewsStore {
  /// The number of devices in a batch.
  private static let batchSize = 1000
  /// The planner settings for statements about some of a million devices: only look-ups by key. Each execution has a plan of
  /// its own, made for the present sizes of the tables. A plan that a session has made while a table was empty would read
  /// all of it later.
  static let lookups: PostgresQuery = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_bitmapscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('enable_material', 'off', true)
    """

  /// Finds the next devices of a push that has started, at most 1,000, and notes what they are owed.
  ///
  /// It is one statement, so that a process that dies leaves a batch either undone or done, with the position of the next
  /// one. Other processes go on with other pushes meanwhile. Devices are read in the order of their ids, whatever their
  /// topics are, so an alert for a small topic reads all devices too.
  ///
  /// A device is owed one silent push at most: a later one takes the place of an earlier one. It becomes due at the end of
  /// the device's quiet hours, and when an hour has passed since the first of its last `budget` messages. A device that has
  /// reported the version, or that of its topics, is not woken. Browsers are not woken either.
  ///
  /// Alerts have no budget. In quiet hours they are dropped, unless the item is breaking news.
  ///
  /// - Parameters:
  ///   - budget: The maximum number of silent messages that a device gets within an hour, 1 or more.
  ///   - now: The current time; nil for that of the database.
  /// - Returns: Whether there was a batch; then there may be another one.
  public func fanOut(budget: Int, at now: Date? = nil) async throws -> Bool {
    let rows = try await deliveryDatabase.transaction { transaction in
      try await transaction.commit(after: [Self.lookups, Self.batch(budget: Int32(clamping: budget), at: now)])
    }
    return !rows[1].isEmpty
  }

  /// Returns the time until the next push starts or is continued, in seconds, 0 or more; nil if there is none.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func nextFanOut(at now: Date? = nil) async throws -> Double? {
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      SELECT extract(epoch FROM (SELECT min(p.starts_at) FROM pushes AS p WHERE p.fanned_out_at IS NULL) - c.now
        )::double precision AS wait
      FROM clock AS c
      """)
    return try rows.first?.decode("wait", as: Double?.self).map { max(0, $0) }
  }

  /// The condition that a device `d` has what a push `p` announces, in the epoch of `f`: its last report names the version
  /// of the push or a later one, or that of the scopes that the device follows. Versions of other epochs say nothing.
  static let isKnown: PostgresQuery = """
    coalesce(CASE WHEN d.reported_epoch = f.epoch THEN d.reported_version >= least(
      CASE WHEN p.epoch = f.epoch THEN p.version END,
      (SELECT max(s.version) FROM scopes AS s WHERE s.scope = ANY (coalesce(d.topics, ARRAY['']::text[])))) END, false)
    """

  /// The current epoch and version of the feed, as a part of WITH.
  static let feed: PostgresQuery = """
    feed AS MATERIALIZED (SELECT \(query: Database.currentEpoch) AS epoch, s.version FROM scopes AS s WHERE s.scope = '')
    """

  private static func batch(budget: Int32, at now: Date?) -> PostgresQuery {
    """
    WITH \(query: clock(now)), \(query: feed), push AS (
      SELECT p.* FROM pushes AS p
      WHERE p.fanned_out_at IS NULL AND p.starts_at <= (SELECT c.now FROM clock AS c)
      ORDER BY p.kind = 'silent', p.starts_at, p.id LIMIT 1 FOR NO KEY UPDATE OF p SKIP LOCKED
    ), batch AS MATERIALIZED (
      SELECT d.id, d.provider, p.id AS push, p.kind = 'alert' AS is_alert, c.now, r.is_wanted,
        CASE WHEN r.is_wanted AND (p.content ->> 'breaking')::boolean IS NOT TRUE
          THEN quiet_until(c.now, d.time_zone, d.quiet_from, d.quiet_to) END AS quiet_until
      FROM (SELECT p.*, p.content ->> 'language' AS language FROM push AS p) AS p CROSS JOIN clock AS c
        CROSS JOIN feed AS f CROSS JOIN LATERAL (
          SELECT * FROM devices AS d
          WHERE d.id > coalesce(p.last_device, '00000000-0000-0000-0000-000000000000')
          ORDER BY d.id LIMIT \(unsafeSQL: String(batchSize))
        ) AS d CROSS JOIN LATERAL (
          SELECT CASE WHEN p.kind = 'alert' THEN \(query: wantsAlert)
            ELSE d.kind <> 'browser' AND \(query: isReached) AND NOT \(query: isKnown) END AS is_wanted
        ) AS r
    ), \(query: debts(budget: budget))
    UPDATE pushes AS p SET fan_out_started_at = coalesce(p.fan_out_started_at, c.now),
      last_device = coalesce((SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1), p.last_device),
      fanned_out_at = CASE WHEN (SELECT count(*) FROM batch) < \(batchSize) THEN c.now END,
      audience = p.audience + (SELECT count(*) FROM batch AS b WHERE b.is_wanted)
    FROM push AS u, clock AS c WHERE p.id = u.id
    RETURNING p.id
    """
  }

  /// Notes what the devices of a `batch` are owed.
  private static func debts(budget: Int32) -> PostgresQuery {
    """
    silent AS (
      INSERT INTO deliveries AS o (device, provider, push, due_at)
        SELECT b.id, b.provider, b.push, coalesce(b.quiet_until, b.now) FROM batch AS b
        WHERE b.is_wanted AND NOT b.is_alert ORDER BY b.id
      ON CONFLICT (device) DO UPDATE SET push = excluded.push, provider = excluded.provider,
        attempts = CASE WHEN o.due_at IS NULL THEN 0 ELSE o.attempts END,
        failing_since = CASE WHEN o.due_at IS NOT NULL THEN o.failing_since END,
        -- A message that is owed already keeps its time. One that is being sent has another one follow it.
        due_at = coalesce(o.due_at, greatest(
          excluded.due_at, o.sent[cardinality(o.sent) - \(budget) + 1] + interval '1 hour')),
        next_at = CASE WHEN o.lease IS NOT NULL THEN greatest(excluded.due_at, CASE
          WHEN \(budget) = 1 THEN excluded.due_at + interval '1 hour'
          ELSE o.sent[cardinality(o.sent) - \(budget) + 2] + interval '1 hour' END) END
    ), alerts AS (
      INSERT INTO alert_deliveries (device, push, provider, due_at)
        SELECT b.id, b.push, b.provider, b.now FROM batch AS b
        WHERE b.is_wanted AND b.is_alert AND b.quiet_until IS NULL ORDER BY b.id
      ON CONFLICT DO NOTHING
    ), dropped AS (
      INSERT INTO push_results AS r (push, dropped)
        SELECT b.push, count(*) FROM batch AS b WHERE b.is_alert AND b.quiet_until IS NOT NULL GROUP BY b.push
      ON CONFLICT (push) DO UPDATE SET dropped = r.dropped + excluded.dropped
    )
    """
  }
}
