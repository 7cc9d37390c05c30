import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct MigratorTests {
  private static let first = "CREATE TABLE first (n integer); INSERT INTO first VALUES (1);"
  private static let second = "CREATE TABLE second (n integer);"

  /// Creates a migrator.
  ///
  /// - Parameters:
  ///   - lockTimeout: The timeout for one attempt to lock a table.
  ///   - limit: The total time for all attempts.
  private func migrator(
    _ files: [String: String], _ url: String, lockTimeout: Duration = .seconds(60), limit: Duration = .seconds(120)
  ) async throws -> Migrator {
    let migrations = try await withFolder(files) { try Migration.all(in: $0) }
    var locks = Migrator.LockPolicy()
    locks.timeout = lockTimeout
    locks.initialRetryDelay = .milliseconds(20)
    locks.limit = limit
    return Migrator(
      migrations, configuration: PostgresConfiguration.forBusyMachine(url), locks: locks, logger: NewsDatabase.logger)
  }

  @Test("A fresh database gets all migrations in order, and a second run applies nothing")
  func freshDatabase() async throws {
    try await withEmptyDatabase { url, sql in
      let migrator = try await migrator(["0002_second.sql": Self.second, "0001_first.sql": Self.first], url)
      #expect(try await migrator.migrate() == ["0001_first.sql", "0002_second.sql"])
      #expect(try await migrator.migrate() == [])
      #expect(try await sql.value("SELECT count(*) FROM first") == 1)
      #expect(try await sql.value("SELECT count(*) FROM schema_migrations") == 2)
    }
  }

  @Test("The schema of the project is applied to a fresh database")
  func projectSchema() async throws {
    try await withEmptyDatabase { url, sql in
      let migrations = Migration.required
      let migrator = Migrator(configuration: PostgresConfiguration.forBusyMachine(url), logger: NewsDatabase.logger)
      #expect(try await migrator.migrate() == migrations.map(\.name))
      try await migrator.check()
      #expect(try await sql.counter() == 0)
    }
  }

  @Test("No column has a type of object identifiers, whose values another cluster does not know")
  func objectIdentifiers() async throws {
    try await NewsDatabase.withStore { _, sql in
      // pg_upgrade refuses most of these types in tables; they are as harmful in indexes and materialised views.
      let columns: PostgresQuery = """
        SELECT format('%s.%s %s', c.relname, a.attname, t.typname)
        FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
        WHERE c.relkind IN ('r', 'p', 'i', 'I', 'm') AND a.attnum > 0 AND NOT a.attisdropped
          AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
          AND t.typname ~ '^_?reg[a-z]+$' AND t.typnamespace = 'pg_catalog'::regnamespace
        """
      func found() async throws -> [String] { try await sql.query(columns).map { try $0.decode(0) } }
      #expect(try await found() == [])
      _ = try await sql.query("CREATE TABLE bad (a regconfig, b regclass[])")
      #expect(Set(try await found()) == ["bad.a regconfig", "bad.b _regclass"])
    }
  }

  @Test("A check changes nothing, names pending migrations, and succeeds if the schema is current")
  func check() async throws {
    try await withEmptyDatabase { url, sql in
      let one = try await migrator(["0001_first.sql": Self.first], url)
      let two = try await migrator(["0001_first.sql": Self.first, "0002_second.sql": Self.second], url)
      await #expect(throws: MigrationError.pending(["0001_first.sql", "0002_second.sql"])) { try await two.check() }
      #expect(try await sql.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0)
      _ = try await one.migrate()
      try await one.check()
      await #expect(throws: MigrationError.pending(["0002_second.sql"])) { try await two.check() }
      #expect(try await two.migrate() == ["0002_second.sql"])
      try await two.check()
    }
  }

  @Test("A migration that was changed or removed after it was applied stops the migrator")
  func changedAndMissing() async throws {
    try await withEmptyDatabase { url, sql in
      let files = ["0001_first.sql": Self.first, "0002_second.sql": Self.second]
      _ = try await migrator(files, url).migrate()

      let changed = try await migrator(
        ["0001_first.sql": Self.first + "\n", "0002_second.sql": Self.second, "0003_c.sql": "CREATE TABLE c ();"], url)
      await #expect(throws: MigrationError.changed("0001_first.sql")) { try await changed.migrate() }
      await #expect(throws: MigrationError.changed("0001_first.sql")) { try await changed.check() }

      let missing = try await migrator(["0001_first.sql": Self.first], url)
      await #expect(throws: MigrationError.missing("0002_second.sql")) { try await missing.migrate() }
      await #expect(throws: MigrationError.missing("0002_second.sql")) { try await missing.check() }

      let renamed = try await migrator(["0001_first.sql": Self.first, "0002_other.sql": Self.second], url)
      await #expect(throws: MigrationError.missing("0002_second.sql")) { try await renamed.check() }
      #expect(try await sql.value("SELECT to_regclass('c') IS NULL"))
    }
  }

  @Test(
    "A database of a version before 1.0 is left unchanged, and the error says what to do",
    arguments: [
      ["0001_items_and_log.sql"], ["0001_items_and_log.sql", "0002_search.sql"],
      ["0001_items_and_topics.sql", "0002_change_log.sql"],
    ])
  func prerelease(applied names: [String]) async throws {
    try await withEmptyDatabase { url, sql in
      try await NewsDatabase.notePrereleaseMigrations(names, url)
      let migrator = Migrator(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      await #expect(throws: MigrationError.prerelease) { try await migrator.migrate() }
      await #expect(throws: MigrationError.prerelease) { try await migrator.check() }
      #expect(try await sql.value("SELECT count(*) FROM schema_migrations") == names.count)
      #expect(try await sql.value("SELECT to_regclass('items') IS NULL"))

      let store = NewsStore(connection: .forBusyMachine(url), logger: NewsDatabase.logger)
      await #expect(throws: StoreError.unavailable) { try await store.epochs() }
      #expect(store.schemaProblem == .prerelease)
      await store.shutdown()
    }
    let text = "\(MigrationError.prerelease)"
    for step in ["tidings export --all --history", "create a new database", "tidings import", "media adopt"] {
      #expect(text.contains(step))
    }
  }

  @Test(
    "Files that are not numbered from 0001 without gaps are refused by name",
    arguments: [
      (["0001_a.sql", "0003_c.sql"], "0003_c.sql", 2), (["0002_b.sql"], "0002_b.sql", 1),
      (["0001_a.sql", "0001_b.sql"], "0001_b.sql", 2), (["1_a.sql"], "1_a.sql", 1), (["0001a.sql"], "0001a.sql", 1),
      (["0001_a.sql", "b.sql"], "b.sql", 2), (["00001_a.sql"], "00001_a.sql", 1), (["+001_a.sql"], "+001_a.sql", 1),
    ] as [([String], String, Int)])
  func misnumbered(names: [String], culprit: String, expected: Int) async throws {
    try await withFolder(Dictionary(uniqueKeysWithValues: names.map { ($0, "SELECT 1") })) { folder in
      #expect(throws: MigrationError.misnumbered(culprit, expected: expected)) { try Migration.all(in: folder) }
    }
  }

  @Test("A missing folder and one without migrations are refused; other files are ignored")
  func folders() async throws {
    try await withFolder(["README.md": "x"]) { folder in
      #expect(throws: MigrationError.unreadable(folder.path)) { try Migration.all(in: folder) }
      let absent = folder.appending(path: "absent")
      #expect(throws: MigrationError.unreadable(absent.path)) { try Migration.all(in: absent) }
    }
    try await withFolder(["README.md": "x", "0001_a.sql": "SELECT 1"]) { folder in
      let found = try Migration.all(in: folder)
      #expect(found.map(\.name) == ["0001_a.sql"])
    }
  }

  @Test("A failed migration leaves no trace, earlier ones stay, and a corrected file continues from there")
  func failure() async throws {
    try await withEmptyDatabase { url, sql in
      let broken = "CREATE TABLE second (n integer); INSERT INTO first VALUES (2); SELECT 1 / 0;"
      let failing = try await migrator(["0001_first.sql": Self.first, "0002_second.sql": broken], url)
      let error = await #expect(throws: PostgresError.self) { try await failing.migrate() }
      #expect(error?.sqlState == "22012")
      #expect(try await sql.value("SELECT to_regclass('second') IS NULL"))
      #expect(try await sql.value("SELECT count(*) FROM first") == 1)
      let corrected = try await migrator(["0001_first.sql": Self.first, "0002_second.sql": Self.second], url)
      #expect(try await corrected.migrate() == ["0002_second.sql"])
    }
  }

  @Test("Eight migrators at once apply each migration once")
  func concurrent() async throws {
    try await withEmptyDatabase { url, sql in
      let names = (1...5).map { "000\($0)_step.sql" }
      let files = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { ($1, "CREATE TABLE step\($0) (n integer);") })
      let migrator = try await migrator(files, url)
      let applied = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 1...8 { group.addTask { try await migrator.migrate() } }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(applied.sorted() == names)
      #expect(try await sql.value("SELECT count(*) FROM schema_migrations") == names.count)
    }
  }

  @Test("A migrator that dies while holding the lock does not block others")
  func deadHolder() async throws {
    try await withEmptyDatabase { url, sql in
      // This migrator cannot finish by itself: its migration waits for a lock that a connection of this test holds.
      let gate = try await PostgresConnection.connect(
        configuration: PostgresConfiguration.forBusyMachine(url), logger: NewsDatabase.logger)
      try await gate.execute(script: "SELECT pg_advisory_lock(1)")
      let holder = try await migrator(["0001_first.sql": Self.first + " SELECT pg_advisory_lock(1);"], url)
      let next = try await migrator(["0001_first.sql": Self.first], url)
      let dying = Task { try await holder.migrate() }
      let holding: PostgresQuery = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND wait_event = 'advisory' AND query LIKE '%CREATE TABLE first%'
        """
      try await eventually("the first migrator is inside its migration") { try await sql.value(holding) == 1 }
      let waiting = Task { try await next.migrate() }
      let queued: PostgresQuery = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND query LIKE '%pg_try_advisory_xact_lock%' OR query = 'ROLLBACK'
        """
      try await eventually("the second migrator asks for the lock") { try await sql.value(queued) == 1 }
      _ = try await sql.query(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
          AND pid <> pg_backend_pid() AND wait_event = 'advisory' AND query LIKE '%CREATE TABLE first%'
        """)
      await #expect(throws: PostgresError.self) { try await dying.value }
      #expect(try await waiting.value == ["0001_first.sql"])
      #expect(try await sql.value("SELECT count(*) FROM first") == 1)
      await gate.close()
    }
  }

  /// Runs the body while a transaction locks the table `first`.
  private func whileFirstIsLocked<Value: Sendable>(
    _ url: String, by mode: String, _ body: (PostgresConnection) async throws -> Value
  ) async throws -> Value {
    try await PostgresConnection.with(configuration: .forBusyMachine(url), logger: NewsDatabase.logger) { reader in
      try await reader.execute(script: "BEGIN; LOCK TABLE first IN \(mode) MODE")
      return try await body(reader)
    }
  }

  @Test(
    "A migration that waits for a lock lets others through, and is applied once the lock is free",
    arguments: ["", "-- outside a transaction\n"])
  func lockRetried(start: String) async throws {
    try await withEmptyDatabase { url, sql in
      _ = try await migrator(["0001_first.sql": Self.first], url).migrate()
      let files = ["0001_first.sql": Self.first, "0002_more.sql": start + "ALTER TABLE first ADD COLUMN m integer;"]
      let migrator = try await migrator(files, url, lockTimeout: .milliseconds(100))
      try await whileFirstIsLocked(url, by: "ACCESS SHARE") { reader in
        let migrating = Task { try await migrator.migrate() }
        let waiting: PostgresQuery = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'"
        try await eventually("the migration waits") { try await sql.value(waiting) == 1 }
        // If the migration did not give up, a later read would wait behind it until the first reader has ended.
        #expect(try await sql.value("SELECT count(*) FROM first") == 1)
        try await eventually("the migration tries again") { try await sql.value(waiting) == 1 }
        try await reader.execute(script: "COMMIT")
        #expect(try await migrating.value == ["0002_more.sql"])
      }
    }
  }

  @Test("A migration that never gets its lock fails, leaves no trace, and names the statement that holds it")
  func lockGivenUp() async throws {
    try await withEmptyDatabase { url, sql in
      _ = try await migrator(["0001_first.sql": Self.first], url).migrate()
      let files = [
        "0001_first.sql": Self.first,
        "0002_more.sql": "CREATE TABLE second (n integer); ALTER TABLE first ADD COLUMN m integer;",
      ]
      let migrator = try await migrator(files, url, lockTimeout: .milliseconds(50), limit: .milliseconds(300))
      try await whileFirstIsLocked(url, by: "ACCESS SHARE") { _ in
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate() }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("0002_more.sql"))
        #expect(text.contains("LOCK TABLE first"))
      }
      #expect(try await sql.value("SELECT to_regclass('second') IS NULL"))
      #expect(try await migrator.migrate() == ["0002_more.sql"])
    }
  }

  private static let concurrently = """
    -- outside a transaction
    -- A comment;
    DROP INDEX CONCURRENTLY IF EXISTS first_by_n;
    CREATE UNIQUE INDEX CONCURRENTLY first_by_n
      ON first (n);
    ALTER TABLE first ADD COLUMN IF NOT EXISTS m integer;
    """

  @Test("A migration outside a transaction builds an index while the table is written to")
  func concurrentIndex() async throws {
    try await withEmptyDatabase { url, sql in
      _ = try await migrator(["0001_first.sql": Self.first], url).migrate()
      // A migration that does not get its lock at once would fail.
      let migrator = try await migrator(
        ["0001_first.sql": Self.first, "0002_index.sql": Self.concurrently], url, lockTimeout: .milliseconds(50),
        limit: .zero)
      let migrating = try await whileFirstIsLocked(url, by: "ROW EXCLUSIVE") { writer in
        let migrating = (0..<3).map { _ in Task { try await migrator.migrate() } }
        try await eventually("the index waits for the writer") {
          try await sql.value("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('first_by_n')") == 1
        }
        // A later writer does not wait.
        _ = try await sql.query("INSERT INTO first VALUES (2)")
        // The index waits longer than the lock timeout of other statements.
        try await Task.sleep(for: .milliseconds(200))
        try await writer.execute(script: "COMMIT")
        return migrating
      }
      var applied: [String] = []
      for task in migrating { applied += try await task.value }
      #expect(applied == ["0002_index.sql"])
      #expect(try await sql.value("SELECT indisvalid FROM pg_index WHERE indexrelid = 'first_by_n'::regclass"))
    }
  }

  @Test("A failed migration outside a transaction starts again from its beginning")
  func resumed() async throws {
    try await withEmptyDatabase { url, sql in
      _ = try await migrator(["0001_first.sql": Self.first], url).migrate()
      let migrator = try await migrator(["0001_first.sql": Self.first, "0002_index.sql": Self.concurrently], url)
      _ = try await sql.query("INSERT INTO first VALUES (1)")
      let error = await #expect(throws: PostgresError.self) { try await migrator.migrate() }
      #expect(error?.sqlState == "23505")
      #expect(try await sql.value("SELECT NOT indisvalid FROM pg_index WHERE indexrelid = 'first_by_n'::regclass"))
      #expect(try await sql.value("SELECT count(*) FROM schema_migrations") == 1)
      _ = try await sql.query("DELETE FROM first")
      #expect(try await migrator.migrate() == ["0002_index.sql"])
      #expect(try await sql.value("SELECT indisvalid FROM pg_index WHERE indexrelid = 'first_by_n'::regclass"))
      try await migrator.check()
    }
  }
}
