public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// The maximum number of webhooks.
  public static let maximumWebhooks = 100
  /// The time in seconds for which a secret signs after its rotation.
  private static let secretOverlap: Double = 86_400
  /// The key of the lock under which webhooks are created. It is arbitrary, and the same in all processes.
  private static let creationLock = 7_161_720_914_260

  /// Reads all webhooks, oldest first.
  public func webhooks() async throws -> [Webhook] {
    try await database.query("\(query: Webhook.selection) ORDER BY w.created_at, w.id").map(Webhook.init(row:))
  }

  /// Reads a webhook.
  ///
  /// - Throws: `StoreError.notFound`.
  public func webhook(_ id: UUID) async throws -> Webhook {
    try Webhook(row: await database.query("\(query: Webhook.selection) WHERE w.id = \(id)").found())
  }

  /// Reads a webhook that has a secret, to find out whether a write with this secret has happened.
  ///
  /// - Returns: nil if there is no such webhook, or if its current secret is another one.
  public func webhook(_ id: UUID, withSecret secret: WebhookSecret) async throws -> Webhook? {
    try await database.query("\(query: Webhook.selection) WHERE w.id = \(id) AND w.secret = \(secret.text)")
      .first.map(Webhook.init(row:))
  }

  /// Creates a webhook, which receives the events from then on.
  ///
  /// - Parameters:
  ///   - secret: The secret of its signatures, which no read returns.
  ///   - once: The request, if it may be repeated. The stored answer is made from a webhook without its secret.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.unknownTopics`, `webhookLimit`, `outcomeUnknown`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func createWebhook(
    _ id: UUID, _ content: WebhookContent, secret: WebhookSecret, once: RepeatableWrite<Webhook>? = nil,
    at now: Date? = nil
  ) async throws -> Webhook {
    try await transaction(once) { transaction in
      try await Self.requireTopics(content.topics ?? [], in: transaction)
      let answers = try await transaction.pipeline([
        "SELECT pg_advisory_xact_lock(\(Self.creationLock))", "SELECT count(*) AS count FROM webhooks",
      ])
      if try answers[1].first?.decode("count", as: Int.self) ?? 0 >= Self.maximumWebhooks {
        throw StoreError.webhookLimit(Self.maximumWebhooks)
      }
      _ = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        INSERT INTO webhooks (id, url, events, topics, secret, paused, created_at)
        SELECT \(id), \(content.url), \(content.events.map(\.rawValue)), \(content.topics), \(secret.text),
          \(content.paused), date_trunc('milliseconds', c.now)
        FROM clock AS c
        """)
      return try await Self.lockedWebhook(id, in: transaction)
    }
  }

  /// Changes a webhook. Equal content is not written. The end of a pause makes the deliveries due that have waited.
  ///
  /// - Parameter change: Returns the new content. It runs again after a deadlock.
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`, `unknownTopics`, `outcomeUnknown`;
  ///   the error of `change`.
  public func modifyWebhook(
    _ id: UUID, if precondition: WritePrecondition, _ change: @Sendable (Webhook) throws -> WebhookContent
  ) async throws -> Webhook {
    defer { webhookActivity.signal() }
    return try await database.transaction { transaction in
      let webhook = try await Self.lockedWebhook(id, in: transaction)
      try precondition.check(revision: webhook.revision)
      let content = try change(webhook)
      if content == WebhookContent(webhook) { return webhook }
      if content.topics != webhook.topics { try await Self.requireTopics(content.topics ?? [], in: transaction) }
      // A new receiver, and one that is resumed, have not failed yet.
      let isFresh = content.url != webhook.url || webhook.paused && !content.paused
      _ = try await transaction.query(
        """
        UPDATE webhooks SET url = \(content.url), events = \(content.events.map(\.rawValue)),
          topics = \(content.topics), paused = \(content.paused), revision = revision + 1,
          disabled_reason = CASE WHEN \(content.paused) THEN disabled_reason END,
          failing_since = CASE WHEN NOT \(isFresh) THEN failing_since END,
          not_before = CASE WHEN NOT \(isFresh) THEN not_before END
        WHERE id = \(id)
        """)
      return try await Self.lockedWebhook(id, in: transaction)
    }
  }

  /// Deletes a webhook with its log. What is due is not sent.
  ///
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`, `outcomeUnknown`.
  public func removeWebhook(_ id: UUID, if precondition: WritePrecondition) async throws {
    try await database.transaction { transaction in
      try precondition.check(revision: try await Self.lockedWebhook(id, in: transaction).revision)
      _ = try await transaction.query("DELETE FROM webhooks WHERE id = \(id)")
    }
  }

  /// Replaces the secret of a webhook. The present one signs too for 24 hours, and one that was replaced before ends at
  /// once.
  ///
  /// - Parameters:
  ///   - secret: The new secret.
  ///   - once: The request, if it may be repeated. The stored answer is made from a webhook without its secret.
  ///   - now: The current time; nil for that of the database.
  /// - Throws: `StoreError.notFound`, `outcomeUnknown`; with `once` also `AnsweredBefore`, `requestInProgress`,
  ///   `idempotencyKeyReused`, `answerErased`.
  public func rotateWebhook(
    _ id: UUID, to secret: WebhookSecret, once: RepeatableWrite<Webhook>? = nil, at now: Date? = nil
  ) async throws -> Webhook {
    try await transaction(once) { transaction in
      let rotated = try await transaction.query(
        """
        WITH \(query: Self.clock(now))
        UPDATE webhooks AS w SET secret = \(secret.text), previous_secret = w.secret,
          previous_until = c.now + make_interval(secs => \(Self.secretOverlap)), revision = w.revision + 1
        FROM clock AS c WHERE w.id = \(id) RETURNING w.id
        """)
      if rotated.isEmpty { throw StoreError.notFound }
      return try await Self.lockedWebhook(id, in: transaction)
    }
  }

  /// Locks a webhook against other writes. Insertions of deliveries do not wait for the lock.
  static func lockedWebhook(_ id: UUID, in transaction: PostgresTransaction) async throws -> Webhook {
    let rows = try await transaction.query("\(query: Webhook.selection) WHERE w.id = \(id) FOR NO KEY UPDATE OF w")
    return try Webhook(row: rows.found())
  }
}

extension Webhook {
  /// The columns and the table that `init(row:)` reads, without secrets. A WHERE clause may follow.
  static let selection: PostgresQuery = """
    SELECT w.id, w.url, w.events, w.topics, w.paused, w.disabled_reason, w.revision, w.created_at,
      date_trunc('milliseconds', w.last_success) AS last_success,
      date_trunc('milliseconds', w.failing_since) AS failing_since,
      date_trunc('milliseconds', CASE WHEN w.previous_until > clock_timestamp() THEN w.previous_until END)
        AS previous_until
    FROM webhooks AS w
    """

  init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), url: try row.decode("url"),
      // A newer version may have written others.
      events: try row.decode("events", as: [String].self).compactMap(Event.init(rawValue:)),
      topics: try row.decode("topics"),
      paused: try row.decode("paused"),
      disabledReason: try row.decode("disabled_reason", as: String?.self).flatMap(DisabledReason.init(rawValue:)),
      created: try row.decode("created_at"), lastSuccess: try row.decode("last_success"),
      failingSince: try row.decode("failing_since"), previousSecretUntil: try row.decode("previous_until"),
      revision: try row.decode("revision"))
  }
}
