import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// A server that nobody uses.
@Suite struct IdleTests {
  @Test("An idle server starts a few transactions a second, and reads its schedule twice a second")
  func transactions() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        #expect(try await server.status("/readyz") == 200)
        let before = try await Self.transactions(installation)
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(5))
        // A backend reports its counts at the end of a transaction, at most once a second.
        let count = try await Self.transactions(installation) - before
        let seconds = start.duration(to: .now) / .seconds(1)
        // A loop without a wait starts thousands. A slow machine starts fewer, never more.
        #expect(Double(count) < 50 * seconds, "\(count) transactions in \(seconds) seconds")
      }
    }
  }

  private static func transactions(_ installation: Installation) async throws -> Int {
    try await installation.value(
      "SELECT (xact_commit + xact_rollback)::integer FROM pg_stat_database WHERE datname = current_database()")
  }
}
