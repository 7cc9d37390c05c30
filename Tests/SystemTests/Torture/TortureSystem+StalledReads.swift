import Foundation
import PostgresClient

extension TortureSystem {
  /// Suspends the sessions that are reading lists. Each keeps the snapshot that it has, so its read is very late.
  nonisolated func stallReads(for duration: Duration) async throws {
    let sessions = try? await sql.transaction { transaction in
      // The lock is granted when a writer has ended, and the next reads wait for it with their snapshots.
      _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
      try await Task.sleep(for: .milliseconds(100))
      let rows = try await transaction.query(
        """
        SELECT pid FROM pg_stat_activity
        WHERE datname = 'news' AND wait_event_type = 'Lock' AND query LIKE 'WITH page AS %'
        """)
      let sessions = try rows.map { pid_t(try $0.decode("pid", as: Int.self)) }
      for session in sessions { kill(session, SIGSTOP) }
      return sessions
    }
    defer { for session in sessions ?? [] { kill(session, SIGCONT) } }
    try await Task.sleep(for: duration)
  }
}
