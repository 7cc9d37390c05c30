import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("Leaks")
struct LeakTests {
  /// Runs in a process of its own, because other tests open and close descriptors too. `TIDINGS_CANCELLED_QUERIES` sets
  /// the number of queries.
  @Test("cancelled queries leak neither file descriptors nor sessions")
  func cancelledQueries() async throws {
    await #expect(processExitsWith: .success) {
      let count = ProcessInfo.processInfo.environment["TIDINGS_CANCELLED_QUERIES"].flatMap { Int($0) } ?? 2_000
      try await withPool(size: 8) { pool in
        @Sendable func cancelSome(_ count: Int) async {
          await withTaskGroup { group in
            for worker in 0..<8 {
              group.addTask {
                for round in 0..<count / 8 {
                  let task = Task { try await pool.query("SELECT pg_sleep(\(round % 2 == 0 ? 0.001 : 100.0))") }
                  // The cancellations hit every phase: before and during the wait for a connection, and during and
                  // after the query.
                  try? await Task.sleep(for: .microseconds((worker * 131 + round * 17) % 3_000))
                  task.cancel()
                  _ = await task.result
                }
              }
            }
          }
        }
        try await eventually("all connections are made") {
          await cancelSome(200)
          return pool.statistics.opened == 8
        }
        let descriptors = try countDescriptors()
        await cancelSome(count)
        try await eventually("no more descriptors are open than before") { try countDescriptors() <= descriptors }
        try await eventually("the pool's sessions are all there are") {
          let sessions = try await pool.value(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()", as: Int.self)
          return sessions <= 8
        }
        let (running, statistics) = (try await pool.countRunning("pg_sleep"), pool.statistics)
        #expect(running == 0)
        #expect(statistics.leased == 0)
        #expect(statistics.waiting == 0)
        #expect(statistics.opened == 8, "a cancelled query costs no connection")
      }
    }
  }
}

private func countDescriptors() throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}
