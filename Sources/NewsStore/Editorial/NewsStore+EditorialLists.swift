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
      let isSearch = query.search?.hasWords ?? false
      // With access to some topics only, the counts take as long as the page. Both are read at the same time.
      async let counts = stateCounts(query.access)
      let answers = try await database.snapshot([
        query.search == nil ? Self.listSettings : Self.listSearchSettings, Self.unknownTopics(query.scope.topics),
        isSearch ? query.recent : query.rows(),
      ])
      let unknown: [String] = try answers[1].map { try $0.decode("slug") }
      guard unknown.isEmpty else { throw StoreError.unknownTopics(unknown) }
      let rows = isSearch ? try await found(by: query, among: try answers[2].map { try $0.decode("id") }) : answers[2]
      let page = try rows.prefix(query.limit).prefix { try $0.decode("fits") }
      let last = page.count < rows.count ? page.last : nil
      return EditorialPage(
        items: try page.map(EditorialItem.init(row:)), counts: try await counts,
        next: try last.map {
          Keyset(date: Date(milliseconds: try $0.decode("page_time")), id: try $0.decode("page_id"))
        })
    } catch StoreError.statementCancelled where query.search != nil {
      throw StoreError.searchTooBroad
    }
  }

  /// Reads the rows of a search: among recent items, and among all only if too few of those match. A frequent word would
  /// otherwise cost a look at each of its items.
  private func found(by query: EditorialQuery, among recent: [UUID]) async throws -> PostgresRows {
    let rows = try await database.snapshot([Self.listSearchSettings, query.rows(among: recent)])[1]
    if rows.count > query.limit || recent.count < EditorialQuery.window { return rows }
    return try await database.snapshot([Self.listSearchSettings, query.rows()])[1]
  }

  /// The settings of a list. The plan is made for the actual states and topics: an index of topics finds the items of rare
  /// ones, and the order of the list those of frequent ones.
  static let listSettings: PostgresQuery = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('jit', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true), \(query: pageCost)
    """

  /// The settings of a search in such a list.
  private static let listSearchSettings: PostgresQuery = "\(query: searchSettings), \(query: pageCost)"

  /// The items are in memory. With the default cost, which is that of disks, PostgreSQL would rather look at the items with a
  /// frequent topic than read the index that has all columns.
  private static let pageCost: PostgresQuery = "set_config('random_page_cost', '1.1', true)"

  /// Counts the items with access in each state that has any.
  private func stateCounts(_ access: ItemAccess) async throws -> [EditorialItem.State: Int] {
    var counts: [EditorialItem.State: Int] = [:]
    for row in try await database.snapshot([Self.listSettings, Self.stateCounts(access)])[1] {
      guard let state = EditorialItem.State(rawValue: try row.decode("state")) else { continue }
      counts[state] = try row.decode("count")
    }
    return counts.filter { $0.value > 0 }
  }

  private static func stateCounts(_ access: ItemAccess) -> PostgresQuery {
    // The condition on the state admits the index `items_by_write`, which has all columns.
    guard access.topics == nil else {
      return """
        SELECT i.state, count(*) AS count FROM items AS i
        WHERE i.state IS NOT NULL AND \(query: access.condition) GROUP BY i.state
        """
    }
    // All published items are counted already.
    let others = EditorialItem.State.allCases.filter { $0 != .published }.map(\.rawValue)
    return """
      SELECT i.state, count(*) AS count FROM items AS i WHERE i.state = ANY (\(others)) GROUP BY i.state
      UNION ALL SELECT 'published', s.items FROM scopes AS s WHERE s.scope = ''
      """
  }
}

extension EditorialQuery {
  /// The time of the last write of an item `i` in milliseconds, as the index `items_by_write` has it.
  private static let writeTime: PostgresQuery = "milliseconds(coalesce(i.written_at, i.created_at))"

  /// The longest span of days whose items are sorted together, in seconds: a week.
  private static let sortedSpan = 7.0 * 86_400

  /// The number of recent items in which words are searched first.
  fileprivate static let window = 2000

  /// Selects the ids of recent items that meet the other conditions of a search, at most `window`.
  fileprivate var recent: PostgresQuery { newest(Self.window) }

  /// The rows of the page: `EditorialItem.columns`, the position, and whether the item fits into the page.
  ///
  /// - Parameter ids: The items in which words are searched; nil for all.
  fileprivate func rows(among ids: [UUID]? = nil) -> PostgresQuery {
    // The sizes come from the items, because drafts are not in the log. Items beyond the budget are not sent.
    """
    WITH page AS (\(query: found(among: ids))), weighed AS (
      SELECT p.id AS page_id, p.time AS page_time,
        sum(i.size + json_size(i.html)) OVER own <= \(PageBudget.bytes) OR row_number() OVER own = 1 AS fits
      FROM page AS p JOIN items AS i ON i.id = p.id
      WINDOW own AS (ORDER BY p.time DESC, p.id DESC ROWS UNBOUNDED PRECEDING)
    )
    SELECT w.*, \(query: EditorialItem.columns)
    FROM weighed AS w LEFT JOIN items AS i ON w.fits AND i.id = w.page_id
      LEFT JOIN change_log AS l ON l.item = i.id AND l.scope = ''
    ORDER BY w.page_time DESC, w.page_id DESC
    """
  }

  /// The ids and times of the items: those of the page and one more.
  private func found(among ids: [UUID]?) -> PostgresQuery {
    guard let search else { return newest(limit + 1) }
    var words = NewsStore.matches("i", search.tsquery(language: nil))
    if let ids { words = "\(query: words) AND i.id = ANY (\(ids))" }
    // `OFFSET` makes the planner look up the words alone. With other conditions, it would look up those, and parse texts.
    return """
      SELECT i.id, \(query: Self.writeTime) AS time FROM (
        SELECT i.id, i.state, i.topics, i.date, i.breaking, i.written_at, i.created_at FROM items AS i
        WHERE \(query: words) OFFSET 0
      ) AS i WHERE i.state = ANY (\(states.map(\.rawValue))) \(query: conditions)
      ORDER BY \(query: Self.order) LIMIT \(limit + 1)
      """
  }

  /// Selects the ids and times of the items that were written last, whatever words they have.
  private func newest(_ count: Int) -> PostgresQuery {
    let selection: PostgresQuery = "SELECT i.id, \(query: Self.writeTime) AS time FROM items AS i"
    let end: PostgresQuery = "ORDER BY \(query: Self.order) LIMIT \(count)"
    // The few items of some days may be far behind in the order of writes, and are better sorted together.
    if let from, let to, states.count > 1, to.timeIntervalSince(from) <= Self.sortedSpan {
      return "\(query: selection) WHERE i.state = ANY (\(states.map(\.rawValue))) \(query: conditions) \(query: end)"
    }
    // Otherwise, some rows from the beginning of each state suffice, unless the topics are rare.
    func newest(_ state: EditorialItem.State) -> PostgresQuery {
      "(\(query: selection) WHERE i.state = \(state.rawValue) \(query: conditions) \(query: end))"
    }
    var candidates = newest(states[0])
    for state in states.dropFirst() { candidates = "\(query: candidates) UNION ALL \(query: newest(state))" }
    return "SELECT f.* FROM (\(query: candidates)) AS f ORDER BY f.time DESC, f.id DESC LIMIT \(count)"
  }

  private static let order: PostgresQuery = "\(query: writeTime) DESC, i.id DESC"

  private var states: [EditorialItem.State] { state.map { [$0] } ?? EditorialItem.State.allCases }

  /// The conditions on an item `i` besides its state and its words.
  private var conditions: PostgresQuery {
    var conditions: PostgresQuery = ""
    func require(_ condition: PostgresQuery) { conditions = "\(query: conditions) AND \(query: condition)" }
    if let from { require("i.date >= \(from)") }
    if let to { require("i.date < \(to)") }
    if let isBreaking { require("i.breaking = \(isBreaking)") }
    if let after {
      require("(\(query: Self.writeTime), i.id) < (\(RFC3339.milliseconds(of: after.date)), \(after.id))")
    }
    // Topics come last: PostgreSQL tests in this order, and a comparison of arrays takes longest.
    if !scope.topics.isEmpty { require("i.topics && \(scope.topics)") }
    if access.topics != nil { require(access.condition) }
    return conditions
  }
}
