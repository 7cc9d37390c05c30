public import Foundation
public import News
package import PostgresClient

extension Webhook.Event {
  /// - Returns: nil for an entry of the outbox that webhooks do not receive.
  init?(_ kind: OutboxEvent.Kind) {
    switch kind {
    case .published: self = .published
    case .changed: self = .changed
    case .retracted: self = .retracted
    case .expired: self = .expired
    case .alert: return nil
    }
  }
}

extension NewsStore {
  /// Inserts the deliveries of changes for all webhooks that want them. A paused webhook receives none. The statement
  /// belongs into the transaction that removes the changes from the outbox.
  ///
  /// - Parameters:
  ///   - publicURL: The address of the installation without a trailing slash, with which the addresses of items begin;
  ///     nil for events without addresses.
  ///   - now: The current time; nil for that of the database.
  package static func webhookInsertion(
    of events: [OutboxEvent], publicURL: String?, at now: Date? = nil
  ) -> PostgresQuery {
    let changes = events.compactMap { event in Webhook.Event(event.kind).map { (event: event, type: $0.rawValue) } }
    // The kind of a token precedes the epoch, which is known in the transaction only; the rest follows it.
    let tokens = changes.map { change in
      String(SyncToken(epoch: "000000", scope: .feed, version: change.event.version).description.dropFirst(7))
    }
    let times = changes.map { RFC3339.milliseconds(of: $0.event.at) }
    // A slug contains no comma.
    let topics = changes.map { $0.event.topics.joined(separator: ",") }
    return """
      WITH \(query: clock(now)), hook AS (
        SELECT w.id, w.events, w.topics FROM webhooks AS w WHERE NOT w.paused FOR KEY SHARE OF w
      ), change AS (
        SELECT e.item, e.version, e.type, to_timestamp(e.time / 1000.0) AS at,
          '1' || \(query: Database.currentEpoch) || e.token AS token,
          string_to_array(e.topics, ',') COLLATE "C" AS topics,
          \(publicURL.map { $0 + "/v1/items/" }) || e.item::text AS url
        FROM unnest(
          \(changes.map(\.event.item)), \(changes.map(\.event.version)), \(changes.map(\.type)), \(times), \(tokens),
          \(topics)
        ) AS e (item, version, type, time, token, topics)
      )
      INSERT INTO webhook_deliveries (
        id, webhook, event, at, item, version, token, topics, url, created_at, state, due_at)
      SELECT gen_random_uuid(), h.id, e.type, e.at, e.item, e.version, e.token, e.topics, e.url,
        date_trunc('milliseconds', c.now), 'due', c.now
      FROM change AS e JOIN hook AS h ON e.type = ANY (h.events) AND (h.topics IS NULL OR h.topics && e.topics)
        CROSS JOIN clock AS c
      """
  }

  /// Creates a delivery of the event `webhook.test`, which has one attempt.
  ///
  /// - Parameters:
  ///   - once: The request, if it may be repeated.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.notFound`, `webhookPaused`, `outcomeUnknown`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func testWebhook(
    _ id: UUID, once: RepeatableWrite<WebhookDelivery>? = nil, at now: Date? = nil
  ) async throws -> WebhookDelivery {
    defer { webhookActivity.signal() }
    return try await transaction(once) { transaction in
      if try await Self.lockedWebhook(id, in: transaction).paused { throw StoreError.webhookPaused }
      let delivery = UUID()
      _ = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        INSERT INTO webhook_deliveries (id, webhook, event, at, created_at, state, due_at)
        SELECT \(delivery), \(id), \(Webhook.testEvent), c.now, date_trunc('milliseconds', c.now), 'due', c.now
        FROM clock AS c
        """)
      return try await Self.delivery(delivery, of: id, in: transaction)
    }
  }

  /// Makes a delivery due now, whatever became of it. It has all attempts again, with the same `webhook-id`. An attempt
  /// that is under way is not repeated.
  ///
  /// - Parameters:
  ///   - once: The request, if it may be repeated.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.notFound`, `webhookPaused`, `outcomeUnknown`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func replayDelivery(
    _ delivery: UUID, of id: UUID, once: RepeatableWrite<WebhookDelivery>? = nil, at now: Date? = nil
  ) async throws -> WebhookDelivery {
    defer { webhookActivity.signal() }
    return try await transaction(once) { transaction in
      let isPaused = try await Self.lockedWebhook(id, in: transaction).paused
      _ = try await Self.delivery(delivery, of: id, in: transaction)
      if isPaused { throw StoreError.webhookPaused }
      _ = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        UPDATE webhook_deliveries AS d SET state = 'due', due_at = c.now, lease = NULL, failures = 0
        FROM clock AS c WHERE d.id = \(delivery) AND (d.lease IS NULL OR d.due_at <= c.now)
        """)
      return try await Self.delivery(delivery, of: id, in: transaction)
    }
  }
}
