public import Foundation
import PostgresClient
import Synchronization

extension NewsStore {
  /// The number of attempts after which a refused address gets the message no more.
  private static let maximumRefusals = 3
  /// The time until a message to a refused address is tried again, in seconds.
  private static let refusalWait: Double = 3600

  /// Records the outcomes of leased messages, at most 1,000, in one statement. An outcome has no effect if another process
  /// has leased the message, or if it was leased again after the end of the lease.
  ///
  /// If a later push has taken the place of a silent message while it was sent, the device is owed this one then.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func recordOutcomes(_ outcomes: [PushOutcome], at now: Date? = nil) async throws {
    if outcomes.isEmpty { return }
    let statement = Self.record(outcomes, at: now)
    _ = try await deliveryDatabase.transaction { try await $0.commit(after: [Self.lookups, statement]) }
    deliveries.withLock { $0.add(outcomes) }
  }

  private static func record(_ outcomes: [PushOutcome], at now: Date?) -> PostgresQuery {
    """
    WITH \(query: clock(now)), given AS MATERIALIZED (
      SELECT * FROM unnest(
        \(outcomes.map(\.message.device)), \(outcomes.map(\.message.push)), \(outcomes.map(\.message.lease)),
        \(outcomes.map { $0.message.kind == .alert }), \(outcomes.map { $0.message.kind == .confirmation }),
        \(outcomes.map(\.message.registeredAt)), \(outcomes.map(\.result.name)), \(outcomes.map(\.result.wait)),
        \(outcomes.map(\.result.since)), \(outcomes.map(\.result.reason)), \(outcomes.map(\.result.attempts))
      ) AS g (device, push, lease, is_alert, is_code, registered_at, result, wait, since, reason, attempts)
    ), \(query: held), \(query: devices), \(query: settlement)
    INSERT INTO push_results AS r (push, sent, refused, gone, dropped, last_sent_at)
      SELECT h.push, count(*) FILTER (WHERE h.result = 'sent'),
        count(*) FILTER (WHERE h.result IN ('tokenError', 'invalid')), count(*) FILTER (WHERE h.device IN (SELECT x.id FROM deleted AS x)),
        count(*) FILTER (WHERE h.is_exhausted), max(c.now) FILTER (WHERE h.result = 'sent')
      FROM held AS h CROSS JOIN clock AS c
      WHERE NOT h.is_code AND EXISTS (SELECT FROM pushes AS p WHERE p.id = h.push)
      GROUP BY h.push ORDER BY h.push
    ON CONFLICT (push) DO UPDATE SET sent = r.sent + excluded.sent, refused = r.refused + excluded.refused,
      gone = r.gone + excluded.gone, dropped = r.dropped + excluded.dropped,
      last_sent_at = coalesce(greatest(excluded.last_sent_at, r.last_sent_at), r.last_sent_at)
    """
  }

  /// The outcomes whose leases still hold. The rows are locked in the order of devices, as a fan-out does.
  private static let held: PostgresQuery = """
    silent AS MATERIALIZED (
      SELECT g.*, o.push AS owed, o.attempts AS tried, o.next_at FROM given AS g JOIN deliveries AS o ON o.device = g.device
      WHERE NOT g.is_alert AND o.lease = g.lease ORDER BY o.device FOR UPDATE OF o
    ), alerts AS MATERIALIZED (
      SELECT g.*, a.push AS owed, a.attempts AS tried, NULL::timestamptz AS next_at
      FROM given AS g JOIN alert_deliveries AS a ON a.device = g.device AND a.push = g.push
      WHERE g.is_alert AND a.lease = g.lease ORDER BY a.device, a.push FOR UPDATE OF a
    ), held AS MATERIALIZED (
      SELECT a.*, a.result = 'tokenError' AND a.tried + 1 >= \(maximumRefusals) AS is_exhausted,
        CASE WHEN a.is_code THEN a.owed IS NOT NULL ELSE a.owed IS DISTINCT FROM a.push END AS is_replaced
      FROM (SELECT * FROM silent UNION ALL SELECT * FROM alerts) AS a
    )
    """

  /// Deletes devices that are gone, and marks devices whose addresses were refused, or accepted for the first time. An
  /// outcome concerns the address as it was when the message was leased, so a device that has registered since is left
  /// alone.
  private static let devices: PostgresQuery = """
    deleted AS (
      DELETE FROM devices AS d USING held AS h
      WHERE h.result = 'gone' AND d.id = h.device AND d.registered_at <= h.registered_at + interval '1 millisecond'
        AND (h.since IS NULL OR d.registered_at < h.since)
      RETURNING d.id
    ), marked AS (
      UPDATE devices AS d SET
        token_error = CASE WHEN h.result = 'tokenError' THEN h.reason END,
        token_error_at = CASE WHEN h.result = 'tokenError' THEN c.now END,
        token_errors = CASE WHEN h.result = 'tokenError' THEN d.token_errors + 1 ELSE 0 END,
        accepted = d.accepted OR h.result = 'sent'
      FROM clock AS c, (
        SELECT DISTINCT ON (o.device) o.device, o.result, o.reason, o.registered_at FROM held AS o
        WHERE o.result IN ('sent', 'tokenError') ORDER BY o.device, o.result DESC
      ) AS h
      WHERE d.id = h.device AND (h.result = 'tokenError' OR d.token_error_at IS NOT NULL OR NOT d.accepted)
        AND d.registered_at <= h.registered_at + interval '1 millisecond'
    )
    """

  /// Notes what devices are owed after the outcomes.
  private static let settlement: PostgresQuery = """
    settled AS MATERIALIZED (
      SELECT h.*, c.now, CASE
        WHEN h.result = 'retry' THEN c.now + make_interval(secs => h.wait)
        WHEN h.result = 'tokenError' AND NOT h.is_exhausted THEN c.now + make_interval(secs => \(refusalWait))
        WHEN h.result = 'tokenError' THEN NULL
        -- The address is another one since the lease, and has not got the message.
        WHEN h.result = 'gone' AND EXISTS (
          SELECT FROM devices AS d WHERE d.id = h.device AND d.registered_at > h.registered_at + interval '1 millisecond'
        ) THEN c.now
        WHEN h.is_replaced THEN greatest(c.now, h.next_at) END AS due_at
      FROM held AS h CROSS JOIN clock AS c
      WHERE NOT EXISTS (SELECT FROM deleted AS x WHERE x.id = h.device)
    ), owed AS (
      UPDATE deliveries AS o SET lease = NULL, next_at = NULL, due_at = s.due_at,
        push = CASE WHEN s.due_at IS NOT NULL THEN o.push END,
        attempts = CASE WHEN s.due_at IS NULL OR s.result IN ('sent', 'invalid') THEN 0 ELSE o.attempts + s.attempts END,
        -- Anyone can register an address whose service does not answer. It has to return its code first.
        failing_since = CASE WHEN s.result = 'retry' AND NOT s.is_code THEN coalesce(o.failing_since, s.now) END,
        sent = CASE WHEN s.result <> 'sent' THEN o.sent
          ELSE ARRAY(SELECT t FROM unnest(o.sent) AS t WHERE t > s.now - interval '1 hour' ORDER BY t) || s.now END
      FROM settled AS s WHERE NOT s.is_alert AND o.device = s.device
    ), owed_alerts AS (
      UPDATE alert_deliveries AS a SET lease = NULL, due_at = s.due_at, attempts = a.attempts + s.attempts,
        failing_since = CASE WHEN s.result = 'retry' THEN coalesce(a.failing_since, s.now) END
      FROM settled AS s WHERE s.is_alert AND a.device = s.device AND a.push = s.push AND s.due_at IS NOT NULL
    ), done AS (
      DELETE FROM alert_deliveries AS a USING settled AS s
      WHERE s.is_alert AND a.device = s.device AND a.push = s.push AND s.due_at IS NULL
    )
    """
}

extension PushOutcome.Result {
  /// The name by which statements and counters know the result. A message that was not sent is late, like one that has failed.
  var name: String {
    switch self {
    case .sent: "sent"
    case .gone: "gone"
    case .tokenError: "tokenError"
    case .retry, .unsent: "retry"
    case .invalid: "invalid"
    }
  }

  fileprivate var wait: Double? {
    switch self {
    case .retry(let seconds, _), .unsent(let seconds, _): max(0, seconds)
    case .sent, .gone, .tokenError, .invalid: nil
    }
  }

  /// The number of attempts that have ended with the result.
  fileprivate var attempts: Int { if case .unsent = self { 0 } else { 1 } }

  fileprivate var since: Date? { if case .gone(let since) = self { since } else { nil } }

  fileprivate var reason: String? {
    switch self {
    case .tokenError(let reason), .retry(_, let reason), .unsent(_, let reason), .invalid(let reason):
      String(reason.prefix(200))
    case .sent, .gone: nil
    }
  }
}
