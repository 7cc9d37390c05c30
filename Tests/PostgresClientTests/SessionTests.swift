import PostgresClient
import TestKit
import TestSupport
import Testing

/// The session settings sent at the start, so that a session does not outlive the process that it serves.
@Suite struct SessionTests {
  /// Returns the current values of settings, by name.
  private static func settings(_ names: [String], of pool: PostgresPool) async throws -> [String: String] {
    let rows = try await pool.query("SELECT n, current_setting(n) FROM unnest(\(names)) AS n")
    let settings = try rows.map { (try $0.decode(0, as: String.self), try $0.decode(1, as: String.self)) }
    return Dictionary(uniqueKeysWithValues: settings)
  }

  @Test("a session has timeouts for idle transactions and for clients that have vanished")
  func defaults() async throws {
    let expected = [
      "statement_timeout": "11s", "idle_in_transaction_session_timeout": "1min", "tcp_keepalives_idle": "30",
      "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3", "tcp_user_timeout": "60000",
    ]
    try await withTestDatabase { url in
      let pool = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: quiet)
      let found = try? await Self.settings(Array(expected.keys), of: pool)
      await pool.shutdown()
      #expect(found == expected)
    }
  }

  @Test("the other settings apply with and without a timeout for statements", arguments: [Duration.zero, .seconds(5)])
  func withoutLimits(idle: Duration) async throws {
    let expected = [
      "statement_timeout": "0", "idle_in_transaction_session_timeout": idle == .zero ? "0" : "5s",
      "tcp_keepalives_count": "3",
    ]
    try await withPool(configure: { configuration, _ in
      configuration.statementTimeout = .zero
      configuration.idleTransactionTimeout = idle
    }) { pool in
      let found = try await Self.settings(Array(expected.keys), of: pool)
      #expect(found == expected)
    }
  }

  @Test("PostgreSQL ends a transaction that is idle for too long, with its locks, and the pool recovers")
  func idleTransaction() async throws {
    let limit: @Sendable (inout PostgresConfiguration, inout PostgresPoolConfiguration) -> Void = { configuration, _ in
      configuration.idleTransactionTimeout = .milliseconds(200)
    }
    try await withTestDatabase { url in
      try await withPool(url: url) { other in
        _ = try await other.query("CREATE TABLE numbers (n int8)")
        try await withPool(url: url, configure: limit) { pool in
          let error = try await failure {
            try await pool.transaction(retries: 0) { transaction in
              _ = try await transaction.query("LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE")
              // This statement waits for the lock until the session has ended.
              _ = try await other.query("INSERT INTO numbers VALUES (1)")
              _ = try await transaction.query("INSERT INTO numbers VALUES (2)")
            }
          }
          #expect(error.code == .connectionLost || error.sqlState == "25P03", "\(error.debugDescription)")
          let sum = try await pool.value("SELECT sum(n)::int8 FROM numbers", as: Int.self)
          #expect(sum == 1)
        }
      }
    }
  }
}
