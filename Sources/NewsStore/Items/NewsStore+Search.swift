import News
import PostgresClient

extension NewsStore {
  /// The settings of a search.
  ///
  /// Its timeout is one second. `work_mem` suffices for the row positions of the items with one word; with less memory
  /// PostgreSQL would parse texts again. The plan is made for the actual words. A search is too short for JIT
  /// compilation or parallel workers to pay off.
  static let searchSettings: PostgresQuery = """
    SELECT set_config('statement_timeout', '1000', true), set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('jit', 'off', true), set_config('work_mem', '32MB', true),
      set_config('max_parallel_workers_per_gather', '0', true)
    """

  /// The number of newest items to search first, for each item of the page.
  private static let window = 40

  /// Reads a page of items that match a search.
  ///
  /// The planner either looks up all items with a word or parses the texts of the newest items. Its choice is wrong for
  /// most words, because it has statistics only for the most common ones. So the newest items are looked up first, and
  /// all items only if too few of the newest match.
  func rows(of query: ItemQuery, finding search: SearchQuery) async throws -> ScopedRows {
    let words = search.tsquery(language: query.language?.lowercased())
    func read(_ page: PostgresQuery) async throws -> ScopedRows {
      try await self.read(query.scope, settings: Self.searchSettings, order: Self.newestFirst, page)
    }
    guard search.hasWords else {
      // Nearly all items lack a given word, and no index finds them.
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

  /// The condition that items match words. The planner finds such items in the index.
  static func matches(_ items: String, _ words: PostgresQuery) -> PostgresQuery {
    let item = "item_search(\(items).language, \(items).title, \(items).summary, \(items).text, \(items).date)"
    return "\(unsafeSQL: item) @@ (\(query: words))"
  }

  /// Selects the newest items that match. `items` also has the state, so that only the items of the page are looked up
  /// in the log of the feed, which has every published item.
  private static func lookup(_ query: ItemQuery, _ words: PostgresQuery) -> PostgresQuery {
    let topics: PostgresQuery = query.scope.topics.isEmpty ? "" : "AND i.topics && \(query.scope.topics)"
    // `OFFSET` prevents the planner from scanning all items by date instead.
    return """
      SELECT \(query: ItemVersion.columns) FROM (
        SELECT f.id FROM (
          SELECT i.id, i.date FROM items AS i
          WHERE \(query: matches("i", words)) AND i.state = 'published' \(query: topics)
            \(query: conditions(query, of: "i", id: "i.id"))
          OFFSET 0
        ) AS f ORDER BY f.date DESC, f.id DESC LIMIT \(query.limit + 1)
      ) AS found JOIN change_log AS c ON c.item = found.id AND c.scope = '' AND c.present
      """
  }

  /// Matches items of the same days as the newest ones of the scope. With several topics the newest ones of the feed
  /// are used.
  private static func days(_ query: ItemQuery) -> PostgresQuery {
    let topics = query.scope.topics
    return """
      (
        SELECT days_search(array_agg(DISTINCT day_number(w.date))) FROM (
          SELECT c.date FROM change_log AS c
          WHERE c.scope = \(topics.count == 1 ? topics[0] : "") AND c.present \(query: end(of: query))
          ORDER BY \(query: newestFirst) LIMIT \(window * query.limit)
        ) AS w
      )
      """
  }

  /// The upper limit of the dates of items in the log `c`.
  private static func end(of query: ItemQuery) -> PostgresQuery {
    var end: PostgresQuery = ""
    if let to = query.to { end = "AND c.date < \(to)" }
    if let after = query.after { end = "\(query: end) AND c.date <= \(after.date)" }
    return end
  }
}
