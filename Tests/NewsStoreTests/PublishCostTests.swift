import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The number of pages that `publish()` reads.
@Suite struct PublishCostTests {
  /// The pages that the publication of an item reads in a session.
  private static func pages(
    _ session: PostgresConnection, _ id: UUID, after change: PostgresQuery
  ) async throws -> Int {
    try await session.execute(script: "BEGIN")
    _ = try await session.query(change)
    let plan = try await session.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM publish(\([id]))")
    try await session.execute(script: "COMMIT")
    let json = try #require(plan.first).decode(0, as: String.self)
    let counts = json.matches(of: #/"Shared (?:Hit|Read) Blocks": (\d+)/#).prefix(2)
    return try counts.reduce(0) { try $0 + #require(Int($1.1)) }
  }

  @Test("A session that began with empty tables looks up rows by key when they have grown")
  func growth() async throws {
    try await NewsDatabase.with { url in
      let configuration = PostgresConfiguration.forBusyMachine(url)
      let sql = PostgresPool(configuration: configuration, logger: NewsDatabase.logger)
      try await sql.makeTopics("a", "b")
      try await PostgresConnection.with(configuration: configuration, logger: NewsDatabase.logger) { session in
        func insert(_ number: Int) async throws -> Int {
          let ids = [UUID(number)]
          return try await Self.pages(session, ids[0], after: PostgresPool.insertion(ids, topics: ["a", "b"]))
        }
        // PostgreSQL considers a plan for all parameters after five executions (PostgreSQL 15, PREPARE).
        var empty = 0
        for number in 0..<10 { empty = try await insert(number) }
        // The statement for changes is planned while the tables are empty too. Its planning reads pages of the catalogue.
        _ = try await Self.pages(session, UUID(0), after: "UPDATE items SET text = 'new' WHERE id = \(UUID(0))")
        for chunk in 1...5 {
          try await sql.publish((0..<1000).map { UUID(chunk * 1000 + $0) }, topics: ["a", "b"])
        }
        let id = UUID(10)
        #expect(empty > 20)
        #expect(try await insert(10) < 3 * empty)
        for change: PostgresQuery in [
          "UPDATE items SET text = 'longer' WHERE id = \(id)", "UPDATE items SET topics = '{a}' WHERE id = \(id)",
          "UPDATE items SET state = 'retracted' WHERE id = \(id)",
        ] {
          #expect(try await Self.pages(session, id, after: change) < 3 * empty)
        }
      }
      await sql.shutdown()
    }
  }

  /// The pages of items and the log that are read by writes before and after the tables grow.
  ///
  /// - Parameter isFresh: Whether the later writes use a session of their own, whose plans are made for large tables.
  private static func pages(isFresh: Bool) async throws -> Int {
    try await NewsDatabase.with { url in
      var pool = PostgresPoolConfiguration.forBusyMachine
      pool.size = 1
      var store = NewsStore(connection: .forBusyMachine(url), pool: pool, logger: NewsDatabase.logger)
      _ = try await store.createTopic("a", TopicContent(titles: [:], position: 0))
      func write(_ numbers: Range<Int>) async throws {
        for number in numbers {
          let content = ItemContent(state: .published, date: .newYear, text: "\(number)", topics: ["a"])
          _ = try await store.create(UUID(number), content)
          _ = try await store.write(UUID(number), if: .exists) { _ in
            var changed = content
            changed.text += "."
            return changed
          }
        }
      }
      try await write(0..<10)
      let filling = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      try await withResource(filling, release: { await $0.shutdown() }) { sql in
        for chunk in 1...5 {
          try await sql.publish((0..<1000).map { UUID(chunk * 1000 + $0) }, topics: ["a"])
        }
      }
      if isFresh {
        await store.shutdown()
        store = NewsStore(connection: .forBusyMachine(url), pool: pool, logger: NewsDatabase.logger)
      }
      try await write(10..<60)
      await store.shutdown()
      let sql = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      return try await withResource(sql, release: { await $0.shutdown() }) { sql in
        // Sessions report their reads when they end.
        try await sql.endOtherSessions()
        return try await sql.value(
          """
          SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::bigint
          FROM pg_statio_user_tables WHERE relname IN ('items', 'change_log')
          """)
      }
    }
  }

  @Test("A group reads no more pages in a session that began with empty tables, when they have grown")
  func groups() async throws {
    let (old, fresh) = (try await Self.pages(isFresh: false), try await Self.pages(isFresh: true))
    // A session that read a scope as a whole would read hundreds of pages for each of the 100 writes.
    #expect(old < fresh + 100 * 50, "\(old) and \(fresh) pages")
    #expect(fresh > 100)
  }
}
