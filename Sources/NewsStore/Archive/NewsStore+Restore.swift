public import Foundation
import News
import PostgresClient

extension NewsStore {
  /// Creates the topics of a newsroom that do not exist.
  public func restoreTopics(_ topics: [(slug: String, content: TopicContent, revision: Int)]) async throws {
    let titles = try topics.map { String(decoding: try NewsJSON.encode($0.content.titles), as: UTF8.self) }
    try await database.transaction { transaction in
      _ = try await transaction.pipeline([
        "INSERT INTO scopes (scope) SELECT unnest(\(topics.map(\.slug))) ON CONFLICT DO NOTHING",
        """
        INSERT INTO topics (slug, titles, position, revision)
          SELECT n.slug, n.titles::jsonb, n.position, n.revision
          FROM unnest(\(topics.map(\.slug)), \(titles), \(topics.map(\.content.position)), \(topics.map(\.revision)))
            AS n (slug, titles, position, revision)
        ON CONFLICT DO NOTHING
        """,
      ])
    }
  }

  /// Registers the files of a newsroom, whose bytes the caller copies. A file that was removed here stays removed.
  public func restoreMedia(_ files: [Media]) async throws {
    try await database.transaction { transaction in
      for file in files {
        _ = try await transaction.query(
          """
          INSERT INTO media (id, sha256, type, bytes, width, height, name, created_at)
          SELECT \(file.id), \(file.digest), \(file.type), \(file.bytes), \(file.width), \(file.height), \(file.name),
            \(file.created)
          WHERE NOT EXISTS (SELECT FROM withdrawn_media AS w WHERE w.media = \(file.id) AND w.reason = 'removed')
          ON CONFLICT DO NOTHING
          """)
      }
    }
  }

  /// Notes files that readers had and cannot get any more, so that their addresses are still answered with the reason.
  public func restoreWithdrawals(_ files: [(id: UUID, reason: MediaWithdrawal)]) async throws {
    _ = try await database.query(
      """
      INSERT INTO withdrawn_media (media, reason)
      SELECT n.media, n.reason FROM unnest(\(files.map(\.id)), \(files.map(\.reason.rawValue))) AS n (media, reason)
      WHERE NOT EXISTS (SELECT FROM media_publications AS p WHERE p.media = n.media)
        AND NOT (n.reason = 'removed' AND EXISTS (SELECT FROM media AS m WHERE m.id = n.media))
      ON CONFLICT DO NOTHING
      """)
  }

  /// Creates the items of a newsroom that do not exist, each in its state, and publishes those that readers see. Existing
  /// items are left unchanged.
  ///
  /// - Parameters:
  ///   - items: At most `largestImport` different items. An item with a topic that does not exist is left out, unless it is
  ///     retracted.
  ///   - keepingHistory: Whether `restoreHistory` follows. Otherwise the history begins with this import.
  /// - Returns: The ids of the created items, and of those that existed.
  public func restoreItems(
    _ items: [RestoredItem], keepingHistory: Bool
  ) async throws -> (created: Set<UUID>, existing: Set<UUID>) {
    let ids = items.map(\.id)
    return try await database.transaction { transaction in
      let answers = try await transaction.pipeline([
        "SELECT set_config('plan_cache_mode', 'force_custom_plan', true)",
        "SELECT i.id FROM items AS i WHERE i.id = ANY (\(ids))",
        Self.restoration(of: items),
      ])
      let created = Set(try answers[2].map { try $0.decode("id", as: UUID.self) })
      var statements: [PostgresQuery] = []
      let gone = items.filter { created.contains($0.id) && $0.goneReason != nil }
      if !gone.isEmpty {
        statements.append(
          """
          INSERT INTO gone_items (item, reason)
          SELECT * FROM unnest(\(gone.map(\.id)), \(gone.map { $0.goneReason?.rawValue })) ON CONFLICT DO NOTHING
          """)
      }
      if keepingHistory {
        statements.append("DELETE FROM item_history WHERE item = ANY (\(Array(created)))")
      }
      let published = items.filter { created.contains($0.id) && $0.content.state == .published }.map(\.id)
      if !published.isEmpty { statements.append("SELECT count(*) FROM publish(\(published))") }
      _ = try await transaction.commit(after: statements)
      return (created, Set(try answers[1].map { try $0.decode("id", as: UUID.self) }))
    }
  }

  private static func restoration(of items: [RestoredItem]) -> PostgresQuery {
    """
    INSERT INTO items AS i (id, revision, created_at, written_at, retraction_reason, erased_at, source, source_guid,
        source_digest, editor, editor_revision, \(unsafeSQL: ItemColumn.names))
      SELECT n.id, n.revision, n.created, n.edited, n.retraction_reason, n.erased, n.source, n.source_guid,
        decode(n.source_digest, 'hex'), 'import', n.revision, \(unsafeSQL: ItemColumn.restoredElements(of: "n"))
      FROM unnest(\(items.map(\.id)), \(items.map(\.revision)), \(items.map(\.created)), \(items.map(\.edited)),
          \(items.map(\.retractionReason)), \(items.map(\.erased)), \(items.map(\.source)), \(items.map(\.guid)),
          \(items.map(\.digest)), \(items.map(\.isDated)), \(query: ItemColumn.arrays(of: items.map(\.content))))
        AS n (id, revision, created, edited, retraction_reason, erased, source, source_guid, source_digest, is_dated,
          \(unsafeSQL: ItemColumn.names))
      WHERE n.state = 'retracted' OR NOT has_unknown_topic(string_to_array(n.topics, ','))
      ORDER BY n.id
    ON CONFLICT (id) DO NOTHING RETURNING i.id
    """
  }

  /// Writes the history of items that `restoreItems` has created.
  ///
  /// - Parameter writes: The writes, oldest first over all items.
  public func restoreHistory(_ writes: [RestoredWrite]) async throws {
    let replaced = try writes.map { PostgresJSON(data: try NewsJSON.encode($0.replaced)) }
    _ = try await database.query(
      """
      INSERT INTO item_history (item, revision, at, editor, state, fields, replaced)
        SELECT n.item, n.revision, n.at, n.editor, n.state, string_to_array(n.fields, ','), n.replaced
        FROM unnest(\(writes.map(\.item)), \(writes.map(\.revision)), \(writes.map(\.at)), \(writes.map(\.editor)),
            \(writes.map(\.state.rawValue)), \(writes.map { $0.fields.joined(separator: ",") }), \(replaced))
          WITH ORDINALITY AS n (item, revision, at, editor, state, fields, replaced, number)
        ORDER BY n.number
      ON CONFLICT (item, revision) DO NOTHING
      """)
  }

  /// Creates the subscriptions of a newsroom whose addresses are not followed. They are polled at once.
  public func restoreSubscriptions(_ subscriptions: [RestoredSubscription]) async throws {
    try await database.transaction { transaction in
      for subscription in subscriptions {
        let content = subscription.content
        _ = try await transaction.query(
          """
          INSERT INTO subscriptions (id, url, title, topics, state, language, paused, revision)
          VALUES (\(subscription.id), \(content.url), \(content.title), \(content.topics), \(content.state.rawValue),
            \(content.language), \(content.paused), \(subscription.revision))
          ON CONFLICT DO NOTHING
          """)
      }
    }
  }
}

extension ItemColumn {
  /// The values of all columns in a row of arrays. A date is also stored for an item to which none was given.
  fileprivate static func restoredElements(of row: String) -> String {
    all.map { $0.name == "has_date" ? "\(row).is_dated" : $0.element(of: row) }.joined(separator: ", ")
  }
}
