import News
import PostgresClient

extension NewsStore {
  /// A search has a second, and memory for the places of as many items as a word may be in: where it does not suffice,
  /// texts are taken apart again. It is planned for its very words, and over before compiled code or workers would pay.
  private static let searchSettings: PostgresQuery = """
    SELECT set_config('statement_timeout', '1000', true), set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('jit', 'off', true), set_config('work_mem', '32MB', true),
      set_config('max_parallel_workers_per_gather', '0', true)
    """

  /// How many of the newest items are looked at first, for each item of the page.
  private static let window = 40

  /// The rows of a page of items with some words. The planner's own choice between looking up all items with a word and
  /// taking apart the texts of the newest ones is wrong for most words, because it knows how often they come only of the
  /// commonest: so those among the newest items are looked up, and all only where they are too few.
  func rows(
    of query: ItemQuery, finding search: SearchQuery
  ) async throws -> (head: ScopeHead, rows: PostgresRows) {
    let words = search.tsquery(language: query.language?.lowercased())
    func read(_ page: PostgresQuery) async throws -> (head: ScopeHead, rows: PostgresRows) {
      try await self.read(query.scope, settings: Self.searchSettings, page)
    }
    guard search.hasWords else {
      // Nearly all items are without a word, and no index tells which.
      return try await read(
        Self.pageQuery(
          query,
          from: "change_log AS c JOIN items AS found ON found.id = c.item AND \(query: Self.matches("found", words))"
        ))
    }
    let recent = try await read(Self.lookup(query, "\(query: words) && \(query: Self.days(query))"))
    if recent.rows.count > query.limit { return recent }
    return try await read(Self.lookup(query, words))
  }

  private static func matches(_ items: String, _ words: PostgresQuery) -> PostgresQuery {
    let item = "item_search(\(items).language, \(items).title, \(items).summary, \(items).text, \(items).date)"
    return "\(unsafeSQL: item) @@ (\(query: words))"
  }

  /// Takes the newest of all items with some words. What is published the table of items says too, and only those of the
  /// page are then looked up in the log, where every change of an item is in the feed.
  private static func lookup(_ query: ItemQuery, _ words: PostgresQuery) -> PostgresQuery {
    let topics: PostgresQuery = query.scope.topics.isEmpty ? "" : "AND i.topics && \(query.scope.topics)"
    // OFFSET keeps the planner from walking all items by date instead.
    return PageBudget.items(
      of: """
        WITH found AS MATERIALIZED (
          SELECT f.id FROM (
            SELECT i.id, i.date FROM items AS i
            WHERE \(query: matches("i", words)) AND i.state = 'published' \(query: topics)
              \(query: conditions(query, of: "i", id: "i.id"))
            OFFSET 0
          ) AS f ORDER BY f.date DESC, f.id DESC LIMIT \(query.limit + 1)
        )
        SELECT c.date, c.item, c.version, c.updated
        FROM found JOIN change_log AS c ON c.item = found.id AND c.scope = '' AND c.present
        """,
      html: query.includesHTML, direction: "DESC", columns: NewsItem.columns(html: query.includesHTML))
  }

  /// Finds the items of the days that the newest of the scope are from; of the feed, where there are several topics.
  private static func days(_ query: ItemQuery) -> PostgresQuery {
    let topics = query.scope.topics
    return """
      (
        SELECT days_search(array_agg(DISTINCT day_number(w.date))) FROM (
          SELECT c.date FROM change_log AS c
          WHERE c.scope = \(topics.count == 1 ? topics[0] : "") AND c.present \(query: end(of: query))
          ORDER BY c.date DESC, c.item DESC LIMIT \(window * query.limit)
        ) AS w
      )
      """
  }

  /// How late items of the log `c` may be.
  private static func end(of query: ItemQuery) -> PostgresQuery {
    var end: PostgresQuery = ""
    if let to = query.to { end = "AND c.date < \(to)" }
    if let after = query.after { end = "\(query: end) AND c.date <= \(after.date)" }
    return end
  }
}
