import Foundation
package import Logging
package import PostgresClient

/// Applies pending migrations in order. An advisory lock, which ends with its transaction, serialises any number of
/// processes. A process that dies delays no other.
///
/// A migration has a short timeout for locks of tables, and is retried after a delay. While it waited for a long read,
/// all later reads and writes of the table would wait behind it. A statement with `CONCURRENTLY` has no such timeout,
/// because it blocks no others.
public struct Migrator: Sendable {
  /// The timeouts and delays of a migration that waits for locks.
  package struct LockPolicy: Sendable {
    /// The lock timeout, for which others may have to wait behind the migration.
    package var timeout: Duration = .seconds(2)
    /// The delay before the second attempt. Each further delay is twice as long, up to `maximumRetryDelay`.
    package var initialRetryDelay: Duration = .milliseconds(500)
    package var maximumRetryDelay: Duration = .seconds(10)
    /// The total time after which a migration without its lock fails.
    package var limit: Duration = .seconds(600)

    package init() {}
  }

  private let migrations: [Migration]
  private let configuration: PostgresConfiguration
  private let logger: Logger
  private let locks: LockPolicy

  /// Creates a migrator. No connection is made yet.
  ///
  /// - Parameters:
  ///   - migrations: All migrations, by number.
  ///   - configuration: The connection to the database. `migrate()` ignores its statement timeout, because an index on
  ///     a large table takes longer.
  ///   - locks: The timeouts and delays of a migration that waits for locks.
  ///   - logger: Receives a message for each applied migration and for each wait for a lock.
  package init(
    _ migrations: [Migration] = Migration.required, configuration: PostgresConfiguration,
    locks: LockPolicy = LockPolicy(), logger: Logger
  ) {
    self.migrations = migrations
    self.configuration = configuration
    self.locks = locks
    self.logger = logger
  }

