import BackgroundWork
public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// The age after which an alert is no longer sent: 12 hours.
  private static let alertHours: Int32 = 12

  /// Leases messages that are due, alerts first. Other processes do not get them before the end of the lease. A message of a
  /// process that has died is due again then.
  ///
  /// Each message is judged again: a silent one is moved to the end of quiet hours, and is not sent to a device
  /// that has reported the news meanwhile. An alert is dropped if it was cancelled, if it is old, if the device does not want
  /// it any more, and in quiet hours unless it is breaking news. Therefore there may be fewer messages than `limit` although
  /// more are due; see `nextDue`.
  ///
  /// - Parameters:
  ///   - provider: The provider. While it is paused, there are no messages.
  ///   - limit: The maximum number of messages, 1...1000.
  ///   - time: The time within which the outcomes are recorded.
  ///   - reportRate: The share of devices that are asked to report their tokens, 0...1.
  ///   - now: The current time; nil for that of the database.
  public func leaseMessages(
    _ provider: PushProvider, limit: Int, for time: Duration, reportRate: Double, at now: Date? = nil
  ) async throws -> [PushMessage] {
    let lease = UUID()
    return try await deliveryDatabase.transaction { transaction in
      let alerts = try await transaction.pipeline([
        Self.lookups, Self.alertLease(lease, provider, limit: limit, for: time, at: now),
      ])
      var messages = try alerts[1].map { row in
        try PushMessage(row: row, kind: .alert, lease: lease, asksForReport: .random(in: 0..<1) < reportRate)
      }
      guard messages.count < limit else { return messages }
      let rows = try await transaction.query(
        Self.silentLease(lease, provider, limit: limit - messages.count, for: time, at: now))
      var codes: [(device: UUID, code: ConsoleSecret)] = []
      for row in rows {
        let isPending = try row.decode("is_pending", as: Bool.self)
        var message = try PushMessage(
          row: row, kind: isPending ? .confirmation : .silent, lease: lease,
          asksForReport: !isPending && .random(in: 0..<1) < reportRate)
        if isPending {
          let code = ConsoleSecret.random()
          codes.append((message.device, code))
          message.content.code = code.text
        }
        messages.append(message)
      }
      if !codes.isEmpty {
        // Only digests are stored, so each attempt has a code of its own.
        _ = try await transaction.query(
          """
          UPDATE devices AS d SET confirmation = n.digest
          FROM (
            SELECT u.id, decode(u.digest, 'base64') AS digest
            FROM unnest(\(codes.map(\.device)), \(codes.map { $0.code.digest.base64EncodedString() })) AS u (id, digest)
          ) AS n WHERE d.id = n.id AND d.state = 'pending'
          """)
      }
      return messages
    }
  }

  /// Returns the time until a message is due, in seconds, 0 or more; nil if none is owed. A pause of the provider counts.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func nextDue(_ provider: PushProvider, at now: Date? = nil) async throws -> Double? {
    let name = provider.rawValue
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now)), due AS (
        SELECT least(
          (SELECT min(o.due_at) FROM deliveries AS o WHERE o.provider = \(name) AND o.due_at IS NOT NULL),
          (SELECT min(a.due_at) FROM alert_deliveries AS a WHERE a.provider = \(name))) AS at
      )
      SELECT extract(epoch FROM greatest(
        d.at, (SELECT s.paused_until FROM push_providers AS s WHERE s.provider = \(name))) - c.now
        )::double precision AS wait
      FROM due AS d, clock AS c WHERE d.at IS NOT NULL
      """)
    return try rows.first.map { max(0, try $0.decode("wait")) }
  }

  /// Returns a silent message with the current token of the feed, for a test. Its outcome has no effect.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  /// - Returns: nil if the device is unknown.
  public func testMessage(to device: UUID, at now: Date? = nil) async throws -> PushMessage? {
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.feed)
      SELECT \(query: Device.columns), d.accepted, gen_random_uuid() AS push, 0::bigint AS attempts,
        NULL::timestamptz AS message_due, NULL::uuid AS item,
        NULL::jsonb AS content, f.epoch, f.version
      FROM devices AS d, feed AS f WHERE d.id = \(device)
      """)
    return try rows.first.map { row in
      try PushMessage(row: row, kind: .silent, lease: UUID(), asksForReport: true)
    }
  }

  // MARK: Statements

  /// The condition that a message belongs to a provider, and that it is not paused.
  private static func isOwed(_ alias: String, _ provider: PushProvider) -> PostgresQuery {
    """
    \(unsafeSQL: alias).provider = \(provider.rawValue) AND NOT EXISTS (
      SELECT FROM push_providers AS s, clock AS c WHERE s.provider = \(provider.rawValue) AND s.paused_until > c.now
    )
    """
  }

  /// The time since which the message of `u` could have been sent. The fan-out of its push `p` counts as delay. Quiet hours,
  /// budgets and the waits after failures do not.
  private static let messageDue: PostgresQuery = """
    CASE WHEN u.attempts = 0 AND u.due_at < p.starts_at + interval '10 minutes' THEN p.starts_at
      WHEN p.id IS NOT NULL THEN u.due_at END AS message_due
    """

  /// Leases alerts, and deletes those that are not to be sent.
  private static func alertLease(
    _ lease: UUID, _ provider: PushProvider, limit: Int, for time: Duration, at now: Date?
  ) -> PostgresQuery {
    """
    WITH \(query: clock(now)), \(query: feed), due AS (
      \(query: LeasedQueue.alerts.chosen("a.device, a.push, a.attempts, a.due_at", where: isOwed("a", provider), limit: limit))
    ), judged AS MATERIALIZED (
      SELECT u.device, u.push, u.attempts, \(query: messageDue), p.id IS NOT NULL AS is_known, p.item, p.content,
        (p.cancelled_at IS NULL AND p.content IS NOT NULL AND d.state = 'active' AND d.alerts AND d.expires_at > c.now
          AND p.created_at > c.now - make_interval(hours => \(alertHours))
          AND ((p.content ->> 'breaking')::boolean
            OR quiet_until(c.now, d.time_zone, d.quiet_from, d.quiet_to) IS NULL)) IS TRUE AS is_wanted
      FROM due AS u CROSS JOIN clock AS c LEFT JOIN pushes AS p ON p.id = u.push LEFT JOIN devices AS d ON d.id = u.device
    ), removed AS (
      DELETE FROM alert_deliveries AS a USING judged AS j
      WHERE a.device = j.device AND a.push = j.push AND NOT j.is_wanted
    ), dropped AS (
      INSERT INTO push_results AS r (push, dropped)
        SELECT j.push, count(*) FROM judged AS j WHERE j.is_known AND NOT j.is_wanted GROUP BY j.push ORDER BY j.push
      ON CONFLICT (push) DO UPDATE SET dropped = r.dropped + excluded.dropped
    ), leased AS (
      UPDATE alert_deliveries AS a SET \(query: LeasedQueue.alerts.taking(lease, for: time / .seconds(1)))
        FROM judged AS j WHERE a.device = j.device AND a.push = j.push AND j.is_wanted
    )
    SELECT \(query: Device.columns), d.accepted, j.push, j.attempts, j.message_due, j.item, j.content, f.epoch, f.version
    FROM judged AS j JOIN devices AS d ON d.id = j.device CROSS JOIN feed AS f WHERE j.is_wanted
    """
  }

  /// Leases silent messages and codes. It puts off those that meet quiet hours, and settles those that are not to be sent.
  private static func silentLease(
    _ lease: UUID, _ provider: PushProvider, limit: Int, for time: Duration, at now: Date?
  ) -> PostgresQuery {
    """
    WITH \(query: clock(now)), \(query: feed), due AS (
      \(query: LeasedQueue.messages.chosen("o.device, o.push, o.attempts, o.due_at", where: isOwed("o", provider), limit: limit))
    ), found AS (
      SELECT u.*, \(query: messageDue), d.id, d.state, p.item, quiet_until(c.now, d.time_zone, d.quiet_from, d.quiet_to) AS quiet_until,
        (u.push IS NOT NULL AND d.kind <> 'browser' AND d.expires_at > c.now AND NOT \(query: isKnown)) AS is_wanted
      FROM due AS u CROSS JOIN clock AS c CROSS JOIN feed AS f LEFT JOIN devices AS d ON d.id = u.device
        LEFT JOIN pushes AS p ON p.id = u.push
    ), judged AS MATERIALIZED (
      SELECT f.*, CASE WHEN f.id IS NULL THEN 'gone' WHEN f.state = 'pending' THEN 'send'
        WHEN f.is_wanted IS NOT TRUE THEN 'settled' WHEN f.quiet_until IS NOT NULL THEN 'later' ELSE 'send' END AS step
      FROM found AS f
    ), removed AS (
      DELETE FROM deliveries AS o USING judged AS j WHERE o.device = j.device AND j.step = 'gone'
    ), leased AS (
      UPDATE deliveries AS o SET next_at = NULL, lease = CASE WHEN j.step = 'send' THEN \(lease)::uuid END,
        push = CASE WHEN j.step <> 'settled' THEN o.push END,
        attempts = CASE WHEN j.step <> 'settled' THEN o.attempts ELSE 0 END,
        failing_since = CASE WHEN j.step = 'send' THEN o.failing_since END,
        due_at = CASE j.step WHEN 'send' THEN c.now + make_interval(secs => \(time / .seconds(1)))
          WHEN 'later' THEN j.quiet_until END
        FROM judged AS j, clock AS c WHERE o.device = j.device AND j.step <> 'gone'
    )
    SELECT \(query: Device.columns), d.accepted, coalesce(j.push, \(lease)::uuid) AS push, j.attempts, j.message_due, j.item,
      NULL::jsonb AS content, f.epoch, f.version, j.state = 'pending' AS is_pending
    FROM judged AS j JOIN devices AS d ON d.id = j.device CROSS JOIN feed AS f WHERE j.step = 'send'
    """
  }
}

