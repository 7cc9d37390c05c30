import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
  private struct Refusal: Error {}

  private func withNumbers<Result: Sendable>(
    _ body: @Sendable (PostgresPool) async throws -> Result
  ) async throws -> Result {
    try await withPool { pool in
      _ = try await pool.query("CREATE TABLE numbers (id int PRIMARY KEY, n int NOT NULL)")
      _ = try await pool.query("INSERT INTO numbers VALUES (1, 0), (2, 0)")
      return try await body(pool)
    }
  }

  private func sum(_ pool: PostgresPool) async throws -> Int {
    try await pool.value("SELECT sum(n) FROM numbers")
  }

  @Test("a transaction is committed when its body returns")
  func commit() async throws {
    try await withNumbers { pool in
      try await pool.transaction { transaction in
        _ = try await transaction.query("UPDATE numbers SET n = 1")
        _ = try await transaction.pipeline(["UPDATE numbers SET n = n + 1", "SELECT 1"])
      }
      let value1 = try await sum(pool)
      #expect(value1 == 4)
    }
  }

  @Test("a transaction is rolled back when its body throws")
  func rollback() async throws {
    try await withNumbers { pool in
      await #expect(throws: Refusal.self) {
        try await pool.transaction { transaction in
          _ = try await transaction.query("UPDATE numbers SET n = 1")
          throw Refusal()
        }
      }
      let value2 = try await sum(pool)
      #expect(value2 == 0)
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("a transaction with an error that the body ignores is not reported as committed")
  func swallowedError() async throws {
    try await withNumbers { pool in
      let error = try await failure {
        try await pool.transaction { transaction in
          _ = try await transaction.query("UPDATE numbers SET n = 1")
          _ = try? await transaction.query("SELECT 1/0")
        }
      }
      #expect(error.code == .transactionRolledBack)
      let value3 = try await sum(pool)
      #expect(value3 == 0)
    }
  }

  @Test("the last statement and COMMIT are sent together, and end the transaction")
  func commitAfter() async throws {
    try await withNumbers { pool in
      let escaped = Shared<PostgresTransaction?>(nil)
      let affected = try await pool.transaction { transaction in
        escaped.withLock { $0 = transaction }
        let rows = try await transaction.commit(after: "UPDATE numbers SET n = 5")
        let late = try await failure { try await transaction.query("SELECT 1") }
        #expect(late.code == .transactionEnded)
        return rows.affected
      }
      #expect(affected == 2)
      let value4 = try await sum(pool)
      #expect(value4 == 10)
      let transaction = try #require(escaped.withLock { $0 })
      let late = try await failure { try await transaction.query("SELECT 1") }
      #expect(late.code == .transactionEnded)
    }
  }

  @Test("a failed last statement rolls the transaction back, even if the body ignores the error")
  func failedCommitAfter() async throws {
    try await withNumbers { pool in
      let error = try await failure {
        try await pool.transaction { transaction in
          _ = try await transaction.query("UPDATE numbers SET n = 5")
          _ = try? await transaction.commit(after: "SELECT 1/0")
        }
      }
      #expect(error.sqlState == "22012")
      let value5 = try await sum(pool)
      #expect(value5 == 0)
    }
  }

  @Test("a deferred constraint that fails at COMMIT is a definite error")
  func deferredConstraint() async throws {
    try await withNumbers { pool in
      _ = try await pool.query("UPDATE numbers SET n = id")
      _ = try await pool.query("ALTER TABLE numbers ADD CONSTRAINT one UNIQUE (n) DEFERRABLE INITIALLY DEFERRED")
      let error = try await failure {
        try await pool.transaction { _ = try await $0.query("UPDATE numbers SET n = 7") }
      }
      #expect(error.code == .server)
      #expect(error.sqlState == "23505")
      #expect(error.constraint == "one")
      let value6 = try await sum(pool)
      #expect(value6 == 3)
    }
  }

  @Test("a serialization failure runs the body again", arguments: ["40001", "40P01"])
  func retry(sqlState: String) async throws {
    try await withNumbers { pool in
      let runs = Shared(0)
      try await pool.transaction { transaction in
        _ = try await transaction.query("UPDATE numbers SET n = n + 1")
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        if run < 3 {
          _ = try await transaction.query("DO \(unsafeSQL: "$$ BEGIN RAISE SQLSTATE '\(sqlState)'; END $$")")
        }
      }
      #expect(runs.withLock { $0 } == 3)
      let value7 = try await sum(pool)
      #expect(value7 == 2)
    }
  }

  @Test("after the last retry the failure is thrown")
  func retriesEnd() async throws {
    try await withNumbers { pool in
      let runs = Shared(0)
      let error = try await failure {
        try await pool.transaction(retries: 2) { transaction in
          runs.withLock { $0 += 1 }
          _ = try await transaction.query("DO \(unsafeSQL: "$$ BEGIN RAISE SQLSTATE '40001'; END $$")")
        }
      }
      #expect(error.sqlState == "40001")
      #expect(runs.withLock { $0 } == 3)
    }
  }

  @Test("two transactions in a deadlock both succeed in the end")
  func deadlock() async throws {
    try await withNumbers { pool in
      let runs = Shared(0)
      let locked = Shared(0)
      @Sendable func update(_ first: Int, _ second: Int) async throws {
        try await pool.transaction { transaction in
          let isFirstRun = runs.withLock { runs in
            runs += 1
            return runs <= 2
          }
          _ = try await transaction.query("UPDATE numbers SET n = n + 1 WHERE id = \(first)")
          if isFirstRun {
            locked.withLock { $0 += 1 }
            try await eventually("both hold a row") { locked.withLock { $0 } == 2 }
          }
          _ = try await transaction.query("UPDATE numbers SET n = n + 1 WHERE id = \(second)")
        }
      }
      async let one: Void = update(1, 2)
      async let other: Void = update(2, 1)
      _ = try await (one, other)
      #expect(runs.withLock { $0 } >= 3)
      let value8 = try await sum(pool)
      #expect(value8 == 4)
    }
  }

  @Test("a connection that is released inside a transaction is rolled back before its next lease")
  func leftOpen() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE a (n int)")
      try await pool.withConnection { connection in
        _ = try await connection.query("BEGIN")
        _ = try await connection.query("INSERT INTO a VALUES (1)")
        #expect(connection.isInTransaction)
      }
      let count = try await pool.value("SELECT count(*) FROM a", as: Int.self)
      #expect(count == 0)
      #expect(pool.statistics.opened == 1)
    }
  }

  /// A table in which an insertion makes COMMIT slow.
  private static let slowCommit = """
    CREATE TABLE slow (n int);
    CREATE FUNCTION sleep_at_commit() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(100); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER sleep AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION sleep_at_commit();
    """

  @Test("the outcome is unknown if the session is ended during COMMIT", arguments: [true, false])
  func terminatedDuringCommit(after: Bool) async throws {
    try await withPool { pool in
      try await pool.withConnection { try await $0.execute(script: Self.slowCommit) }
      let task = Task {
        try await pool.transaction { transaction in
          if after {
            _ = try await transaction.commit(after: "INSERT INTO slow VALUES (1)")
          } else {
            _ = try await transaction.query("INSERT INTO slow VALUES (1)")
          }
        }
      }
      try await eventually("COMMIT runs") {
        try await pool.value(
          "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'",
          as: Int.self) == 1
      }
      // Cancelling the task does not cancel COMMIT.
      task.cancel()
      try await Task.sleep(for: .milliseconds(200))
      let ended = try await pool.value(
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'
        """, as: Int.self)
      #expect(ended == 1)
      let error = try await failure { try await task.value }
      #expect(error.code == .commitOutcomeUnknown)
    }
  }

  @Test("the outcome is unknown if the server is killed during COMMIT")
  func killedDuringCommit() async throws {
    try await TestCluster.withCluster { cluster in
      try await withPool(url: cluster.url) { pool in
        try await pool.withConnection { try await $0.execute(script: Self.slowCommit) }
        let task = Task {
          try await pool.transaction { _ = try await $0.commit(after: "INSERT INTO slow VALUES (1)") }
        }
        try await eventually("COMMIT runs") {
          try await pool.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'", as: Int.self) == 1
        }
        try await cluster.kill()
        let error = try await failure { try await task.value }
        #expect(error.code == .commitOutcomeUnknown)
      }
    }
  }

  @Test("a COMMIT that takes slightly longer than the statement timeout has a known outcome", arguments: [true, false])
  func commitBeyondTheLimit(after: Bool) async throws {
    try await withPool(size: 2, configure: { configuration, _ in configuration.statementTimeout = .seconds(2) }) {
      pool in
      let slightlySlow = Self.slowCommit.replacing("pg_sleep(100)", with: "pg_sleep(2.3)")
      try await pool.withConnection { try await $0.execute(script: slightlySlow) }
      var isCommitted = true
      do {
        try await pool.transaction { transaction in
          if after {
            _ = try await transaction.commit(after: "INSERT INTO slow VALUES (1)")
          } else {
            _ = try await transaction.query("INSERT INTO slow VALUES (1)")
          }
        }
      } catch let error as PostgresError where error.code == .server {
        // On a busy machine the server's own timeout may fire first.
        #expect(error.sqlState == "57014")
        isCommitted = false
      }
      let count = try await pool.value("SELECT count(*) FROM slow", as: Int.self)
      #expect(count == (isCommitted ? 1 : 0))
      #expect(pool.statistics.opened <= 2)
    }
  }
}