  /// Applies the pending migrations.
  ///
  /// - Returns: The file names of the applied migrations; empty if the schema was current.
  /// - Throws: `MigrationError.changed`, `missing`, `prerelease`, `blocked`, `unsuitable`, `forbidden`;
  ///   `PostgresError`. A failed migration is rolled back, unless it runs outside a transaction.
  public func migrate() async throws -> [String] {
    var configuration = configuration
    configuration.statementTimeout = Self.statementTimeout
    return try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      var applied: [String] = []
      while let name = try await applyNext(connection) { applied.append(name) }
      return applied
    }
  }

  /// Checks whether the schema is current.
  ///
  /// - Throws: `MigrationError.pending`, `changed`, `missing`, `prerelease`; `PostgresError`.
  public func check() async throws {
    let pending = try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      guard try await Self.hasLedger(connection) else { return migrations[...] }
      return try await verified(connection)
    }
    guard pending.isEmpty else { throw MigrationError.pending(pending.map(\.name)) }
  }

  /// Applies the first pending migration.
  ///
  /// - Returns: The name of the migration; nil if there is none.
  private func applyNext(_ connection: PostgresConnection) async throws -> String? {
    let end = ContinuousClock.now + locks.limit
    var delay = locks.initialRetryDelay
    while true {
      do {
        return try await attemptNext(connection)
      } catch let blocked as LockTimeout {
        guard .now + delay < end else { throw MigrationError.blocked(blocked.name, by: blocked.query) }
        logger.notice(
          "a migration waits for a lock",
          metadata: ["name": "\(blocked.name)", "holder": "\(blocked.query ?? "unknown")"])
        try await Task.sleep(for: delay)
        delay = min(delay * 2, locks.maximumRetryDelay)
      }
    }
  }

  /// A lock that a migration did not acquire in time.
  private struct LockTimeout: Error {
    let name: String
    /// The statement of a session that holds the lock, if known.
    let query: String?
  }

  private func attemptNext(_ connection: PostgresConnection) async throws -> String? {
    try await Self.begin(connection)
    do {
      let isNew = try await !Self.hasLedger(connection)
      if isNew {
        try await Self.requireLocale(connection)
        try await Self.requireRights(connection)
        try await connection.execute(script: Self.ledger)
      }
      guard let next = try await verified(connection).first else {
        try await connection.execute(script: "COMMIT")
        return nil
      }
      if !isNew { try await Self.requireRights(connection) }
      try await run(next, connection)
      _ = try await connection.query(
        """
        INSERT INTO schema_migrations (number, name, checksum)
        VALUES (\(Int32(next.number)), \(next.name), \(next.checksum))
        """)
      try await connection.execute(script: "COMMIT")
      logger.info("migration applied", metadata: ["name": "\(next.name)"])
      return next.name
    } catch {
      try? await connection.execute(script: "ROLLBACK")
      throw error
    }
  }

  /// Begins a transaction that holds the migration lock. It polls for the lock and never waits within a statement: a
  /// `CREATE INDEX CONCURRENTLY` of the holder would wait for the snapshot of that statement.
  private static func begin(_ connection: PostgresConnection) async throws {
    while true {
      // Creating an index may exceed the usual timeout of idle transactions.
      try await connection.execute(script: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0")
      do {
        // The key is arbitrary. It only has to be the same in all processes.
        let rows = try await connection.query("SELECT pg_try_advisory_xact_lock(7161720914257) AS is_ours")
        if try rows.first?.decode("is_ours") ?? false { return }
        try await connection.execute(script: "ROLLBACK")
      } catch {
        try? await connection.execute(script: "ROLLBACK")
        throw error
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Runs the statements of a migration. They run in the transaction of the connection, or on a separate connection
  /// while that transaction holds the migration lock.
  private func run(_ migration: Migration, _ connection: PostgresConnection) async throws {
    do {
      guard let statements = migration.separateStatements else {
        try await connection.execute(script: lockTimeout)
        return try await connection.execute(script: migration.sql)
      }
      try await run(statements, besides: connection)
    } catch let error as PostgresError where error.sqlState == Self.lockNotAvailable {
      throw LockTimeout(name: migration.name, query: try? await oldestTransactionQuery())
    }
  }

  /// Runs statements outside a transaction.
  ///
  /// - Parameter connection: The connection whose transaction holds the migration lock.
  private func run(_ statements: [Migration.Statement], besides connection: PostgresConnection) async throws {
    // The portal of the last query keeps its snapshot until another statement replaces it (PostgreSQL, chapter 55.2.3).
    // Creating an index would wait for that snapshot.
    try await connection.execute(script: Self.portalRelease)
    var configuration = configuration
    configuration.statementTimeout = Self.statementTimeout
    try await PostgresConnection.with(configuration: configuration, logger: logger) { separate in
      for statement in statements {
        // The setting ends with the implicit transaction of the script, also in a session of a connection pooler.
        let isLimited = !statement.runsAlone
        try await separate.execute(script: isLimited ? "\(lockTimeout);\n\(statement.sql)" : statement.sql)
      }
    }
  }

  private var lockTimeout: String { "SET LOCAL lock_timeout = \(Int(locks.timeout / .milliseconds(1)))" }
  private static let portalRelease = "SET LOCAL lock_timeout = 0"

  private static let statementTimeout: Duration = .seconds(24 * 3600)
  private static let lockNotAvailable = "55P03"

  /// The statement of the session with the oldest transaction, which most likely holds the lock.
  private func oldestTransactionQuery() async throws -> String? {
    try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      let rows = try await connection.query(
        """
        SELECT left(query, 80) AS query FROM pg_stat_activity
        WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
          AND query NOT LIKE '%schema_migrations%' AND query <> \(Self.portalRelease)
        ORDER BY xact_start LIMIT 1
        """)
      return try rows.first?.decode("query")
    }
  }

  /// Refuses a database in which searches would fail. One in use is not refused: its data can be moved later.
  private static func requireLocale(_ connection: PostgresConnection) async throws {
    let locale = try await DatabaseLocale.read(connection)
    guard locale.problem == nil else { throw MigrationError.unsuitable(locale) }
  }

  private static func requireRights(_ connection: PostgresConnection) async throws {
    let rights = try await DatabaseRights.read(connection)
    if let problem = rights.migrationProblem { throw MigrationError.forbidden(problem) }
  }

  private static let ledger = """
    CREATE TABLE schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum bytea NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    COMMENT ON TABLE schema_migrations IS 'The migrations that were applied, with the SHA-256 digests of their files.'
    """

  private static func hasLedger(_ connection: PostgresConnection) async throws -> Bool {
    let rows = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found")
    return try rows.first?.decode("found") ?? false
  }

  /// Compares the applied migrations with the known ones.
  ///
  /// - Returns: The pending migrations.
  private func verified(_ connection: PostgresConnection) async throws -> ArraySlice<Migration> {
    let applied = try await Self.applied(connection)
    try Self.compare(applied, with: migrations)
    guard applied.count <= migrations.count else { throw MigrationError.missing(applied[migrations.count].name) }
    return migrations[applied.count...]
  }

  /// The applied migrations, by number.
  static func applied(_ connection: PostgresConnection) async throws -> [(name: String, checksum: Data)] {
    try await connection.query("SELECT name, checksum FROM schema_migrations ORDER BY number")
      .map { (try $0.decode("name"), try $0.decode("checksum")) }
  }

  /// Compares the migrations at the positions that both lists have.
  ///
  /// - Throws: `MigrationError.missing`, `changed`, `prerelease`.
  static func compare(_ applied: [(name: String, checksum: Data)], with known: [Migration]) throws {
    for (applied, known) in zip(applied, known) {
      guard applied.name == known.name else {
        throw Migration.prereleaseNames.contains(applied.name) ? MigrationError.prerelease : .missing(applied.name)
      }
      guard applied.checksum == known.checksum else { throw MigrationError.changed(applied.name) }
    }
  }
}
