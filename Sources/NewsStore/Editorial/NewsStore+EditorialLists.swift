public import News
import PostgresClient

/// A page of items in any state, for editors.
public struct EditorialQuery: Sendable, Equatable {
  /// The state of the items; nil for all states.
  public var state: EditorialItem.State?
  /// The topics, of which an item has at least one. The feed selects all items, including those without topics.
  public var scope: Scope
  /// The maximum number of items, 1 or more.
  public var limit: Int
  /// The last item of the previous page; nil for the first page.
  public var after: Keyset?

  /// Creates a query. The default is the first page of all items.
  public init(state: EditorialItem.State? = nil, scope: Scope = .feed, limit: Int = 50, after: Keyset? = nil) {
    self.state = state
    self.scope = scope
    self.limit = limit
    self.after = after
  }
}

extension NewsStore {
  /// Reads a page of items in any state, newest first. Like a page of `page(_:)`, it ends early at `PageBudget.bytes`.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  public func editorialItems(_ query: EditorialQuery) async throws -> (items: [EditorialItem], next: Keyset?) {
    var conditions: PostgresQuery = "true"
    if let state = query.state { conditions = "\(query: conditions) AND i.state = \(state.rawValue)" }
    if !query.scope.topics.isEmpty { conditions = "\(query: conditions) AND i.topics && \(query.scope.topics)" }
    if let after = query.after {
      conditions = "\(query: conditions) AND (i.date, i.id) < (\(after.date), \(after.id))"
    }
    // Drafts are not in the log, so the sizes come from the items. Those beyond the budget are not sent.
    let found = try await read(
      query.scope, order: "c.page_date DESC, c.page_id DESC",
      """
      WITH page AS (
        SELECT i.id, i.date, i.size + json_size(i.html) AS size FROM items AS i WHERE \(query: conditions)
        ORDER BY i.date DESC, i.id DESC LIMIT \(query.limit + 1)
      ), weighed AS (
        SELECT w.id AS page_id, w.date AS page_date,
          sum(w.size) OVER own <= \(PageBudget.bytes) OR row_number() OVER own = 1 AS fits
        FROM page AS w WINDOW own AS (ORDER BY w.date DESC, w.id DESC ROWS UNBOUNDED PRECEDING)
      )
      SELECT w.*, \(query: EditorialItem.columns)
      FROM weighed AS w LEFT JOIN items AS i ON w.fits AND i.id = w.page_id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
      """)
    let items = try found.rows.prefix(query.limit).prefix { try $0.decode("fits") }.map(EditorialItem.init(row:))
    let last = items.count < found.rows.count ? items.last : nil
    return (items, last.map { Keyset(date: $0.item.date, id: $0.item.id) })
  }
}
