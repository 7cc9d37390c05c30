import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Pool")
struct PoolTests {
  @Test("a thousand tasks share eight connections", arguments: [nil, PostgresExecutor.shared])
  func thousandTasks(executor: PostgresExecutor?) async throws {
    try await withPool(size: 8, configure: { _, pool in pool.maximumWaiters = 1_000 }) { pool in
      let sum = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<1_000 {
          group.addTask(executorPreference: executor) { try await pool.value("SELECT \(number)") }
        }
        return try await group.reduce(0, +)
      }
      #expect(sum == 499_500)
      let statistics = pool.statistics
      #expect(statistics.opened <= 8)
      #expect(statistics.leased == 0)
      #expect(statistics.waiting == 0)
      #expect(statistics.idle == statistics.opened)
    }
  }

  @Test("callers that come while the only connection is being opened open no other one")
  func firstCallers() async throws {
    try await withPool(size: 1) { pool in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<20 { group.addTask { try await pool.value("SELECT \(number)") } }
        try await group.waitForAll()
      }
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("waiters receive connections in the order of their calls")
  func fairness() async throws {
    try await withPool(size: 1) { pool in
      let order = Shared<[Int]>([])
      let tasks = try await pool.withConnection { _ in
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<10 {
          tasks.append(Task { try await pool.withConnection { _ in order.withLock { $0.append(number) } } })
          try await eventually("task \(number) waits") { pool.statistics.waiting == number + 1 }
        }
        return tasks
      }
      for task in tasks { try await task.value }
      #expect(order.withLock { $0 } == Array(0..<10))
    }
  }

  @Test("only the caller that waits longer than the timeout fails")
  func acquireTimeout() async throws {
    try await withPool(size: 1, configure: { _, pool in pool.acquireTimeout = .seconds(15) }) { pool in
      try await pool.withConnection { _ in
        let waits = try await withThrowingTaskGroup(of: Duration.self) { group in
          for delay in [0, 500] {
            group.addTask {
              try await Task.sleep(for: .milliseconds(delay))
              let start = ContinuousClock.now
              let error = try await failure { try await pool.query("SELECT 1") }
              #expect(error.code == .acquireTimedOut)
              return ContinuousClock.now - start
            }
          }
          return try await group.reduce(into: [Duration]()) { $0.append($1) }
        }
        // The timeout of one waiter must not end another waiter early.
        #expect(waits.count == 2 && waits.allSatisfy { $0 >= .seconds(15) }, "\(waits)")
        #expect(pool.statistics.waiting == 0)
      }
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
    }
  }

  @Test("a caller beyond the maximum number of waiters fails at once")
  func tooManyWaiters() async throws {
    try await withPool(size: 1, configure: { _, pool in pool.maximumWaiters = 2 }) { pool in
      let tasks = try await pool.withConnection { _ in
        let tasks = (0..<2).map { _ in Task { try await pool.value("SELECT 1", as: Int.self) } }
        try await eventually("two wait") { pool.statistics.waiting == 2 }
        let error = try await failure { try await pool.query("SELECT 1") }
        #expect(error.code == .tooManyWaiters)
        return tasks
      }
      for task in tasks {
        let one = try await task.value
        #expect(one == 1)
      }
    }
  }

  @Test("a cancelled waiter is removed from the queue")
  func cancelledWaiter() async throws {
    try await withPool(size: 1) { pool in
      try await pool.withConnection { _ in
        let task = Task { try await pool.query("SELECT 1") }
        try await eventually("it waits") { pool.statistics.waiting == 1 }
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error.code == .cancelled)
        #expect(pool.statistics.waiting == 0)
      }
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
    }
  }

  @Test("a task that is cancelled already does not send a statement")
  func cancelledBefore() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE a (n int)")
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await pool.query("INSERT INTO a VALUES (1)")
      }
      task.cancel()
      let error1 = try await failure { try await task.value }
      #expect(error1.code == .cancelled)
      let count = try await pool.value("SELECT count(*) FROM a", as: Int.self)
      #expect(count == 0)
    }
  }

  @Test("onConnect runs for each new connection before its first lease")
  func onConnect() async throws {
    try await withTestDatabase { url in
      let connected = Shared(0)
      let pool = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: quiet) {
        connection in
        connected.withLock { $0 += 1 }
        try await connection.execute(script: "SET application_name = 'prepared'")
      }
      let name = try await pool.value("SELECT current_setting('application_name')", as: String.self)
      #expect(name == "prepared")
      #expect(connected.withLock { $0 } == 1)
      await pool.shutdown()
    }
  }

  @Test("a connection whose onConnect throws is not used, and the caller receives the error")
  func failedOnConnect() async throws {
    try await withTestDatabase { url in
      let pool = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: quiet) {
        connection in
        _ = try await connection.query("SELECT 1/0")
      }
      let error = try await failure { try await pool.query("SELECT 1") }
      #expect(error.sqlState == "22012")
      #expect(pool.statistics.opened == 0)
      await pool.shutdown()
    }
  }

  @Test("a shutdown waits for running statements and rejects new ones")
  func shutdown() async throws {
    try await withTestDatabase { url in
      try await withPool(url: url) { other in
        try await withPool(url: url) { pool in
          let (running, ending) = try await other.withLockHeld {
            let running = Task { try await pool.query("SELECT pg_advisory_xact_lock(1)") }
            try await eventually("it runs") { try await other.countWaitingForLock() == 1 }
            let ending = Task { await pool.shutdown() }
            try await eventually("nothing new is taken") {
              (try? await pool.query("SELECT 1")) == nil
            }
            return (running, ending)
          }
          let rows = try await running.value
          #expect(rows.count == 1)
          await ending.value
          let error = try await failure { try await pool.query("SELECT 1") }
          #expect(error.code == .shutDown)
          #expect(pool.statistics.idle == 0)
          #expect(pool.statistics.leased == 0)
        }
      }
    }
  }

  @Test("an error of the body is thrown unchanged, and the connection is released")
  func errorsPassThrough() async throws {
    struct Own: Error {}
    try await withPool(size: 1) { pool in
      await #expect(throws: Own.self) { try await pool.withConnection { _ in throw Own() } }
      #expect(pool.statistics.leased == 0)
    }
  }
}
