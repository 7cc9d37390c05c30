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
  /// Reads a page of items in any state, newest first. Like a page of `items(_:)`, it ends early at `PageBudget.bytes`.
  ///
  /// - Throws: `StoreError.unknownTopics`.
  public func editorialItems(_ query: EditorialQuery) async throws -> (items: [EditorialItem], next: Keyset?) {
    var conditions: PostgresQuery = "true"
    if let state = query.state { conditions = "\(query: conditions) AND i.state = \(state.rawValue)" }
    if !query.scope.topics.isEmpty { conditions = "\(query: conditions) AND i.topics && \(query.scope.topics)" }
    if let after = query.after {
      conditions = "\(query: conditions) AND (i.date, i.id) < (\(after.date), \(after.id))"
    }
    let (_, rows) = try await read(
      query.scope,
      """
      WITH page AS (
        SELECT i.id, i.date, i.size, i.html FROM items AS i WHERE \(query: conditions)
        ORDER BY i.date DESC, i.id DESC LIMIT \(query.limit + 1)
      ), weighed AS (
        SELECT w.id, w.date, \(query: PageBudget.fits(html: true, order: "w.date DESC, w.id DESC")) AS fits FROM page AS w
      )
      SELECT w.fits, \(query: EditorialItem.columns)
      FROM weighed AS w LEFT JOIN items AS i ON w.fits AND i.id = w.id
        LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
      ORDER BY w.date DESC, w.id DESC
      """)
    let page = try PageBudget.cut(rows, limit: query.limit, EditorialItem.init(row:))
    let next = page.isCut ? page.elements.last.map { Keyset(date: $0.item.date, id: $0.item.id) } : nil
    return (page.elements, next)
  }
}
