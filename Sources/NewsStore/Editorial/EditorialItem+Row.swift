import News
import PostgresClient

extension EditorialItem {
  /// The tables of `columns`: an item `i`, with its row `l` in the log of the feed if there is one.
  static let tables: PostgresQuery = "items AS i LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''"

  /// The columns that `init(row:)` reads, of rows `i` and `l`, which may be absent.
  static let columns: PostgresQuery = """
    \(query: NewsItem.columns(html: true)), coalesce(l.version, 0) AS version,
      coalesce(l.updated, date_trunc('milliseconds', i.created_at)) AS updated,
      i.state, i.has_date, i.publish_at, i.expire_at, i.revision, i.retraction_reason,
      date_trunc('milliseconds', i.erased_at) AS erased_at,
      date_trunc('milliseconds', coalesce(i.written_at, i.created_at)) AS edited
    """

  init(row: PostgresRow) throws {
    self.init(
      item: try NewsItem(row: row),
      hasDate: try row.decode("has_date"),
      state: try row.value("state"),
      publishAt: try row.decode("publish_at"),
      expireAt: try row.decode("expire_at"),
      revision: try row.decode("revision"),
      retractionReason: try row.decode("retraction_reason"),
      erased: try row.decode("erased_at"),
      edited: try row.decode("edited"))
  }
}

/// An internal fault, for the log: the schema rules out the state that was found.
struct StoreFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