extension PushMessage {
  /// - Parameter row: A device, with its push, the number of attempts, the item, the content and the feed's version.
  fileprivate init(row: PostgresRow, kind: Kind, lease: UUID, asksForReport: Bool) throws {
    let token = SyncToken(epoch: try row.decode("epoch"), scope: .feed, version: try row.decode("version"))
    let alert = try row.decode("content", as: PostgresJSON?.self)
      .map { try JSONDecoder().decode(AlertContent.self, from: $0.data) }
    self.init(
      push: try row.decode("push"), kind: kind, device: try row.decode("id"), target: try PushTarget(row: row),
      deviceKind: try row.value("kind"),
      content: PushContent(token: token.description, contentID: try row.decode("item"), alert: alert?.alert),
      asksForReport: asksForReport, attempts: try row.decode("attempts"), registeredAt: try row.decode("registered_at"),
      isProven: try row.decode("accepted", as: Bool.self) && kind != .confirmation,
      dueAt: try row.decode("message_due"), lease: lease)
  }

  /// The visible part of an alert as it is stored.
  private struct AlertContent: Decodable {
    var title: String
    var body: String
    var url: String?
    var breaking: Bool

    var alert: PushAlert { PushAlert(title: title, body: body, url: url, breaking: breaking) }
  }
}
