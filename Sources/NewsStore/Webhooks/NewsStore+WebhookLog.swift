public import Foundation
public import News
import PostgresClient

/// A page of the log of a webhook.
public struct WebhookLogPage: Sendable {
  /// The deliveries, newest first.
  public var deliveries: [WebhookDelivery]
  /// The position after which the next page begins; nil on the last page.
  public var next: Keyset?
}

extension NewsStore {
  /// The age in days at which deliveries are deleted.
  private static let webhookLogDays: Int32 = 30
  /// The maximum number of deliveries that a statement deletes.
  private static let webhookPurgeChunk: Int32 = 500

  /// Reads the deliveries of a webhook, newest first.
  ///
  /// - Parameters:
  ///   - position: The last position of the previous page; nil for the first page.
  ///   - limit: The maximum number of deliveries, 1 or more.
  /// - Throws: `StoreError.notFound`.
  public func webhookDeliveries(
    of id: UUID, after position: Keyset? = nil, limit: Int
  ) async throws -> WebhookLogPage {
    let condition: PostgresQuery =
      position.map { "(d.created_at, d.id) < (\($0.date), \($0.id))" } ?? "true"
    let answers = try await database.snapshot([
      "SELECT 1 FROM webhooks WHERE id = \(id)",
      """
      \(query: WebhookDelivery.selection) WHERE d.webhook = \(id) AND \(query: condition)
      ORDER BY d.created_at DESC, d.id DESC LIMIT \(limit + 1)
      """,
    ])
    if answers[0].isEmpty { throw StoreError.notFound }
    let deliveries = try answers[1].prefix(limit).map(WebhookDelivery.init(row:))
    let last = deliveries.count < answers[1].count ? deliveries.last : nil
    return WebhookLogPage(deliveries: deliveries, next: last.map { Keyset(date: $0.created, id: $0.id) })
  }

  /// - Throws: `StoreError.notFound`.
  static func delivery(
    _ delivery: UUID, of id: UUID, in transaction: PostgresTransaction
  ) async throws -> WebhookDelivery {
    let rows = try await transaction.query(
      "\(query: WebhookDelivery.selection) WHERE d.id = \(delivery) AND d.webhook = \(id)")
    return try WebhookDelivery(row: rows.found())
  }

  /// Deletes the deliveries that are older than 30 days, with their attempts. Rows that others have locked are left for
  /// the next time.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func purgeWebhookDeliveries(at now: Date? = nil) async throws {
    let chunk: PostgresQuery = """
      WITH \(query: Self.clock(now))
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT d.id FROM webhook_deliveries AS d
        WHERE d.created_at <= (SELECT c.now - make_interval(days => \(Self.webhookLogDays)) FROM clock AS c)
        ORDER BY d.created_at LIMIT \(Self.webhookPurgeChunk) FOR UPDATE SKIP LOCKED)
      """
    while try await deliveryDatabase.query(chunk).affected == Int(Self.webhookPurgeChunk) {}
  }

  /// Counts the webhooks and what is due for `webhookActivity`.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func countWebhooks(at now: Date? = nil) async throws {
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      SELECT count(*) FILTER (WHERE w.paused) AS paused,
        count(*) FILTER (WHERE NOT w.paused AND w.failing_since IS NOT NULL) AS failing,
        count(*) FILTER (WHERE NOT w.paused AND w.failing_since IS NULL) AS working,
        coalesce(sum(d.count) FILTER (WHERE NOT w.paused), 0)::bigint AS due,
        coalesce(extract(epoch FROM max(c.now - d.oldest) FILTER (WHERE NOT w.paused AND d.oldest < c.now)), 0)
          ::double precision AS overdue
      FROM webhooks AS w CROSS JOIN clock AS c CROSS JOIN LATERAL (
        SELECT count(*) AS count, min(o.due_at) AS oldest FROM webhook_deliveries AS o
        WHERE o.webhook = w.id AND o.due_at IS NOT NULL
      ) AS d
      """)
    guard let row = rows.first else { return }
    var counts = WebhookCounts()
    counts.working = try row.decode("working")
    counts.failing = try row.decode("failing")
    counts.paused = try row.decode("paused")
    counts.due = try row.decode("due")
    counts.overdueSeconds = try row.decode("overdue")
    webhookActivity.noteCounts(counts)
  }
}

extension WebhookDelivery {
  /// The maximum number of attempts that are listed.
  private static let listedAttempts: Int32 = 20

  /// The columns and the table that `init(row:)` reads. A WHERE clause may follow.
  fileprivate static let selection: PostgresQuery = """
    SELECT d.id, d.event, d.item, d.version, d.state, d.created_at, date_trunc('milliseconds', d.due_at) AS due_at,
      (SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('number', a.number, 'at', json_date(a.at),
          'status', a.status, 'milliseconds', a.milliseconds, 'error', a.error)) ORDER BY a.number), '[]')
        FROM (
          SELECT * FROM webhook_attempts AS t WHERE t.delivery = d.id ORDER BY t.number DESC LIMIT \(listedAttempts)
        ) AS a) AS attempts
    FROM webhook_deliveries AS d
    """

  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), event: try row.decode("event"), item: try row.decode("item"),
      version: try row.decode("version"), state: try row.value("state"), created: try row.decode("created_at"),
      nextAttempt: try row.decode("due_at"),
      attempts: try row.json("attempts"))
  }
}
