import Foundation
public import Logging
public import PostgresClient

/// Brings the schema up to date: each migration in a transaction of its own, under an advisory lock that ends with
/// it, so that any number of processes may try at once and a dead one holds up nobody.
public struct Migrator: Sendable {
  private let migrations: [Migration]
  private let configuration: PostgresConfiguration
  private let logger: Logger

  /// Creates a migrator; no connection is made yet.
  ///
  /// - Parameters:
  ///   - migrations: All migrations, by number.
  ///   - configuration: The connection to the database. `migrate()` ignores its statement timeout, because an index on a
  ///     large table takes longer.
  ///   - logger: Receives a line for each migration applied.
  public init(
    _ migrations: [Migration] = Migration.required, configuration: PostgresConfiguration, logger: Logger
  ) {
    self.migrations = migrations
    self.configuration = configuration
    self.logger = logger
  }

  /// Applies what is pending.
  ///
  /// - Returns: The names of the files applied, none if the schema was current.
  /// - Throws: `MigrationError.changed`, `missing`; `PostgresError`. A migration that fails leaves no trace.
  public func migrate() async throws -> [String] {
    var configuration = configuration
    configuration.statementTimeout = .seconds(24 * 3600)
    return try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      var applied: [String] = []
      while let name = try await applyNext(connection) { applied.append(name) }
      return applied
    }
  }

  /// Looks whether the schema is current.
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
    try await connection.execute(script: "BEGIN")
    do {
      // The key is arbitrary and only has to be the same in all processes.
      _ = try await connection.query("SELECT pg_advisory_xact_lock(7161720914257)")
      if try await !Self.hasLedger(connection) { try await connection.execute(script: Self.ledger) }
      guard let next = try await verified(connection).first else {
        try await connection.execute(script: "COMMIT")
        return nil
      }
      try await connection.execute(script: next.sql)
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
