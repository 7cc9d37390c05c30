import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// The maximum number of items that are moved to another topic in a transaction. Other publishers wait for it.
  private static let largestMove = 200
  /// The maximum number of attempts to delete a topic to which others add items meanwhile.
  private static let removalAttempts = 5

  /// Deletes a topic. Clients that follow it receive the removal of its items, and afterwards an empty topic. Keys that are
  /// restricted to it, and devices that follow it, receive the other topic instead, or lose it.
  ///
  /// - Parameters:
  ///   - other: The topic that its items receive instead. They are moved in several transactions, so that other writers
  ///     wait only briefly; if the call fails, a repeat continues. With nil, the topic must have no items.
  ///   - precondition: The condition on the current topic.
  ///   - editor: The author, for the history of the moved items.
  /// - Throws: `StoreError.notFound`, `preconditionFailed`, `preconditionRequired`; `unknownTopics` if the other topic does
  ///   not exist; `topicInUse`; `unavailable` if a long transaction uses items; `outcomeUnknown`.
  public func removeTopic(
    _ slug: String, mergingInto other: String?, if precondition: WritePrecondition, by editor: Editor? = nil
  ) async throws {
    do {
      try await database.transaction { transaction in
        try precondition.check(revision: try await Self.lockedTopic(slug, in: transaction).revision)
      }
    } catch StoreError.notFound {
      // Devices may still follow it, if an earlier removal was interrupted.
      var others: [String] = []
      if let other {
        try await requireTopic(other)
        others = [other]
      }
      try await replaceDeviceTopic(slug, by: others)
      throw StoreError.notFound
    }
    defer { keyLookups.forget() }
    if let other {
      try await requireTopic(other)
      _ = try await database.query(Self.keyAddition(of: other, besides: slug))
      try await replaceDeviceTopic(slug, by: [slug, other])
    }
    for _ in 0..<Self.removalAttempts {
      if let other { try await moveItems(of: slug, to: other, by: editor) }
      let uses = try await removeUnused(slug, replacedBy: other, if: precondition)
      if uses == 0 {
        // With another topic, only devices that have registered meanwhile lack it.
        try await replaceDeviceTopic(slug, by: other.map { [$0] } ?? [])
        return try await waitForTopics()
      }
      guard other != nil else { throw StoreError.topicInUse(items: uses) }
    }
    throw StoreError.unavailable
  }

  private func requireTopic(_ slug: String) async throws {
    let found = try await database.query("SELECT 1 FROM topics WHERE slug = \(slug)")
    if found.isEmpty { throw StoreError.unknownTopics([slug]) }
  }

  /// Adds a topic to the keys that are restricted to another one, so that they keep their items while these are moved.
  private static func keyAddition(of other: String, besides slug: String) -> PostgresQuery {
    """
    UPDATE api_keys SET topics = array_append(topics, \(other))
    WHERE topics @> ARRAY[\(slug)] AND NOT topics @> ARRAY[\(other)]
    """
  }

  /// The column `topics` of a row, with a topic replaced by another one or, without another one, removed.
  private static func topics(replacing slug: String, by other: String?) -> PostgresQuery {
    """
    ARRAY(
      SELECT DISTINCT t.slug FROM unnest(array_replace(topics, \(slug), \(other))) AS t (slug)
      WHERE t.slug IS NOT NULL ORDER BY t.slug)
    """
  }

  /// The ids of items with a topic, at most `limit`. Retracted items keep their topics.
  private static func uses(of slug: String, limit: Int) -> PostgresQuery {
    """
    SELECT u.id FROM (
      SELECT l.item AS id FROM change_log AS l WHERE l.scope = \(slug) AND l.present
      UNION ALL
      SELECT i.id FROM unnest(ARRAY['draft', 'review', 'scheduled', 'expired']) AS s (state)
        JOIN items AS i ON i.state = s.state AND i.topics @> ARRAY[\(slug)]
    ) AS u LIMIT \(limit)
    """
  }

  /// Moves all items of a topic to another one.
  private func moveItems(of slug: String, to other: String, by editor: Editor?) async throws {
    while true {
      let moved = try await database.transaction { transaction in
        let rows = try await transaction.query(Self.uses(of: slug, limit: Self.largestMove))
        let ids = try rows.map { try $0.decode("id", as: UUID.self) }
        guard !ids.isEmpty else { return 0 }
        _ = try await transaction.query("SELECT 1 FROM items WHERE id = ANY (\(ids)) ORDER BY id FOR NO KEY UPDATE")
        _ = try await transaction.query(
          """
          UPDATE items AS i SET topics = \(query: Self.topics(replacing: slug, by: other)),
            editor = \(editor?.text), editor_revision = i.revision + 1
          WHERE i.id = ANY (\(ids)) AND i.topics @> ARRAY[\(slug)]
          """)
        _ = try await transaction.commit(after: "SELECT count(*) FROM publish(\(ids))")
        return ids.count
      }
      if moved == 0 { return }
    }
  }

  /// Deletes a topic if no item uses it.
  ///
  /// - Returns: The number of items that use it.
  private func removeUnused(
    _ slug: String, replacedBy other: String?, if precondition: WritePrecondition
  ) async throws -> Int {
    do {
      return try await database.transaction { transaction in
        _ = try await transaction.query("SELECT set_config('lock_timeout', '500', true)")
        // Writers check whether a topic exists without a lock. None of them is at work while the table is locked.
        _ = try await transaction.query("LOCK TABLE items IN SHARE ROW EXCLUSIVE MODE")
        try precondition.check(revision: try await Self.lockedTopic(slug, in: transaction).revision)
        let uses = try await transaction.query(Self.uses(of: slug, limit: 10_000)).count
        if uses == 0 {
          let topics = Self.topics(replacing: slug, by: other)
          _ = try await transaction.commit(after: [
            // Further entries of the feeds would need the topic.
            """
            UPDATE subscriptions SET topics = \(query: topics), revision = revision + 1 WHERE topics @> ARRAY[\(slug)]
            """,
            "UPDATE webhooks SET topics = \(query: topics), revision = revision + 1 WHERE topics @> ARRAY[\(slug)]",
            // A later topic with the same slug is not the same.
            "UPDATE api_keys SET topics = \(query: topics) WHERE topics @> ARRAY[\(slug)]",
            // The scope remains: clients that follow it learn from it that all items have left. Pages that list the
            // topics have changed now.
            other.map { "UPDATE topic_merges SET other = \($0) WHERE other = \(slug)" }
              ?? "DELETE FROM topic_merges WHERE other = \(slug)",
            "DELETE FROM topic_merges WHERE slug = \(slug)",
            "DELETE FROM topics WHERE slug = \(slug)",
            // NULL without another topic.
            "INSERT INTO topic_merges (slug, other) SELECT \(slug), t.slug FROM topics AS t WHERE t.slug = \(other)",
            """
            UPDATE scopes SET changed_at = greatest(date_trunc('milliseconds', clock_timestamp()), changed_at)
            WHERE scope = \(slug)
            """,
          ])
        }
        return uses
      }
    } catch let error as PostgresError where error.sqlState == "55P03" {
      throw StoreError.unavailable
    }
  }
}
