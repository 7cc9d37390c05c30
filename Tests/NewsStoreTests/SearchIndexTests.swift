import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The upkeep of the search index.
@Suite struct SearchIndexTests {
  private static let pending: PostgresQuery = "SELECT pending_pages FROM pgstatginindex('items_by_search_and_day')"

  private static func insertion(_ numbers: Range<Int>) -> [ImportedItem] {
    numbers.map { number in
      ImportedItem(
        id: UUID(number), source: "https://example.com/feed", guid: "\(number)", digest: Data([1]),
        content: ItemContent(state: .published, date: .newYear, text: "word\(number) word\(number % 10)"))
    }
  }

  @Test("A following store merges what itself and others have written")
  func merging() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query("CREATE EXTENSION pgstattuple")
      try await sql.publish([UUID(1)])
      try await sql.makeDraft(UUID(2))
      #expect(try await sql.value(Self.pending) > 0)
      let following = Task { await store.follow() }
      defer { following.cancel() }
      try await eventually("the first entries are merged") { try await sql.value(Self.pending) == 0 }
      // The draft comes last: it has no version by which the store could notice it.
      for (number, state) in [EditorialItem.State.published, .draft].enumerated() {
        _ = try await store.create(UUID(10 + number), ItemContent(state: state, date: .newYear, text: "text"))
        try await eventually("own entries are merged") { try await sql.value(Self.pending) == 0 }
      }
      try await sql.publish([UUID(3)])
      try await eventually("entries of others are merged") { try await sql.value(Self.pending) == 0 }
    }
  }

  @Test("A large import merges its entries")
  func imports() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query("CREATE EXTENSION pgstattuple")
      _ = try await store.importItems(Self.insertion(0..<1000))
      #expect(try await sql.value(Self.pending) > 0)
      _ = try await store.importItems(Self.insertion(1000..<2000))
      #expect(try await sql.value(Self.pending) == 0)
    }
  }

  @Test("A store whose user does not own the index leaves it to the writes, and says so once")
  func privilege() async throws {
    try await NewsDatabase.with { url in
      let sql = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      try await withResource(sql, release: { await $0.shutdown() }) { sql in
        let role = "reader_\(UInt32.random(in: 0 ... .max))"
        _ = try await sql.query("CREATE ROLE \(unsafeSQL: role)")
        _ = try await sql.query("GRANT SELECT, UPDATE ON ALL TABLES IN SCHEMA public TO \(unsafeSQL: role)")
        var configuration = PostgresConfiguration.forBusyMachine(url)
        configuration.connectionString += (url.contains("?") ? "&" : "?") + "options=-c%20role%3D\(role)"
        let log = RecordingLog()
        let store = NewsStore(connection: configuration, logger: log.logger)
        try await withResource(store, release: { await $0.shutdown() }) { store in
          let following = Task { await store.follow() }
          defer { following.cancel() }
          try await eventually("it is reported") { log.text.contains("merge the search index") }
        }
        _ = try await sql.query("DROP OWNED BY \(unsafeSQL: role)")
        _ = try await sql.query("DROP ROLE \(unsafeSQL: role)")
      }
    }
  }

  @Test("ANALYZE does not parse the texts of items")
  func statistics() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([UUID(1)])
      // PostgreSQL analyses the expressions of indexes, unless they are excluded.
      _ = try await sql.query("CREATE INDEX items_by_length ON items (length(text))")
      _ = try await sql.query("ANALYZE items")
      let analyzed = try await sql.query(
        "SELECT tablename FROM pg_stats WHERE tablename IN ('items_by_length', 'items_by_search_and_day')")
      #expect(try analyzed.map { try $0.decode("tablename", as: String.self) } == ["items_by_length"])
    }
  }
}
