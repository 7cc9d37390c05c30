import BackgroundWork
public import Foundation
public import News
import PostgresClient

/// The change of an item that a webhook is notified of.
public struct WebhookChange: Sendable, Equatable {
  /// The item.
  public let item: UUID
  /// The version of the change.
  public let version: Int
  /// The token of the feed at the version.
  public let token: String
  /// The topics whose lists have changed, sorted: the present topics of the item, and the topics that it has left.
  public let topics: [String]
  /// The address of the item's JSON; nil if the server has no public address.
  public let url: String?
}

/// A request that a process has to send to a webhook.
public struct WebhookMessage: Sendable {
  /// The id of the delivery, which is the value of `webhook-id`.
  public let id: UUID
  /// The webhook.
  public let webhook: UUID
  /// The address in its normal form.
  public let url: String
  /// The host of the address.
  public let host: String
  /// The type of the event: a `Webhook.Event` or `Webhook.testEvent`.
  public let event: String
  /// The time of the event.
  public let at: Date
  /// The changed item; nil for a test.
  public let change: WebhookChange?
  /// The secrets that sign, the current one first.
  public let secrets: [WebhookSecret]
  /// The number of failures since the creation or the last replay.
  public let failures: Int
  let lease: UUID
}

/// The outcome of a request to a webhook.
public struct WebhookOutcome: Sendable {
  /// The consequence for the delivery.
  public enum Result: Sendable, Equatable {
    /// The receiver has accepted the event.
    case delivered
    /// The event is sent again after a time in seconds.
    case retried(after: Double)
    /// The event is not sent again.
    case failed
    /// The receiver does not want any events. The webhook is paused.
    case gone
  }

  /// The status of the response; nil without one.
  public var status: Int?
  /// The duration in milliseconds.
  public var milliseconds: Int
  /// The reason of a failure, in words for editors.
  public var error: String?
  /// The consequence.
  public var result: Result
  /// The time in seconds before which the receiver asks for no request at all.
  public var retryAfter: Double?

  /// Creates an outcome.
  public init(
    status: Int?, milliseconds: Int, error: String? = nil, result: Result, retryAfter: Double? = nil
  ) {
    self.status = status
    self.milliseconds = milliseconds
    self.error = error
    self.result = result
    self.retryAfter = retryAfter
  }
}

extension NewsStore {
  /// The time in seconds for which a webhook may fail before it is paused: five days.
  public static let maximumWebhookFailingTime: Double = 5 * 86_400
  /// The key of the lock under which deliveries are leased, so that two processes do not choose the same webhook.
  private static let leaseLock = 7_161_720_914_261

  /// Leases deliveries that are due: at most one for each webhook, and none for a webhook to which a request is under way.
  /// A webhook whose receiver is slow delays no other one, also at the same host.
  ///
  /// - Parameters:
  ///   - limit: The maximum number.
  ///   - time: The duration after which other processes may send the same, in seconds.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.unavailable`.
  public func leaseWebhookDeliveries(
    limit: Int, for time: Double, at now: Date? = nil
  ) async throws -> [WebhookMessage] {
    try await deliveryDatabase.transaction { transaction in
      let answers = try await transaction.pipeline([
        // The next statement sees the leases of all earlier holders.
        "SELECT pg_advisory_xact_lock(\(Self.leaseLock))",
        """
        WITH \(query: Self.clock(now)), chosen AS (
          SELECT d.id
          FROM webhooks AS w CROSS JOIN clock AS c CROSS JOIN LATERAL (
            SELECT d.id, d.due_at FROM webhook_deliveries AS d
            WHERE d.webhook = w.id AND d.due_at <= c.now ORDER BY d.due_at, d.version LIMIT 1
          ) AS d
          WHERE NOT w.paused AND (w.not_before IS NULL OR w.not_before <= c.now)
            AND NOT EXISTS (
              SELECT FROM webhook_deliveries AS o WHERE o.lease IS NOT NULL AND o.due_at > c.now AND o.webhook = w.id)
          ORDER BY d.due_at LIMIT \(limit)
        )
        UPDATE webhook_deliveries AS d SET \(query: LeasedQueue.webhooks.taking(UUID(), for: time))
        FROM chosen AS f, webhooks AS w, clock AS c WHERE d.id = f.id AND w.id = d.webhook AND d.due_at <= c.now
        RETURNING d.id, d.webhook, w.url, w.host, d.event, d.at, d.item, d.version, d.token, d.topics,
          d.url AS item_url, w.secret,
          CASE WHEN w.previous_until > c.now THEN w.previous_secret END AS previous_secret, d.failures,
          d.lease
        """,
      ])
      return try answers[1].map(WebhookMessage.init(row:))
    }
  }

