import News
import PostgresClient

extension EditorialItem {
  /// The columns that `init(row:)` reads, of `items` as `i` and its row in the log of the feed, if any, as `l`.
  static let columns: PostgresQuery = """
    \(query: NewsItem.columns(html: true)), coalesce(l.version, 0) AS version,
      coalesce(l.updated, date_trunc('milliseconds', i.created_at)) AS updated,
      i.state, i.revision, i.retraction_reason, i.erased_at
    """

  init(row: PostgresRow) throws {
    let state: String = try row.decode("state")
    guard let state = State(rawValue: state) else {
      throw StoreFault("the state of an item is unknown to this build")
    }
    self.init(
      item: try NewsItem(row: row),
      state: state,
      revision: try row.decode("revision"),
      retractionReason: try row.decode("retraction_reason"),
      erased: try row.decode("erased_at"))
  }
}

/// What the schema makes impossible, and yet was found: a fault of ours, for the log.
struct StoreFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
