import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Cancellation and deadlines")
struct CancellationTests {
  @Test("cancelling the task cancels the statement on the server and keeps the connection")
  func cancellation() async throws {
    try await withPool(size: 2) { pool in
      for _ in 0..<5 {
        let error = try await pool.cancelWhileRunning("SELECT pg_sleep(100)")
        #expect(error.code == .cancelled)
        let running = try await pool.countRunning("pg_sleep(100)")
        #expect(running == 0)
      }
      #expect(pool.statistics.opened == 2)
    }
  }

  @Test("a cancel request never cancels the next statement of the connection")
  func lateCancels() async throws {
    try await withPool(size: 1) { pool in
      for round in 0..<200 {
        let task = Task { try await pool.query("SELECT pg_sleep(0.001)") }
        try await Task.sleep(for: .microseconds(200 + round * 10))
        task.cancel()
        let next = try await pool.value("SELECT \(round)", as: Int.self)
        #expect(next == round)
        _ = await task.result
      }
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test(
    "cancel requests to a server that does not respond block no thread of the cooperative pool", .timeLimit(.minutes(5))
  )
  func standstill() async throws {
    let size = 32
    try await TestCluster.withCluster { cluster in
      try await withPool(
        url: await cluster.url, size: size, configure: { server, _ in server.statementTimeout = .seconds(2) }
      ) { pool in
        let running = (0..<size).map { _ in Task { try await pool.query("SELECT pg_sleep(60)") } }
        try await eventually("all connections are taken") { pool.statistics.leased == size }
        let start = ContinuousClock.now
        try await cluster.pause()
        try await Task.sleep(for: .seconds(3))
        for _ in 0..<100 { await Task.detached {}.value }
        // The cooperative pool replaces blocked threads at a rate of one per second.
        #expect(ContinuousClock.now - start < .seconds(18))
        try await cluster.resume()
        for task in running { _ = await task.result }
      }
    }
  }

  @Test("a statement past its deadline is cancelled on the server")
  func deadline() async throws {
    try await withTestDatabase { url in
      try await withPool(url: url, size: 1) { observer in
        try await withPool(
          url: url, size: 1, configure: { configuration, _ in configuration.statementTimeout = .seconds(8) }
        ) { pool in
          let error = try await failure { try await pool.query("SELECT pg_sleep(100)") }
          #expect(error.code == .statementTimedOut)
          let running = try await observer.countRunning("pg_sleep(100)")
          #expect(running == 0)
          let script = try await failure {
            try await pool.withConnection { try await $0.execute(script: "SELECT pg_sleep(100)") }
          }
          #expect(script.code == .statementTimedOut)
          let backstop = try await pool.value("SELECT current_setting('statement_timeout')", as: String.self)
          #expect(backstop == "9s")
          #expect(pool.statistics.opened == 1)
        }
      }
    }
  }

  @Test("cancelling inside a transaction rolls it back")
  func transaction() async throws {
    try await withPool(size: 2) { pool in
      _ = try await pool.query("CREATE TABLE a (n int)")
      let task = Task {
        try await pool.transaction { transaction in
          _ = try await transaction.query("INSERT INTO a VALUES (1)")
          _ = try await transaction.query("SELECT pg_sleep(100)")
        }
      }
      try await eventually("it runs") { try await pool.countRunning("pg_sleep(100)") == 1 }
      task.cancel()
      let error = try await failure { try await task.value }
      #expect(error.code == .cancelled)
      let open = try await pool.value(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL",
        as: Int.self)
      // The only open transaction is that of the counting query.
      #expect(open == 1)
      let count = try await pool.value("SELECT count(*) FROM a", as: Int.self)
      #expect(count == 0)
    }
  }

  @Test("a caller that waits for a connection's previous statement can be cancelled")
  func queuedCaller() async throws {
    try await withPool { pool in
      try await pool.withConnection { connection in
        let first = try await pool.withLockHeld {
          let first = Task { try await connection.query("SELECT pg_advisory_xact_lock(1)") }
          try await eventually("it waits") { try await pool.countWaitingForLock() == 1 }
          let second = Task { try await connection.query("SELECT 2") }
          try await Task.sleep(for: .milliseconds(50))
          second.cancel()
          let error = try await failure { try await second.value }
          #expect(error.code == .cancelled)
          return first
        }
        let rows = try await first.value
        #expect(rows.count == 1)
      }
    }
  }

  /// If a waiting statement blocked a thread, the statements together would block the whole cooperative pool. A
  /// heartbeat task counts on that pool; the statements end only after the count has risen while all of them ran.
  @Test("waiting for the server blocks no thread of the cooperative pool")
  func cooperativeThreads() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount * 4 + 4
    try await withPool(size: count + 1) { pool in
      let beats = Shared(0)
      let heart = Task {
        while !Task.isCancelled {
          beats.withLock { $0 += 1 }
          try? await Task.sleep(for: .milliseconds(1))
        }
      }
      let sleepers = (0..<count).map { _ in Task { try await pool.query("SELECT pg_sleep(1000)") } }
      try await eventually("all run") { try await pool.countRunning("pg_sleep(1000)") == count }
      let before = beats.withLock { $0 }
      try await eventually("the heart beats on") { beats.withLock { $0 } > before + 100 }
      let running = try await pool.countRunning("pg_sleep(1000)")
      #expect(running == count)
      for sleeper in sleepers { sleeper.cancel() }
      for sleeper in sleepers {
        let error = try await failure { try await sleeper.value }
        #expect(error.code == .cancelled)
      }
      heart.cancel()
    }
  }
}