  /// Returns the time until a delivery is due, in seconds, 0 or more; nil if there is none.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func nextWebhookDelivery(at now: Date? = nil) async throws -> Double? {
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      SELECT extract(epoch FROM min(greatest(d.due_at, w.not_before)) - min(c.now))::double precision AS wait
      FROM webhooks AS w CROSS JOIN clock AS c CROSS JOIN LATERAL (
        SELECT o.due_at FROM webhook_deliveries AS o WHERE o.webhook = w.id AND o.due_at IS NOT NULL
        ORDER BY o.due_at LIMIT 1
      ) AS d
      WHERE NOT w.paused
      """)
    return try rows.first?.decode("wait", as: Double?.self).map { max(0, $0) }
  }

  /// Records the outcome of a request, and ends its lease. Nothing is recorded if another process has taken it over.
  ///
  /// A webhook is paused by the outcome `gone`, and by a failure five days after the first one since its last success. The
  /// failure of a test, which has one attempt, is no failure of the webhook.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  /// - Returns: The reason for which the webhook was paused; nil if it was not.
  @discardableResult
  public func recordOutcome(
    _ outcome: WebhookOutcome, of message: WebhookMessage, at now: Date? = nil
  ) async throws -> Webhook.DisabledReason? {
    let reason: Webhook.DisabledReason?? = try await deliveryDatabase.transaction { transaction in
      let found = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        SELECT w.paused, c.now - w.failing_since >= make_interval(secs => \(Self.maximumWebhookFailingTime)) IS TRUE
          AS is_over
        FROM webhooks AS w CROSS JOIN clock AS c WHERE w.id = \(message.webhook) FOR NO KEY UPDATE OF w
        """)
      guard let webhook = found.first else { return nil }
      var reason: Webhook.DisabledReason?
      if try !webhook.decode("paused", as: Bool.self) {
        if outcome.result == .gone {
          reason = .gone
        } else if outcome.result != .delivered, message.event != Webhook.testEvent, try webhook.decode("is_over") {
          reason = .failing
        }
      }
      let recorded = try await transaction.query(Self.record(outcome, of: message, pausing: reason, at: now))
      if recorded.isEmpty { return nil }
      _ = try await transaction.query(
        """
        DELETE FROM webhook_deliveries AS d USING items AS i
        WHERE d.id = \(message.id) AND d.state <> 'due' AND i.id = d.item AND i.erased_at IS NOT NULL
        """)
      return .some(reason)
    }
    guard let reason else { return nil }
    webhookActivity.note(isDelivered: outcome.result == .delivered)
    return reason
  }

  private static func record(
    _ outcome: WebhookOutcome, of message: WebhookMessage, pausing reason: Webhook.DisabledReason?, at now: Date?
  ) -> PostgresQuery {
    let isDelivered = outcome.result == .delivered
    var wait: Double?
    if case .retried(let time) = outcome.result { wait = time }
    let state = isDelivered ? "delivered" : wait == nil ? "failed" : "due"
    return """
      WITH \(query: clock(now)), held AS (
        UPDATE webhook_deliveries AS d SET \(query: LeasedQueue.webhooks.freeing), attempts = d.attempts + 1, state = \(state),
          failures = d.failures + CASE WHEN \(isDelivered) THEN 0 ELSE 1 END,
          due_at = c.now + make_interval(secs => \(wait))
        FROM clock AS c WHERE d.lease = \(message.lease) AND d.id = \(message.id)
        RETURNING d.id, d.webhook, d.attempts
      ), logged AS (
        INSERT INTO webhook_attempts (delivery, number, at, status, milliseconds, error)
        SELECT h.id, h.attempts, c.now, \(outcome.status), \(outcome.milliseconds), \(outcome.error)
        FROM held AS h, clock AS c
      )
      UPDATE webhooks AS w SET
        last_success = CASE WHEN \(isDelivered) THEN c.now ELSE w.last_success END,
        failing_since = CASE WHEN \(isDelivered) THEN NULL WHEN \(message.event == Webhook.testEvent) THEN w.failing_since
          ELSE coalesce(w.failing_since, c.now) END,
        not_before = c.now + make_interval(secs => \(outcome.retryAfter)),
        paused = w.paused OR \(reason != nil), disabled_reason = coalesce(\(reason?.rawValue), w.disabled_reason),
        revision = w.revision + CASE WHEN \(reason != nil) THEN 1 ELSE 0 END
      FROM held AS h, clock AS c WHERE w.id = h.webhook
      RETURNING w.id
      """
  }

  /// Gives a lease back without an outcome, as at a shutdown. The request may have been sent.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func releaseDelivery(_ message: WebhookMessage, at now: Date? = nil) async throws {
    let queue = LeasedQueue.webhooks
    _ = try await deliveryDatabase.query(
      queue.change(message.id, leasedBy: message.lease, setting: "\(query: queue.freeing), due_at = c.now", at: now))
  }
}

extension WebhookMessage {
  fileprivate init(row: PostgresRow) throws {
    let secrets =
      [try row.decode("secret", as: String.self)]
      + [try row.decode("previous_secret", as: String?.self)].compactMap { $0 }
    let change = try row.decode("item", as: UUID?.self).map { item in
      WebhookChange(
        item: item, version: try row.decode("version"), token: try row.decode("token"),
        topics: try row.decode("topics"), url: try row.decode("item_url"))
    }
    self.init(
      id: try row.decode("id"), webhook: try row.decode("webhook"), url: try row.decode("url"),
      host: try row.decode("host"), event: try row.decode("event"), at: try row.decode("at"), change: change,
      secrets: secrets.compactMap(WebhookSecret.init), failures: try row.decode("failures"),
      lease: try row.decode("lease"))
  }
}
