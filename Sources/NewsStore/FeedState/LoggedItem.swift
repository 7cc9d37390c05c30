import PostgresClient

/// The last change of an item in the feed.
package struct LoggedItem: Sendable {
  let change: FeedSnapshot.RecentChanges.Change
  /// The item; nil if it was removed from the feed.
  let entry: Window.Entry?
  /// The topics that the item is in, among those in which it has changed.
  let topics: Set<String>

  package init(change: FeedSnapshot.RecentChanges.Change, entry: Window.Entry?, topics: Set<String>) {
    (self.change, self.entry, self.topics) = (change, entry, topics)
  }

  /// Returns the query for changes of the feed in version order.
  ///
  /// - Parameters:
  ///   - rows: A query for rows of the log, of the scope `''`.
  ///   - version: An expression for the version after which changes in topics are included. `c` is the row.
  static func query(of rows: PostgresQuery, topicsAfter version: PostgresQuery) -> PostgresQuery {
    """
    SELECT \(query: Window.Entry.columns), c.present, t.topics, t.versions, t.presences
    FROM (\(query: rows)) AS c CROSS JOIN LATERAL (
      SELECT coalesce(array_agg(o.scope::text), '{}') AS topics, coalesce(array_agg(o.version), '{}') AS versions,
        coalesce(array_agg(o.present), '{}') AS presences
      FROM change_log AS o WHERE o.item = c.item AND o.scope <> '' AND o.version > \(query: version)
    ) AS t
    ORDER BY c.version
    """
  }

  init(row: PostgresRow) throws {
    let names = try row.decode("topics", as: [String].self)
    let versions = try row.decode("versions", as: [Int].self)
    let presences = try row.decode("presences", as: [Bool].self)
    change = .init(
      item: try row.decode("item"), version: try row.decode("version"),
      topics: Dictionary(zip(names, versions)) { max($0, $1) })
    entry = try row.decode("present") ? try Window.Entry(row: row) : nil
    topics = Set(zip(names, presences).lazy.filter(\.1).map(\.0))
  }
}

extension Window {
  /// Returns the windows after changes. A window with too few items left is missing, so that it is loaded again.
  static func advanced(_ windows: [String: Window], by changes: [LoggedItem]) -> [String: Window] {
    guard !changes.isEmpty else { return windows }
    return Dictionary(
      uniqueKeysWithValues: windows.compactMap { name, window in
        let own = name.isEmpty ? changes : changes.filter { $0.change.topics[name] != nil }
        guard !own.isEmpty else { return (name, window) }
        let present = own.filter { name.isEmpty || $0.topics.contains(name) }.compactMap(\.entry)
        return window.advanced(changed: Set(own.map(\.change.item)), present: present).map { (name, $0) }
      })
  }
}

extension Window.Entry {
  /// The columns that `init(row:at:)` reads, of a row `c` of the log.
  static let columns: PostgresQuery = """
    \(query: ItemVersion.columns), lower(c.language) AS language, c.author, c.breaking
    """

  init(row: PostgresRow, at first: Int = 0) throws {
    self.init(
      try ItemVersion(row: row, at: first), language: try row.decode(first + ItemVersion.columnCount),
      author: try row.decode(first + ItemVersion.columnCount + 1),
      isBreaking: try row.decode(first + ItemVersion.columnCount + 2))
  }
}
