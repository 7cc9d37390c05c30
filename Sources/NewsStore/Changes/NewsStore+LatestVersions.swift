public import Foundation
import PostgresClient

/// The latest version of an item that was published, or is no longer.
public struct PublishedVersion: Sendable, Equatable {
  /// The version of the feed.
  public var version: Int
  /// The time of the change.
  public var time: Date
  /// The id of the item.
  public var item: UUID
  /// The title of the item; nil if it has none, or was erased.
  public var title: String?
  /// The beginning of the item's text, at most 300 characters; empty if it was erased.
  public var text: String
  /// The language tag of the item.
  public var language: String?
  /// The reason why readers no longer see the item, `retracted`, `expired` or `left`; nil if they see it.
  public var removal: String?
}

extension NewsStore {
  /// Reads the latest versions of the feed, newest first, each with the present title of its item.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of versions, 1 or more.
  ///   - access: The access of the reader, who receives no other items. Items that other topics have pushed aside in the
  ///     log may be missing.
  /// - Throws: `StoreError.unavailable`.
  public func latestVersions(limit: Int, for access: ItemAccess) async throws -> [PublishedVersion] {
    let scopes = access.topics?.sorted() ?? [""]
    // Within topics, some of the items are also in topics of others.
    let candidates = access.topics == nil ? limit : 4 * limit
    return try await database.query(
      """
      SELECT l.version, l.updated, l.reason, i.id, i.title, left(i.text, 300) AS text, i.language
      FROM (
        SELECT DISTINCT c.item FROM unnest(\(scopes)) AS s (scope) CROSS JOIN LATERAL (
          SELECT o.item FROM change_log AS o WHERE o.scope = s.scope ORDER BY o.version DESC LIMIT \(candidates)
        ) AS c
      ) AS d JOIN items AS i ON i.id = d.item JOIN change_log AS l ON l.item = d.item AND l.scope = ''
      WHERE \(query: access.condition) ORDER BY l.version DESC LIMIT \(limit)
      """
    ).map { row in
      PublishedVersion(
        version: try row.decode("version"), time: try row.decode("updated"), item: try row.decode("id"),
        title: try row.decode("title"), text: try row.decode("text"), language: try row.decode("language"),
        removal: try row.decode("reason"))
    }
  }
}
