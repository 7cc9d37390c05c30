import Foundation
import NewsStore
import PostgresClient
import TestSupport
import TestTime
import Testing

/// The migration that determines which files are withdrawn from readers, on a database with items and writers.
@Suite struct TakeDownMigrationTests {
  private static let number = 9

  private static func migrate(_ url: String, upTo number: Int = .max) async throws {
    let migrations = Migration.required.filter { $0.number <= number }
    _ = try await Migrator(migrations, configuration: .patient(url), logger: NewsDatabase.logger).migrate()
  }

  private static func file(_ number: Int) -> UUID { UUID(1000 + number) }

  /// Publishes items with the files 1, 2 and so on, all of which are known.
  private static func makeItems(_ count: Int, _ sql: PostgresPool) async throws {
    try await sql.transaction { transaction in
      for number in 1...count {
        let (id, file) = (UUID(number), file(number))
        let attachments = PostgresJSON(
          data: Data(#"[{"url": "/v1/media/\#(file.uuidString.lowercased())", "type": "image/png"}]"#.utf8))
        _ = try await transaction.query(
          """
          INSERT INTO media (id, sha256, type, bytes) VALUES (\(file), sha256(\(Data([UInt8(number)]))), 'image/png', 1)
          """)
        _ = try await transaction.query(
          """
          INSERT INTO items (id, state, date, text, attachments)
          VALUES (\(id), 'published', \(Date.newYear), 'x', \(attachments))
          """)
      }
      _ = try await transaction.query("SELECT publish(\((1...count).map { UUID($0) }))")
    }
  }

  private static func retract(_ id: UUID, _ transaction: PostgresTransaction) async throws {
    _ = try await transaction.query("UPDATE items SET state = 'retracted' WHERE id = \(id)")
    _ = try await transaction.query("SELECT publish(ARRAY[\(id)])")
  }

  private static func withOldDatabase(
    _ body: @Sendable (_ url: String, _ sql: PostgresPool) async throws -> Void
  ) async throws {
    try await withTestDatabase { url in
      try await migrate(url, upTo: number - 1)
      let sql = PostgresPool(configuration: .patient(url), pool: .patient, logger: NewsDatabase.logger)
      do {
        try await body(url, sql)
        await sql.shutdown()
      } catch {
        await sql.shutdown()
        throw error
      }
    }
  }

  private static func withdrawn(_ sql: PostgresPool) async throws -> [UUID] {
    try await sql.query("SELECT media FROM withdrawn_media ORDER BY media").map { try $0.decode("media") }
  }

  private static func publications(_ sql: PostgresPool) async throws -> [UUID] {
    try await sql.query("SELECT media FROM media_publications ORDER BY media").map { try $0.decode("media") }
  }

  @Test("Files of items that were retracted before are withdrawn, those of published items are not")
  func retractedBefore() async throws {
    try await Self.withOldDatabase { url, sql in
      try await Self.makeItems(3, sql)
      try await sql.transaction { try await Self.retract(UUID(2), $0) }
      try await Self.migrate(url)
      #expect(try await Self.withdrawn(sql) == [Self.file(2)])
      #expect(try await Self.publications(sql) == [Self.file(1), Self.file(3)])
    }
  }

  @Test("A retraction that is under way during the migration counts, and writers afterwards are tracked")
  func retractedDuring() async throws {
    try await Self.withOldDatabase { url, sql in
      try await Self.makeItems(3, sql)
      let migrating = try await sql.transaction { transaction in
        try await Self.retract(UUID(1), transaction)
        let migrating = Task { try await Self.migrate(url) }
        // The long part runs without a lock; only the short part waits.
        try await eventually("the migration waits for the writer") {
          let waiting: PostgresQuery = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%media_publications%'
            """
          return try await sql.value(waiting, as: Int.self) == 1
        }
        return migrating
      }
      try await migrating.value
      #expect(try await Self.withdrawn(sql) == [Self.file(1)])
      #expect(try await Self.publications(sql) == [Self.file(2), Self.file(3)])
      try await sql.transaction { try await Self.retract(UUID(3), $0) }
      #expect(try await Self.withdrawn(sql) == [Self.file(1), Self.file(3)])
      #expect(try await Self.publications(sql) == [Self.file(2)])
    }
  }
}
