import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct PageTests {
  /// Reads all pages of a query.
  private func pages(_ store: NewsStore, _ query: ItemQuery) async throws -> [[NewsItem]] {
    var query = query
    var pages: [[NewsItem]] = []
    repeat {
      let page = try await store.items(query)
      pages.append(page.items)
      query.after = page.next
    } while query.after != nil && pages.count < 1000
    return pages
  }

  @Test(
    "Pages of items with equal dates contain each item once, sorted by date and then id", arguments: [1, 7, 50, 200])
  func equalDates(limit: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = (1...100).map { UUID($0) }
      for day in 0..<3 {
        try await sql.publish(
          ids.enumerated().filter { $0.offset % 3 == day }.map(\.element).shuffled(),
          date: .newYear + TimeInterval(86_400 * day))
      }
      let pages = try await pages(store, ItemQuery(limit: limit))
      let expected = (0..<3).reversed().flatMap { day in
        ids.enumerated().filter { $0.offset % 3 == day }.map(\.element).reversed()
      }
      #expect(pages.flatMap { $0.map(\.id) } == expected)
      #expect(pages.dropLast().allSatisfy { $0.count == limit })
      #expect(pages.last?.isEmpty == false)
      #expect(pages.count == (100 + limit - 1) / limit)
    }
  }

  @Test("A publication above a page does not move the pages below it")
  func publishedMeanwhile() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish((1...10).map { UUID($0) })
      let first = try await store.items(ItemQuery(limit: 5))
      try await sql.publish((11...15).map { UUID($0) })
      try await sql.publish(
        [UUID(6)], after: "UPDATE items SET date = date + interval '1 day' WHERE id = \(UUID(6))")
      let second = try await store.items(ItemQuery(limit: 5, after: first.next))
      #expect(first.items.map(\.id) == (6...10).reversed().map { UUID($0) })
      #expect(second.items.map(\.id) == (1...5).reversed().map { UUID($0) })
      #expect(second.next == nil)
    }
  }

  @Test("A union of topics contains an item of several topics once", arguments: [1, 2, 5, 100])
  func union(limit: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b", "c")
      let topics = [["a"], ["b"], ["a", "b"], ["c"], [], ["a", "b", "c"]]
      for number in 1...30 {
        try await sql.publish([UUID(number)], topics: topics[number % 6], date: .newYear + Double(number % 4))
      }
      let everything = try await pages(store, ItemQuery(limit: 100))[0]
      #expect(everything.count == 30)
      for scope in [["a"], ["a", "b"], ["b", "c"], ["a", "b", "c"]] {
        let pages = try await pages(store, ItemQuery(scope: Scope(topics: scope), limit: limit))
        #expect(
          pages.flatMap { $0 } == everything.filter { !Set($0.topics).isDisjoint(with: scope) }, "\(scope)")
      }
      await #expect(throws: StoreError.unknownTopics(["x", "y"])) {
        try await store.items(ItemQuery(scope: Scope(topics: ["y", "a", "x"])))
      }
    }
  }

  private static let languageRanges: [(String, [String])] = [
    ("en", ["en", "EN-us", "en-GB", "en-GB-oed"]), ("EN", ["en", "EN-us", "en-GB", "en-GB-oed"]),
    ("en-gb", ["en-GB", "en-GB-oed"]), ("en-g", []), ("e", []), ("eng", ["eng"]), ("de", ["de"]), ("fr", []),
    ("%", []), ("e_", []),
  ]

  @Test("A language range matches all tags that extend it, in any case")
  func languages() async throws {
    try await NewsDatabase.withStore { store, sql in
      let tags: [String?] = ["en", "EN-us", "en-GB", "en-GB-oed", "eng", "de", nil]
      for (number, tag) in tags.enumerated() {
        try await sql.transaction { transaction in
          _ = try await transaction.query(PostgresPool.insertion([UUID(number)], date: .newYear - Double(number)))
          _ = try await transaction.query("UPDATE items SET language = \(tag) WHERE id = \(UUID(number))")
          try await transaction.publish([UUID(number)])
        }
      }
      for (range, found) in Self.languageRanges {
        #expect(try await store.items(ItemQuery(language: range)).items.map(\.language) == found, "\(range)")
      }
    }
  }

  @Test("From is inclusive, to is exclusive, authors match exactly, and filters combine")
  func filters() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      for number in 1...8 {
        try await sql.transaction { transaction in
          _ = try await transaction.query(
            PostgresPool.insertion(
              [UUID(number)], topics: number % 2 == 0 ? ["a"] : [], date: .newYear + Double(number)))
          _ = try await transaction.query(
            "UPDATE items SET author = \(number < 5 ? "Ann" : "ann") WHERE id = \(UUID(number))")
          try await transaction.publish([UUID(number)])
        }
      }
      func found(_ query: ItemQuery) async throws -> [UUID] { try await store.items(query).items.map(\.id) }
      #expect(try await found(ItemQuery(from: .newYear + 3, to: .newYear + 5)) == [UUID(4), UUID(3)])
      #expect(try await found(ItemQuery(author: "Ann")) == [4, 3, 2, 1].map { UUID($0) })
      #expect(
        try await found(ItemQuery(scope: Scope(topics: ["a"]), author: "Ann", from: .newYear + 3)) == [UUID(4)])
      #expect(try await found(ItemQuery(from: .newYear + 5, to: .newYear + 5)) == [])
    }
  }

  @Test("A page reads only its own rows, at any position of a long list")
  func touchedRows() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration.forBusyMachine(url)
      let sql = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
      try await sql.makeTopics("a", "b")
      for chunk in 0..<4 {
        try await sql.publish((1...1000).map { UUID(1000 * chunk + $0) }, topics: ["a", "b"])
      }
      _ = try await sql.query("ANALYZE")
      let touched: PostgresQuery = """
        SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
        WHERE relname IN ('items', 'change_log')
        """
      // A session writes its statistics at its end at the latest, so the sessions above must end before the count
      // begins.
      await sql.shutdown()
      let observer = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
      let others: PostgresQuery = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND backend_type = 'client backend'
        """
      try await eventually("the writers are gone") { try await observer.value(others) == 0 }
      let before: Int = try await observer.value(touched)
      let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
      let query = ItemQuery(
        scope: Scope(topics: ["a", "b"]), limit: 20, after: Keyset(date: .newYear, id: UUID(1500)))
      let page = try await store.page(query)
      #expect(page.items.map(\.id) == (1480...1499).reversed().map { UUID($0) })
      _ = try await store.fragments(of: page.items, as: .json(html: false), epoch: page.feedVersion.epoch)
      await store.shutdown()
      try await eventually("the reader is gone") { try await observer.value(others) == 0 }
      // 21 rows of the log for each topic, and each item with its row of the log for the contents.
      let count: Int = try await observer.value(touched) - before
      #expect((20...200).contains(count))
      await observer.shutdown()
    }
  }
}
