import PostgresClient

/// The reason for which a database that answers accepts no writes.
public enum WriteObstacle: String, Sendable, CaseIterable {
  /// The disk of the database is full.
  case diskFull = "database-full"
  /// The disk of the database fails.
  case diskFailed = "database-failed"
  /// The disk or the server is read-only, or the sessions of the role are.
  case readOnly = "database-read-only"
}

extension WriteObstacle {
  /// - Returns: nil for any other error.
  init?(_ error: PostgresError) {
    switch error.sqlState {
    // disk_full, also as the last message of a server that ends because it cannot write its log; io_error;
    // read_only_sql_transaction (PostgreSQL, appendix A).
    case "53100": self = .diskFull
    case "58030": self = .diskFailed
    case "25006": self = .readOnly
    default:
      guard error.isAboutReadOnlyFile else { return nil }
      self = .readOnly
    }
  }
}

extension PostgresConnection {
  /// Writes a temporary table of 200 KB and drops it again. Its file is in the tablespace of the database, and its
  /// entries in the catalogue are written to the log of the server.
  ///
  /// - Throws: `PostgresError`.
  nonisolated func probeWrites() async throws {
    try await execute(
      script: """
        BEGIN;
        SET LOCAL temp_tablespaces = '';
        CREATE TEMPORARY TABLE tidings_write_probe ON COMMIT DROP AS
          SELECT repeat('x', 1000) AS text FROM generate_series(1, 200);
        ROLLBACK
        """)
  }
}
