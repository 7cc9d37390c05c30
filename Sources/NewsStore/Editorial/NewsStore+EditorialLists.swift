public import Foundation
public import News
import PostgresClient

/// A page of items in any state, for editors.
public struct EditorialQuery: Sendable, Equatable {
  /// The state of the items; nil for all states.
  public var state: EditorialItem.State?
  /// The topics, of which an item has at least one. The feed selects all items, including those without topics.
  public var scope: Scope
  /// The earliest date of an item, inclusive.
  public var from: Date?
  /// The latest date of an item, exclusive.
  public var to: Date?
  /// Whether the items are breaking news; nil for both.
  public var isBreaking: Bool?
  /// The search terms, which match as they are written.
  public var search: SearchQuery?
  /// The maximum number of items, 1 or more.
  public var limit: Int
  /// The last item of the previous page, with the time of its last write; nil for the first page.
  public var after: Keyset?
  /// The access of the reader, who receives and counts no other items.
  public var access: ItemAccess

  /// Creates a query. The default is the first page of all items.
  public init(
    state: EditorialItem.State? = nil, scope: Scope = .feed, from: Date? = nil, to: Date? = nil,
    isBreaking: Bool? = nil, search: SearchQuery? = nil, limit: Int = 50, after: Keyset? = nil,
    access: ItemAccess = .full
  ) {
    self.state = state
    self.scope = scope
    self.from = from
    self.to = to
    self.isBreaking = isBreaking
    self.search = search
    self.limit = limit
    self.after = after
    self.access = access
  }
}

/// A page of items in any state.
public struct EditorialPage: Sendable {
  /// The items, most recently written first.
  public var items: [EditorialItem]
  /// The number of all items in each state that the reader has access to, whatever the query selects.
  public var counts: [EditorialItem.State: Int]
  /// The position after which the next page begins; nil on the last page.
  public var next: Keyset?
}

extension NewsStore {
  /// Reads a page of items in any state, most recently written first. Like a page of `page(_:)`, it ends early at
  /// `PageBudget.bytes`. A standby is never asked, because drafts have no version by which its delay could be noticed.
  ///
  /// - Throws: `StoreError.unknownTopics`, `searchTooBroad`.
  public func editorialItems(_ query: EditorialQuery) async throws -> EditorialPage {
    do {
      let answers = try await database.snapshot(
        [
          query.search == nil ? "SELECT 1" : Self.searchSettings, Self.unknownTopics(query.scope.topics),
          Self.stateCounts(query.access),
        ]
          + [query.rows])
      let unknown: [String] = try answers[1].map { try $0.decode("slug") }
      guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
      var counts: [EditorialItem.State: Int] = [:]
      for row in answers[2] {
        guard let state = EditorialItem.State(rawValue: try row.decode("state")) else { continue }
        counts[state] = try row.decode("count")
      }
      let page = try answers[3].prefix(query.limit).prefix { try $0.decode("fits") }
      let last = page.count < answers[3].count ? page.last : nil
      return EditorialPage(
        items: try page.map(EditorialItem.init(row:)), counts: counts.filter { $0.value > 0 },
        next: try last.map {
          Keyset(date: Date(milliseconds: try $0.decode("page_time")), id: try $0.decode("page_id"))
        })
    } catch StoreError.statementCancelled where query.search != nil {
      throw StoreError.searchTooBroad
    }
  }

  private static func stateCounts(_ access: ItemAccess) -> PostgresQuery {
    """
    SELECT w.state, CASE w.state WHEN 'published' THEN (\(query: publishedCount(access)))
        ELSE (SELECT count(*) FROM items AS i WHERE i.state = w.state AND \(query: access.condition)) END AS count
    FROM unnest(\(EditorialItem.State.allCases.map(\.rawValue))) AS w (state)
    """
  }

  /// All published items are counted already. Those within topics are counted in the log, whose rows are small.
  private static func publishedCount(_ access: ItemAccess) -> PostgresQuery {
    guard let topics = access.topics?.sorted() else { return "SELECT s.items FROM scopes AS s WHERE s.scope = ''" }
    return """
      SELECT count(*) FROM (SELECT DISTINCT l.item FROM change_log AS l WHERE l.scope = ANY (\(topics)) AND l.present) AS m
      WHERE NOT EXISTS (
        SELECT FROM change_log AS o
        WHERE o.item = m.item AND o.present AND o.scope <> '' AND o.scope <> ALL (\(topics)))
      """
  }
}

extension EditorialQuery {
  /// The time of the last write of an item `i` in milliseconds, as the index `items_by_state` has it.
  private static let writeTime: PostgresQuery = "milliseconds(coalesce(i.written_at, i.created_at))"

  /// The rows of the page: `EditorialItem.columns`, the position, and whether the item fits into the page.
  fileprivate var rows: PostgresQuery {
    // The sizes come from the items, because drafts are not in the log. Items beyond the budget are not sent.
    """
    WITH page AS (\(query: found)), weighed AS (
      SELECT w.id AS page_id, w.time AS page_time,
        sum(w.size) OVER own <= \(PageBudget.bytes) OR row_number() OVER own = 1 AS fits
      FROM page AS w WINDOW own AS (ORDER BY w.time DESC, w.id DESC ROWS UNBOUNDED PRECEDING)
    )
    SELECT w.*, \(query: EditorialItem.columns)
    FROM weighed AS w LEFT JOIN items AS i ON w.fits AND i.id = w.page_id
      LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ORDER BY w.page_time DESC, w.page_id DESC
    """
  }

  /// The ids, times and sizes of the items: those of the page and one more.
  private var found: PostgresQuery {
    let columns: PostgresQuery = "i.id, \(query: Self.writeTime) AS time, i.size + json_size(i.html) AS size"
    let states = state.map { [$0] } ?? EditorialItem.State.allCases
    if search != nil {
      // `OFFSET` makes the planner look up the words.
      return """
        SELECT f.* FROM (
          SELECT \(query: columns) FROM items AS i
          WHERE i.state = ANY (\(states.map(\.rawValue))) \(query: conditions) OFFSET 0
        ) AS f ORDER BY f.time DESC, f.id DESC LIMIT \(limit + 1)
        """
    }
    return """
      SELECT f.* FROM unnest(\(states.map(\.rawValue))) AS s (state) CROSS JOIN LATERAL (
        SELECT \(query: columns) FROM items AS i WHERE i.state = s.state \(query: conditions)
        ORDER BY \(query: Self.writeTime) DESC, i.id DESC LIMIT \(limit + 1)
      ) AS f ORDER BY f.time DESC, f.id DESC LIMIT \(limit + 1)
      """
  }

  private var conditions: PostgresQuery {
    var conditions: PostgresQuery = ""
    func require(_ condition: PostgresQuery) { conditions = "\(query: conditions) AND \(query: condition)" }
    if !scope.topics.isEmpty { require("i.topics && \(scope.topics)") }
    if access.topics != nil { require(access.condition) }
    if let from { require("i.date >= \(from)") }
    if let to { require("i.date < \(to)") }
    if let isBreaking { require("i.breaking = \(isBreaking)") }
    if let search { require(NewsStore.matches("i", search.tsquery(language: nil))) }
    if let after {
      require("(\(query: Self.writeTime), i.id) < (\(RFC3339.milliseconds(of: after.date)), \(after.id))")
    }
    return conditions
  }
}
