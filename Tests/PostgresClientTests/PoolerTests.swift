import PostgresClient
import TestSupport
import Testing

@Suite("Behind pgbouncer in transaction mode", .enabled(if: TestPooler.isInstalled))
struct PoolerTests {
  /// Runs the body with a pool that has far more connections than there are sessions, so that each transaction may get
  /// another session.
  private func withPooled(_ body: @Sendable (PostgresPool) async throws -> Void) async throws {
    try await withTestDatabase { url in
      try await TestPooler.with(database: url, sessions: 2) { pooled in
        try await withPool(
          url: pooled, size: 16, configure: { configuration, _ in configuration.preparesStatements = false }, body)
      }
    }
  }

  @Test("queries, snapshots and transactions of many connections share two sessions")
  func sharing() async throws {
    try await withPooled { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int8)")
      try await withThrowingTaskGroup { group in
        for number in 0..<400 {
          group.addTask {
            let value = try await pool.value("SELECT \(number)", as: Int.self)
            #expect(value == number)
            let snapshot = try await pool.snapshot(["SELECT \(number)", "SELECT pg_backend_pid(), \("text")"])
            #expect(try snapshot[0][0].decode(0, as: Int.self) == number)
            try await pool.transaction { transaction in
              _ = try await transaction.query("INSERT INTO numbers VALUES (\(number))")
              _ = try await transaction.commit(after: "SELECT \(number)")
            }
          }
        }
        try await group.waitForAll()
      }
      let sum = try await pool.value("SELECT sum(n)::int8 FROM numbers", as: Int.self)
      #expect(sum == 79_800)
      let sessions = try await pool.value(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()", as: Int.self)
      #expect(sessions <= 2)
      #expect(pool.statistics.opened > 2)
    }
  }

  @Test("COPY, errors and cancellation work, and do not affect the next client of a session")
  func interruptions() async throws {
    try await withPooled { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int8)")
      let copied = try await pool.transaction {
        try await $0.copyIn("COPY numbers FROM STDIN", rows: [Array("1\n2\n".utf8)])
      }
      #expect(copied == 2)
      let error = try await failure { try await pool.query("SELECT 1/0") }
      #expect(error.sqlState == "22012")
      for _ in 0..<5 {
        let error = try await pool.cancelWhileRunning("SELECT pg_sleep(100)")
        #expect(error.code == .cancelled)
      }
      let count = try await pool.value("SELECT count(*) FROM numbers", as: Int.self)
      #expect(count == 2)
      let settings = try await pool.value("SELECT current_setting('statement_timeout')", as: String.self)
      #expect(settings == "0")
      let limit = try await pool.value("SELECT current_setting('idle_in_transaction_session_timeout')", as: String.self)
      #expect(limit == "0")
    }
  }
}
