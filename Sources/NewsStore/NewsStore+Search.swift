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
    func read(_ source: PostgresQuery, _ found: PostgresQuery) async throws -> (head: ScopeHead, rows: PostgresRows) {
      try await self.read(
        query.scope, settings: Self.searchSettings, Self.pageQuery(query, from: source, with: found))
    }
    guard search.hasWords else {
      // Nearly all items are without a word, and no index tells which.
      return try await read(
        "change_log AS c JOIN items AS found ON found.id = c.item AND \(query: Self.matches("found", words))", "")
    }
    // OFFSET keeps the planner from walking all of the log instead.
    let source: PostgresQuery = """
      found CROSS JOIN LATERAL (SELECT * FROM change_log AS l WHERE l.item = found.id OFFSET 0) AS c
      """
    let recent = try await read(source, Self.found("\(query: words) && \(query: Self.days(query))"))
    if recent.rows.count > query.limit { return recent }
    return try await read(source, Self.found(words))
  }

  private static func matches(_ items: String, _ words: PostgresQuery) -> PostgresQuery {
    let item = "item_search(\(items).language, \(items).title, \(items).summary, \(items).text, \(items).date)"
    return "\(unsafeSQL: item) @@ (\(query: words))"
  }

  private static func found(_ words: PostgresQuery) -> PostgresQuery {
    "WITH found AS MATERIALIZED (SELECT i.id FROM items AS i WHERE \(query: matches("i", words)))"
  }

  /// Finds the items of the days that the newest of the first scope are from.
  private static func days(_ query: ItemQuery) -> PostgresQuery {
    """
    (
      SELECT days_search(min(w.date), (
        SELECT max(c.date) FROM change_log AS c WHERE c.scope = '' AND c.present \(query: end(of: query))
      )) FROM (
        SELECT c.date FROM change_log AS c WHERE c.scope = \(query.scope.names[0]) AND c.present \(query: end(of: query))
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
