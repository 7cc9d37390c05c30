import Foundation
import PostgresClient
import Testing

@Suite("Executor")
struct ExecutorTests {
  @Test("a task that prefers the executor resumes on the thread that has read its answer")
  func sameThread() async throws {
    try await withPool(size: 1) { pool in
      let threads = try await withTaskExecutorPreference(PostgresExecutor.shared) {
        var threads: Set<String?> = []
        for _ in 0..<100 {
          _ = try await pool.query("SELECT 1")
          threads.insert(threadName())
        }
        return threads
      }
      #expect(threads == ["tidings.pg"])
    }
  }

  @Test("a task that does not prefer the executor does not run on its threads")
  func otherThreads() async throws {
    try await withPool(size: 1) { pool in
      for _ in 0..<100 {
        _ = try await pool.query("SELECT 1")
        #expect(threadName() != "tidings.pg")
      }
    }
  }

  @Test("a waiting executor is woken by tasks from its own and from other threads")
  func wakes() async throws {
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 1...100 {
        group.addTask(executorPreference: PostgresExecutor.shared) {
          for _ in 0..<20 { await Task.yield() }
          try? await Task.sleep(for: .microseconds(number))
          return await Task.detached { number }.value
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 5050)
  }

  @Test("the server's answers are read while tasks keep the executor busy")
  func busyTasks() async throws {
    try await withPool(size: 8) { pool in
      let answered = Shared(0)
      try await withThrowingTaskGroup { group in
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 {
          group.addTask(executorPreference: PostgresExecutor.shared) {
            while answered.withLock({ $0 }) < 100 { await Task.yield() }
          }
        }
        for number in 0..<100 {
          group.addTask(executorPreference: PostgresExecutor.shared) {
            let answer = try await pool.value("SELECT \(number)", as: Int.self)
            #expect(answer == number)
            answered.withLock { $0 += 1 }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

/// Returns the name of the current thread. Asynchronous code cannot use `Thread.current`, because it may change threads
/// at any time.
private func threadName() -> String? { Thread.current.name }
