import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The removal of old writes from the history.
@Suite struct HistorySweepTests {
  private static let day = Duration.seconds(86_400)

  /// Creates an item and changes its text, so that its history has as many writes as there are ages.
  ///
  /// - Parameter ages: The ages of the writes in days, oldest write first.
  private static func write(_ id: UUID, ages: [Int], _ sql: PostgresPool) async throws {
    _ = try await sql.query("INSERT INTO items (id, state, date, text) VALUES (\(id), 'draft', '2026-01-01', 'text 1')")
    for number in ages.indices.dropFirst() {
      _ = try await sql.query("UPDATE items SET text = \("text \(number + 1)") WHERE id = \(id)")
    }
    for (index, age) in ages.enumerated() {
      _ = try await sql.query(
        """
        UPDATE item_history SET at = clock_timestamp() - make_interval(days => \(age)::int)
        WHERE item = \(id) AND revision = \(index + 1)
        """)
    }
  }

  private static func revisions(_ id: UUID, _ sql: PostgresPool) async throws -> [Int] {
    try await sql.query("SELECT revision FROM item_history WHERE item = \(id) ORDER BY revision").map {
      try $0.decode("revision")
    }
  }

  @Test(
    "A write is kept while it is young, or among the newest ones, and the newest one always",
    arguments: [
      (HistoryRetention(age: .seconds(365 * 86_400)), [500, 400, 366, 364, 9, 1], [4, 5, 6]),
      (HistoryRetention(age: .seconds(365 * 86_400)), [500, 400], [2]),
      (HistoryRetention(age: .seconds(365 * 86_400)), [300, 200], [1, 2]),
      (HistoryRetention(age: .seconds(60)), [0], [1]),
      (HistoryRetention(count: 2), [3, 2, 1, 0], [3, 4]), (HistoryRetention(count: 4), [9, 8, 7, 6], [1, 2, 3, 4]),
      (HistoryRetention(count: 5), [9, 8], [1, 2]), (HistoryRetention(count: 1), [1, 1, 1], [3]),
      (HistoryRetention(age: .seconds(365 * 86_400), count: 3), [500, 400, 400, 400, 1], [3, 4, 5]),
      (HistoryRetention(age: .seconds(365 * 86_400), count: 2), [500, 300, 200, 100], [2, 3, 4]),
      // The clock was set back after the second write: no gap may arise.
      (HistoryRetention(age: .seconds(365 * 86_400)), [500, 1, 400, 2, 0], [2, 3, 4, 5]),
    ] as [(HistoryRetention, [Int], [Int])])
  func kept(retention: HistoryRetention, ages: [Int], expected: [Int]) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.write(UUID(1), ages: ages, sql)
      #expect(try await store.sweepHistory(keeping: retention) == ages.count - expected.count)
      #expect(try await Self.revisions(UUID(1), sql) == expected)
      #expect(try await store.sweepHistory(keeping: retention) == 0)
    }
  }

  @Test("What is kept has the same old and new values as before, and can be restored; what is removed cannot")
  func values() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.write(UUID(1), ages: [9, 8, 7, 6, 5], sql)
      let before = try await store.history(of: UUID(1), limit: 50)
      #expect(before.entries.map(\.revision) == [5, 4, 3, 2, 1] && !before.isIncomplete)
      #expect(try await store.sweepHistory(keeping: HistoryRetention(age: Self.day, count: 2)) == 3)
      let after = try await store.history(of: UUID(1), limit: 50)
      #expect(after.entries == Array(before.entries.prefix(2)) && after.isIncomplete)
      let first = try await store.history(of: UUID(1), limit: 1)
      #expect(first.next != nil && !first.isIncomplete)
      let all = try await store.history(of: nil, limit: 50)
      #expect(all.entries.count == 2 && !all.isIncomplete)

      let item = try await store.editorialItem(UUID(1))
      for revision in 3...5 {
        let restored = try await store.restoration(of: UUID(1), to: revision)(item)
        #expect(restored.text == "text \(revision)")
      }
      for revision in 1...2 {
        await #expect(throws: StoreError.revisionRemoved) { try await store.restoration(of: UUID(1), to: revision) }
      }
      for revision in [0, 6] {
        await #expect(throws: StoreError.notFound) { try await store.restoration(of: UUID(1), to: revision) }
      }
    }
  }

  @Test("Many writes of one item, and the writes of many items, are removed in steps")
  func steps() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        """
        INSERT INTO items (id, state, date, text)
        SELECT gen_random_uuid(), 'draft', '2026-01-01', 'x' FROM generate_series(1, 1201)
        """)
      _ = try await sql.query("UPDATE items SET text = 'y'")
      _ = try await sql.query(
        """
        INSERT INTO item_history (item, revision, at, state, fields, replaced)
        SELECT (SELECT id FROM items ORDER BY id LIMIT 1 OFFSET 700), n, clock_timestamp(), 'draft', '{text}', '{"text": "z"}'
        FROM generate_series(3, 1302) AS n
        """)
      #expect(try await store.sweepHistory(keeping: HistoryRetention(count: 1)) == 1201 + 1300)
      let rest = try await sql.query("SELECT count(*) AS count, count(DISTINCT item) AS items FROM item_history")
      #expect(try rest[0].decode("count", as: Int.self) == 1201 && rest[0].decode("items", as: Int.self) == 1201)
    }
  }

  @Test("While another process removes writes, this one leaves it to it")
  func oneAtATime() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.write(UUID(1), ages: [9, 8, 7], sql)
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT pg_advisory_xact_lock(7161720914263)")
        #expect(try await store.sweepHistory(keeping: HistoryRetention()) == 0)
      }
      #expect(try await store.sweepHistory(keeping: HistoryRetention()) == 2)
    }
  }

  @Test("A write that an erasure is removing is left to it")
  func erasure() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.write(UUID(1), ages: [9, 8, 7], sql)
      try await Self.write(UUID(2), ages: [9, 8], sql)
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM item_history WHERE item = \(UUID(1)) FOR UPDATE")
        #expect(try await store.sweepHistory(keeping: HistoryRetention()) == 1)
      }
      #expect(try await Self.revisions(UUID(1), sql) == [1, 2, 3])
    }
  }
}
