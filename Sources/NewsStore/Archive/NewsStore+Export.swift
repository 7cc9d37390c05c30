public import Foundation
public import News
import PostgresClient

/// A published item and the source from which it was imported.
public struct ExportedItem: Sendable, Equatable {
  /// The item, including `html`.
  public var item: NewsItem
  /// The identifier of the source feed. An item created in this installation has no `source`, `guid` or `digest`.
  public var source: String?
  /// The identifier of the item at its source.
  public var guid: String?
  /// The digest of the source's entry at the last import.
  public var digest: Data?
}

/// The contents of an export snapshot besides its items.
public struct ExportContents: Sendable, Equatable {
  /// The number of published items.
  public var items: Int
  /// The topics, by slug.
  public var topics: [String: TopicContent]
}

extension NewsStore {
  private static let exportPage = 500

  /// Reads all published items, oldest first, from one snapshot.
  ///
  /// - Parameter take: Receives the pages. A page has at most `PageBudget.bytes`, or one larger item. The next page is
  ///   read after `take` has returned.
  public func export(
    _ take: @Sendable (_ page: [ExportedItem], _ contents: ExportContents) async throws -> Void
  ) async throws {
    try await database.withConnection { connection in
      _ = try await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      // The transaction holds no locks that others wait for, and writing the output may take long.
      _ = try await connection.query("SET LOCAL idle_in_transaction_session_timeout = 0")
      let topics = try await connection.query(Topic.selection).map(Topic.init(row:))
      let feed = try await connection.query("SELECT items FROM scopes WHERE scope = ''")
      let contents = ExportContents(
        items: try feed.first?.decode("items") ?? 0,
        topics: Dictionary(uniqueKeysWithValues: topics.map { ($0.slug, TopicContent($0)) }))
      var after: Keyset?
      repeat {
        let found = try await connection.query(Self.exportQuery(after: after)).map { try ItemVersion(row: $0) }
        let page = found.prefix(PageBudget.count(found, limit: Self.exportPage) { $0.maximumBytes(html: true) })
        after = page.count < found.count ? page.last.map(Keyset.init) : nil
        let rows = try await connection.query(Self.contentsQuery(page.map(\.id)))
        try await take(try rows.map(ExportedItem.init(row:)), contents)
      } while after != nil
      _ = try await connection.query("COMMIT")
    }
  }

  private static func exportQuery(after: Keyset?) -> PostgresQuery {
    let start: PostgresQuery = after.map { "AND (c.date, c.item) > (\($0.date), \($0.id))" } ?? ""
    return """
      SELECT \(query: ItemVersion.columns) FROM change_log AS c
      WHERE c.scope = '' AND c.present \(query: start)
      ORDER BY c.date, c.item LIMIT \(exportPage + 1)
      """
  }

  private static func contentsQuery(_ ids: [UUID]) -> PostgresQuery {
    """
    SELECT l.version, l.updated, i.source, i.source_guid, i.source_digest, \(query: NewsItem.columns(html: true))
    FROM unnest(\(ids)) WITH ORDINALITY AS w (id, number)
      JOIN change_log AS l ON l.item = w.id AND l.scope = ''
      JOIN items AS i ON i.id = w.id
    ORDER BY w.number
    """
  }
}

extension ExportedItem {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      item: try NewsItem(row: row), source: try row.decode("source"), guid: try row.decode("source_guid"),
      digest: try row.decode("source_digest"))
  }
}
