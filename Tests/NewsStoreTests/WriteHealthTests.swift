import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Databases that answer, and accept no writes.
@Suite struct WriteHealthTests {
  /// Makes each insertion of an item fail.
  private static func refuseItems(_ sqlState: String, _ message: String, _ sql: PostgresPool) async throws {
    try await sql.withConnection { connection in
      try await connection.execute(
        script: """
          CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION '\(message)' USING ERRCODE = '\(sqlState)'; END $$;
          CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION refuse();
          """)
    }
  }

  private static func create(in store: NewsStore) async throws {
    let content = ItemContent(state: .published, date: .newYear, text: "x", topics: [])
    _ = try await store.create(UUID(), content)
  }

  @Test(
    "The obstacle of a write is named until a write succeeds",
    arguments: [
      ("53100", "could not extend file: No space left on device", WriteObstacle.diskFull),
      ("58030", "could not write to file: Input/output error", .diskFailed),
      ("25006", "cannot execute INSERT in a read-only transaction", .readOnly),
      ("42501", "could not open file: Read-only file system", .readOnly),
    ])
  func obstacles(sqlState: String, message: String, obstacle: WriteObstacle) async throws {
    try await NewsDatabase.withStore { store, sql in
      #expect(store.writeObstacle == nil)
      try await Self.refuseItems(sqlState, message, sql)
      await #expect(throws: StoreError.writesRefused(obstacle)) { try await Self.create(in: store) }
      #expect(store.writeObstacle == obstacle)
      #expect(store.endingObstacle == nil)
      _ = try await sql.query("DROP TRIGGER refuse ON items")
      try await Self.create(in: store)
      #expect(store.writeObstacle == nil)
    }
  }

  @Test("A missing privilege, or a broken rule, is no obstacle of all writes", arguments: ["42501", "23514", "53200"])
  func others(sqlState: String) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.refuseItems(sqlState, "permission denied for table items", sql)
      await #expect(throws: (any Error).self) { try await Self.create(in: store) }
      #expect(store.writeObstacle == nil)
    }
  }

  @Test("The database is asked whether it accepts writes again, although nobody writes")
  func probe() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.refuseItems("53100", "full", sql)
      await #expect(throws: StoreError.writesRefused(.diskFull)) { try await Self.create(in: store) }
      try await sql.withConnection { connection in
        try await connection.execute(
          script: "CREATE TABLE before AS SELECT count(*) AS tables FROM pg_class")
      }
      await store.probeWrites()
      #expect(store.writeObstacle == nil)
      // It leaves nothing behind, apart from the catalogue's own table of this test.
      let more: Int = try await sql.value("SELECT (SELECT count(*) FROM pg_class) - tables FROM before")
      #expect(more == 1)
    }
  }

  @Test(
    "The last message of a server that ends is remembered until there is a connection, and reported once a minute",
    arguments: [PostgresError.Code.connectionLost, .commitOutcomeUnknown])
  func ending(code: PostgresError.Code) throws {
    let log = RecordingLog()
    let health = WriteHealth(logger: log.logger)
    let panic = PostgresError(code, "could not write to file: No space left on device", sqlState: "53100")
    for _ in 0..<3 { #expect(health.record(panic) == .diskFull) }
    #expect(health.endingObstacle == .diskFull)
    health.recordConnection()
    #expect(health.endingObstacle == nil)
    #expect(health.obstacle == .diskFull)
    health.recordWrite()
    #expect(health.obstacle == nil)
    let lines = log.text.split(separator: "\n")
    #expect(lines.count == 2, "\(log.text)")
    #expect(lines.first?.hasPrefix("error the database accepts no writes") == true)
    #expect(lines.first?.contains("No space left on device (SQLSTATE 53100). Make room on its disk.") == true)
    #expect(lines.last?.hasPrefix("notice the database accepts writes again") == true)
    #expect(health.record(PostgresError(.connectionLost, "terminated", sqlState: "57P01")) == nil)
  }
}
