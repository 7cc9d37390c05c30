import Foundation
public import Logging
public import PostgresClient

/// Brings the schema up to date, one migration after the other, under an advisory lock that ends with the transaction that
/// holds it: any number of processes may run at once, and one that dies delays nobody.
///
/// A migration gives up a lock of a table that it does not get within a short time, and tries again later: while it waits
/// for a long read, all later reads and writes of the table would wait behind it. A statement with `CONCURRENTLY` waits for
/// as long as it takes, because nobody waits behind it.
public struct Migrator: Sendable {
  /// How a migration waits for locks.
  package struct LockPolicy: Sendable {
    /// The longest that others may have to wait behind it.
    package var timeout: Duration = .seconds(2)
    /// The pause before the second attempt. Each further one is twice as long, up to `longestPause`.
    package var pause: Duration = .milliseconds(500)
    package var longestPause: Duration = .seconds(10)
    /// After so long without a lock the migration fails.
    package var limit: Duration = .seconds(600)

    package init() {}
  }

  private let migrations: [Migration]
  private let configuration: PostgresConfiguration
  private let logger: Logger
  private let locks: LockPolicy

  /// Creates a migrator; no connection is made yet.
  ///
  /// - Parameters:
  ///   - migrations: All migrations, by number.
  ///   - configuration: The connection to the database. `migrate()` ignores its statement timeout, because an index on a
  ///     large table takes longer.
  ///   - logger: Receives a line for each migration applied, and for each lock that is waited for.
  public init(
    _ migrations: [Migration] = Migration.required, configuration: PostgresConfiguration, logger: Logger
  ) {
    self.init(migrations, configuration: configuration, locks: LockPolicy(), logger: logger)
  }

  package init(
    _ migrations: [Migration], configuration: PostgresConfiguration, locks: LockPolicy, logger: Logger
  ) {
    self.migrations = migrations
    self.configuration = configuration
    self.locks = locks
    self.logger = logger
  }

  /// Applies what is pending.
  ///
  /// - Returns: The names of the files applied, none if the schema was current.
  /// - Throws: `MigrationError.changed`, `missing`, `blocked`; `PostgresError`. A migration that fails leaves no trace,
  ///   unless it runs outside a transaction.
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
  /// - Throws: `MigrationError.pending`, `changed`, `missing`; `PostgresError`.
  public func check() async throws {
    let pending = try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      guard try await Self.hasLedger(connection) else { return migrations[...] }
      return try await verified(connection)
    }
    guard pending.isEmpty else { throw MigrationError.pending(pending.map(\.name)) }
  }

  /// Applies the first pending migration; nil if there is none.
  private func applyNext(_ connection: PostgresConnection) async throws -> String? {
    let end = ContinuousClock.now + locks.limit
    var pause = locks.pause
    while true {
      do {
        return try await attemptNext(connection)
      } catch let blocked as LockTimeout {
        guard .now + pause < end else { throw MigrationError.blocked(blocked.name, by: blocked.query) }
        logger.notice(
          "a migration waits for a lock",
          metadata: ["name": "\(blocked.name)", "holder": "\(blocked.query ?? "unknown")"])
        try await Task.sleep(for: pause)
        pause = min(pause * 2, locks.longestPause)
      }
    }
  }

  /// A lock that a migration did not get in time.
  private struct LockTimeout: Error {
    let name: String
    /// The statement of a session that holds it, as far as known.
    let query: String?
  }

  private func attemptNext(_ connection: PostgresConnection) async throws -> String? {
    try await Self.begin(connection)
    do {
      if try await !Self.hasLedger(connection) { try await connection.execute(script: Self.ledger) }
      guard let next = try await verified(connection).first else {
        try await connection.execute(script: "COMMIT")
        return nil
      }
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

  /// Begins a transaction that has the lock of migrators. It asks for the lock again and again and never waits in a
  /// statement, whose snapshot a `CREATE INDEX CONCURRENTLY` of the holder would wait for.
  private static func begin(_ connection: PostgresConnection) async throws {
    while true {
      // An index may take longer than an idle transaction usually may.
      try await connection.execute(script: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0")
      do {
        // The key is arbitrary and only has to be the same in all processes.
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

  /// Runs the statements of a migration: in the transaction of the connection, or on a connection of their own while that
  /// transaction holds the lock of migrators.
  private func run(_ migration: Migration, _ connection: PostgresConnection) async throws {
    do {
      guard let statements = migration.separateStatements else {
        try await connection.execute(script: lockTimeout)
        return try await connection.execute(script: migration.sql)
      }
      try await run(statements, besides: connection)
    } catch let error as PostgresError where error.sqlState == Self.lockNotAvailable {
      throw LockTimeout(name: migration.name, query: try? await longestQuery())
    }
  }

  /// Runs statements outside a transaction.
  ///
  /// - Parameter connection: The one whose transaction holds the lock of migrators.
  private func run(_ statements: [Migration.Statement], besides connection: PostgresConnection) async throws {
    // The portal of the last query keeps its snapshot, which an index would wait for, until another statement takes its
    // place (PostgreSQL, chapter 55.2.3).
    try await connection.execute(script: Self.portalRelease)
    var configuration = configuration
    configuration.statementTimeout = Self.statementTimeout
    try await PostgresConnection.with(configuration: configuration, logger: logger) { separate in
      for statement in statements {
        // The setting ends with the implicit transaction of the script, also in a session of a pooler.
        let isLimited = !statement.isConcurrent
        try await separate.execute(script: isLimited ? "\(lockTimeout);\n\(statement.sql)" : statement.sql)
      }
    }
  }

  private var lockTimeout: String { "SET LOCAL lock_timeout = \(Int(locks.timeout / .milliseconds(1)))" }
  private static let portalRelease = "SET LOCAL lock_timeout = 0"

  private static let statementTimeout: Duration = .seconds(24 * 3600)
  private static let lockNotAvailable = "55P03"

  /// The statement of the session whose transaction has lasted longest, which most likely holds the lock.
  private func longestQuery() async throws -> String? {
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

  private static let ledger = """
    CREATE TABLE schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum bytea NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
    """

  private static func hasLedger(_ connection: PostgresConnection) async throws -> Bool {
    let rows = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found")
    return try rows.first?.decode("found") ?? false
  }

  /// Compares the applied migrations with the known ones.
  ///
  /// - Returns: The migrations still to be applied.
  private func verified(_ connection: PostgresConnection) async throws -> ArraySlice<Migration> {
    let applied = try await Self.applied(connection)
    try Self.compare(applied, with: migrations)
    guard applied.count <= migrations.count else { throw MigrationError.missing(applied[migrations.count].name) }
    return migrations[applied.count...]
  }

  /// The migrations that the database has, by number.
  static func applied(_ connection: PostgresConnection) async throws -> [(name: String, checksum: Data)] {
    try await connection.query("SELECT name, checksum FROM schema_migrations ORDER BY number")
      .map { (try $0.decode("name"), try $0.decode("checksum")) }
  }

  /// Compares as many migrations as both lists have.
  ///
  /// - Throws: `MigrationError.missing`, `changed`.
  static func compare(_ applied: [(name: String, checksum: Data)], with known: [Migration]) throws {
    for (applied, known) in zip(applied, known) {
      guard applied.name == known.name else { throw MigrationError.missing(applied.name) }
      guard applied.checksum == known.checksum else { throw MigrationError.changed(applied.name) }
    }
  }
}
