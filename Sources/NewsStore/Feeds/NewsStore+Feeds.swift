import Foundation
import News
import PostgresClient

extension NewsStore {
  /// Reads a document of a feed.
  ///
  /// - Throws: `StoreError.unknownTopics`; `notFound` for an archive that does not exist yet; `tokenExpired` if the
  ///   changes are unavailable.
  public func feedPage(_ query: FeedQuery) async throws -> FeedPage {
    guard let name = query.scope.names.first else { throw StoreFault("a scope without a name") }
    switch query.part {
    case .current(let limit): return try await currentPage(query.scope, name, limit)
    case .archive(let number): return try await archivePage(query.scope, name, number)
    case .changes(let since): return try await changePage(query.scope, name, since)
    }
  }

  /// Selects rows `c` of the log together with the number of publications of their scope. Without any row, the number is
  /// in a row without an item.
  private static func query(_ name: String, columns: PostgresQuery, _ rows: PostgresQuery) -> PostgresQuery {
    """
    SELECT \(query: columns), p.published
    FROM (SELECT s.published FROM scopes AS s WHERE s.scope = \(name)) AS p LEFT JOIN LATERAL (\(query: rows)) AS c ON true
    """
  }

  /// The newest changes, and the items that no complete archive has: a reader of all archives and of this document has all
  /// items. The document has no more than `PageBudget.bytes` of the former.
  private func currentPage(_ scope: Scope, _ name: String, _ limit: Int) async throws -> FeedPage {
    let size = FeedPage.archiveSize
    let columns: PostgresQuery = "\(query: ItemVersion.columns), c.ordinal"
    let found = try await read(
      scope, order: "c.version DESC",
      Self.query(
        name,
        columns:
          "\(query: ItemVersion.columns), c.ordinal IS NULL OR c.ordinal > p.published / \(size) * \(size) AS is_open",
        """
        (SELECT \(query: columns) FROM change_log AS c WHERE c.scope = \(name) AND c.present
          ORDER BY c.version DESC LIMIT \(limit))
        UNION
        SELECT \(query: columns) FROM change_log AS c
          WHERE c.scope = \(name) AND c.present AND c.ordinal > p.published / \(size) * \(size)
        """))
    var (items, bytes) = ([ItemVersion](), 0)
    for row in found.rows where try row.decode("item", as: UUID?.self) != nil {
      let item = try ItemVersion(row: row, at: 1)
      bytes += item.maximumBytes(html: true)
      if try items.isEmpty || bytes <= PageBudget.bytes || row.decode("is_open") { items.append(item) }
    }
    return FeedPage(items: items, archives: try Self.archives(found), in: found.scope)
  }

  private func archivePage(_ scope: Scope, _ name: String, _ number: Int) async throws -> FeedPage {
    let last = number * FeedPage.archiveSize
    let found = try await read(
      scope, order: "c.version",
      Self.query(
        name, columns: ItemVersion.columns,
        """
        SELECT \(query: ItemVersion.columns) FROM change_log AS c
        WHERE c.scope = \(name) AND c.present AND c.ordinal BETWEEN \(last - FeedPage.archiveSize + 1) AND \(last)
        """))
    let archives = try Self.archives(found)
    guard number <= archives else { throw StoreError.notFound }
    let items = try found.rows.compactMap { row in
      try row.decode("item", as: UUID?.self) == nil ? nil : try ItemVersion(row: row, at: 1)
    }
    return FeedPage(items: items, archives: archives, in: found.scope)
  }

  private func changePage(_ scope: Scope, _ name: String, _ since: SyncToken) async throws -> FeedPage {
    let found = try await read(
      scope, since: since, order: "c.version",
      Self.query(
        name, columns: "\(query: ItemVersion.columns), c.present",
        """
        SELECT \(query: ItemVersion.columns), c.present FROM change_log AS c
        WHERE c.scope = \(name) AND c.version > \(since.version)
        ORDER BY c.version LIMIT \(FeedPage.maximumChanges + 1)
        """))
    // The database may have purged changes since the state in memory.
    try found.scope.check(since: since)
    var (items, removals, bytes) = ([ItemVersion](), [FeedPage.Removal](), 0)
    for row in found.rows {
      guard let id = try row.decode("item", as: UUID?.self) else { continue }
      if try row.decode("present") {
        let item = try ItemVersion(row: row, at: 1)
        bytes += item.maximumBytes(html: true)
        items.append(item)
      } else {
        removals.append(FeedPage.Removal(id: id, date: try row.decode("updated")))
      }
    }
    let isComplete = items.count + removals.count <= FeedPage.maximumChanges && bytes <= PageBudget.bytes
    return FeedPage(
      items: items, removals: removals, isComplete: isComplete, archives: try Self.archives(found), in: found.scope)
  }

  /// The number of archives of the scope whose rows were read.
  private static func archives(_ found: ScopedRows) throws -> Int {
    try (found.rows.first?.decode("published", as: Int?.self) ?? 0) / FeedPage.archiveSize
  }
}
