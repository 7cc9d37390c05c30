import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Pipelines and scripts")
struct PipelineTests {
  @Test("a pipeline returns the rows of each statement in order")
  func order() async throws {
    try await withPool(size: 1) { pool in
      let results = try await pool.withConnection { connection in
        try await connection.pipeline((0..<50).map { "SELECT n FROM generate_series(1, \($0)) n" })
      }
      #expect(results.map(\.count) == Array(0..<50))
    }
  }

  @Test("a pipeline is one transaction: all its statements see the same time")
  func oneTransaction() async throws {
    try await withPool(size: 1) { pool in
      let results = try await pool.withConnection { connection in
        try await connection.pipeline(["SELECT now()", "SELECT 1 FROM pg_sleep(0.01)", "SELECT now()"])
      }
      #expect(try results[0][0].decode(0, as: Date.self) == results[2][0].decode(0, as: Date.self))
    }
  }

  @Test("an error in the middle undoes the whole pipeline and leaves the connection usable")
  func errorInTheMiddle() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int)")
      let error = try await failure {
        try await pool.withConnection { connection in
          try await connection.pipeline([
            "INSERT INTO numbers VALUES (1)", "SELECT 1/0", "INSERT INTO numbers VALUES (2)",
          ])
        }
      }
      #expect(error.sqlState == "22012")
      let count = try await pool.value("SELECT count(*) FROM numbers", as: Int.self)
      #expect(count == 0)
      // The third statement was never prepared, and the next query must not assume that it was.
      _ = try await pool.query("INSERT INTO numbers VALUES (2)")
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("large parameters and large results are transferred at the same time")
  func bigPipeline() async throws {
    try await withPool(size: 1) { pool in
      let text = String(repeating: "0123456789", count: 100_000)
      let results = try await pool.withConnection { connection in
        try await connection.pipeline((0..<20).map { _ in "SELECT \(text), repeat('x', 1000000)" })
      }
      for rows in results {
        #expect(try rows[0].decode(0, as: String.self).utf8.count == 1_000_000)
        #expect(try rows[0].decode(1, as: String.self).utf8.count == 1_000_000)
      }
    }
  }

  @Test("a snapshot sees one state of the database and cannot write")
  func snapshot() async throws {
    try await withPool { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int)")
      let task = try await pool.withLockHeld {
        let task = Task {
          try await pool.snapshot([
            "SELECT count(*) FROM numbers", "SELECT pg_advisory_xact_lock(1)", "SELECT count(*) FROM numbers",
          ])
        }
        try await eventually("the snapshot waits") { try await pool.countWaitingForLock() == 1 }
        _ = try await pool.query("INSERT INTO numbers VALUES (1)")
        return task
      }
      let results = try await task.value
      let counts = try [results[0][0].decode(0, as: Int.self), results[2][0].decode(0, as: Int.self)]
      #expect(counts == [0, 0])
      let error = try await failure { try await pool.snapshot(["INSERT INTO numbers VALUES (2)"]) }
      #expect(error.sqlState == "25006")
      let count = try await pool.value("SELECT count(*) FROM numbers", as: Int.self)
      #expect(count == 1)
    }
  }

  @Test("concurrent callers of one connection each receive their own answer")
  func concurrentCallers() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { connection in
        try await withThrowingTaskGroup(of: (Int, Int).self) { group in
          for number in 0..<200 {
            group.addTask { (number, try await connection.query("SELECT \(number)")[0].decode(0, as: Int.self)) }
          }
          for try await (asked, answered) in group { #expect(asked == answered) }
        }
      }
    }
  }

  @Test("a script runs completely or not at all")
  func script() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { connection in
        try await connection.execute(script: "CREATE TABLE a (n int); INSERT INTO a VALUES (1), (2); SELECT * FROM a;")
        let error = try await failure { try await connection.execute(script: "DELETE FROM a; SELECT 1/0") }
        #expect(error.sqlState == "22012")
        let rows = try await connection.query("SELECT * FROM a")
        #expect(rows.count == 2)
      }
    }
  }

  @Test("COPY in a query is an error and does not hang")
  func misplacedCopy() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE a (n int)")
      let script = try await failure {
        try await pool.withConnection { try await $0.execute(script: "COPY a FROM STDIN") }
      }
      #expect(script.code == .server)
      _ = try await failure { try await pool.query("COPY a FROM STDIN") }
      _ = try await failure { try await pool.query("COPY a TO STDOUT") }
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
    }
  }
}
