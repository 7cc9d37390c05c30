import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Refusals, interruptions and notices of the server")
struct ServerFaultTests {
  @Test("a server without free connections is recognised, and the pool recovers once one is free")
  func tooManyClients() async throws {
    try await TestCluster.withCluster(settings: ["max_connections=3", "superuser_reserved_connections=0"]) { cluster in
      try await withPool(url: cluster.url, size: 3) { hog in
        try await withPool(url: cluster.url) { pool in
          try await hog.withConnection { _ in
            try await hog.withConnection { _ in
              try await hog.withConnection { _ in
                let error = try await failure { try await pool.query("SELECT 1") }
                #expect(error.code == .connectionFailed)
                #expect(error.message.contains("too many clients"), "\(error.message)")
              }
            }
          }
          await hog.shutdown()
          try await eventually("the server has noticed") { (try? await pool.query("SELECT 1")) != nil }
          #expect(pool.statistics.waiting == 0)
        }
      }
    }
  }

  @Test("a pool works with fewer connections than its size")
  func fewerConnections() async throws {
    try await TestCluster.withCluster(settings: ["max_connections=3", "superuser_reserved_connections=0"]) { cluster in
      try await withPool(url: cluster.url, size: 16) { pool in
        try await withThrowingTaskGroup { group in
          for number in 0..<200 {
            group.addTask {
              let value = try await pool.value("SELECT \(number)", as: Int.self)
              #expect(value == number)
            }
          }
          try await group.waitForAll()
        }
        #expect(pool.statistics.idle <= 3)
      }
    }
  }

  @Test("a transaction that was idle for too long is rolled back")
  func idleInTransaction() async throws {
    try await withPool(size: 2) { pool in
      _ = try await pool.query("CREATE TABLE a (n int)")
      let error = try await failure {
        try await pool.transaction(retries: 0) { transaction in
          _ = try await transaction.query("SET LOCAL idle_in_transaction_session_timeout = 1")
          _ = try await transaction.query("INSERT INTO a VALUES (1)")
          try await eventually("the session has gone") {
            try await pool.value(
              "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()", as: Int.self) == 1
          }
        }
      }
      // The client may or may not notice the end of the session before it sends COMMIT.
      #expect([.connectionLost, .commitOutcomeUnknown].contains(error.code))
      let count = try await pool.value("SELECT count(*) FROM a", as: Int.self)
      #expect(count == 0)
    }
  }

  @Test("the reason is reported if the server ends a session between two statements")
  func noticedEnd() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { connection in
        try await connection.execute(script: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 1")
        try await eventually("the end is noticed") { connection.hasEnded }
        let error = try await failure { try await connection.query("SELECT 1") }
        #expect(error.code == .connectionLost)
        #expect(error.sqlState == "25P03", "\(error.debugDescription)")
      }
    }
  }

  @Test(
    "the reason is reported if a session is terminated during COPY, and nothing is loaded", arguments: [true, false])
  func terminatedCopy(sends: Bool) async throws {
    try await withPool(size: 2) { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int, t text)")
      let (rows, continuation) = AsyncStream.makeStream(of: Data.self)
      let task = Task {
        try await pool.withConnection { try await $0.copyIn("COPY numbers FROM STDIN", rows: rows) }
      }
      let chunk = Data(String(repeating: "1\tone\n", count: 20_000).utf8)
      continuation.yield(chunk)
      try await eventually("COPY runs") { try await pool.countRunning("COPY numbers") == 1 }
      _ = try await pool.query(
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """)
      if sends { for _ in 0..<200 { continuation.yield(chunk) } }
      continuation.finish()
      let error = try await failure { try await task.value }
      #expect(error.code == .connectionLost)
      // If data is sent to a closed socket, the system may discard unread data.
      if !sends { #expect(error.sqlState == "57P01", "\(error.debugDescription)") }
      let count = try await pool.value("SELECT count(*) FROM numbers", as: Int.self)
      #expect(count == 0)
    }
  }

  @Test("a snapshot whose session is terminated is repeated once, on another connection")
  func terminatedSnapshot() async throws {
    try await withPool(size: 3) { pool in
      @Sendable func terminateWaiting() async throws {
        try await eventually("it waits") { try await pool.countWaitingForLock() == 1 }
        _ = try await pool.query(
          """
          SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          """)
      }
      let snapshot: @Sendable () async throws -> [PostgresRows] = {
        try await pool.snapshot(["SELECT 1", "SELECT pg_advisory_xact_lock(1)"])
      }
      let first = try await pool.withLockHeld {
        let task = Task { try await snapshot() }
        try await terminateWaiting()
        try await eventually("it waits again") { try await pool.countWaitingForLock() == 1 }
        return task
      }
      let results = try await first.value
      #expect(results.map(\.count) == [1, 1])
      try await pool.withLockHeld {
        let task = Task { try await snapshot() }
        try await terminateWaiting()
        try await terminateWaiting()
        let error = try await failure { try await task.value }
        #expect(error.code == .connectionLost)
        #expect(error.sqlState == "57P01")
      }
    }
  }

  @Test("notices are logged and do not affect answers")
  func notices() async throws {
    try await withTestDatabase { url in
      let log = RecordingLog()
      let pool = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: log.logger)
      try await pool.withConnection { connection in
        try await connection.execute(
          script: """
            CREATE FUNCTION chatty(count int) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN FOR n IN 1..count LOOP RAISE WARNING 'said %', n; END LOOP; RETURN count; END $$
            """)
        let rows = try await connection.pipeline(["SELECT 1", "SELECT chatty(2000)", "SELECT 2"])
        #expect(try rows.map { try $0[0].decode(0, as: Int.self) } == [1, 2000, 2])
      }
      await pool.shutdown()
      #expect(log.text.split(separator: "\n").count { $0.contains("said") } == 2000)
    }
  }

  @Test("fifty megabytes are transferred in both directions as text, as bytes and by COPY")
  func bigValues() async throws {
    let size = 50 << 20
    let text = String(repeating: "ü", count: size / 2)
    let bytes = Data(repeating: 0xAB, count: size)
    try await withPool(size: 1) { pool in
      let rows = try await pool.query("SELECT \(text), \(bytes), octet_length(\(text)), md5(\(bytes))")
      #expect(try rows[0].decode(0, as: String.self) == text)
      #expect(try rows[0].decode(1, as: Data.self) == bytes)
      #expect(try rows[0].decode(2, as: Int.self) == size)
      _ = try await pool.query("CREATE TABLE a (t text)")
      var writer = PostgresCopyWriter()
      writer.append(text)
      writer.endRow()
      let row = writer.take()
      let copied = try await pool.withConnection { try await $0.copyIn("COPY a FROM STDIN", rows: [row]) }
      #expect(copied == 1)
      let isEqual = try await pool.value("SELECT t = \(text) FROM a", as: Bool.self)
      #expect(isEqual)
      #expect(pool.statistics.opened == 1)
    }
  }
}
