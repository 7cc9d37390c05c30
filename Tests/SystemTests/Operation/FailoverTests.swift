import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// A failover from a lost primary to a synchronous standby, with active writers, readers and followers.
@Suite struct FailoverTests {
  private static let settings = ["fsync=off", "full_page_writes=off", "wal_keep_size=1GB", "max_connections=300"]

  @Test("A failover loses no acknowledged write, uses no version twice, and stops neither reads nor writes for long")
  func failover() async throws {
    try await TestCluster.withCluster(settings: Self.settings) { primary in
      let standby = try await TestCluster.reserve()
      let ports = try [await primary.url, await standby.url].map { try #require(URLComponents(string: $0)?.port) }
      try await TestDatabase.execute("CREATE DATABASE news", at: await primary.url)
      let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
      let url = "postgresql://tidings@\(hosts)/news?target_session_attrs=read-write"
      try await withResource(standby, release: { try await $0.remove() }) { standby in
        try await Installation.with(url: url) { installation in
          #expect(try await installation.run("migrate").status == 0)
          try await Self.follow(primary, with: standby, at: url)
          let key = try await installation.makeKey()
          try await installation.serve { server in
            try await Self.failOver(server, key: key, installation, from: primary, to: standby)
          }
        }
      }
    }
  }

  /// Creates a synchronous standby.
  private static func follow(_ primary: TestCluster, with standby: TestCluster, at url: String) async throws {
    try await standby.becomeStandby(of: primary)
    try await TestDatabase.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", at: url)
    try await TestDatabase.execute("SELECT pg_reload_conf()", at: url)
    let sql = PostgresPool(configuration: .forBusyMachine(url), pool: .forBusyMachine, logger: NewsDatabase.logger)
    try await eventually("the standby is synchronous") {
      try await !sql.query("SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')").isEmpty
    }
    await sql.shutdown()
  }

  private static func failOver(
    _ server: RunningServer, key: String, _ installation: Installation, from primary: TestCluster,
    to standby: TestCluster
  ) async throws {
    let seen = try await ServerUsers.with(servers: [server.client], key: key, sql: installation.sql) { users in
      try await users.wait("there is traffic") { $0.acknowledged.count > 200 && $0.reads > 50 }
      let began = ContinuousClock.now
      try await primary.kill()
      // The old primary is fenced: it cannot come back.
      try await primary.clear()
      try await Task.sleep(for: .seconds(2))
      let promoting = ContinuousClock.now
      try await standby.promote()
      let promoted = ContinuousClock.now
      let resumed = try await users.waitForWrites(100)
      #expect(resumed < .seconds(10))
      print(
        """
        failover: promotion took \(promoted - promoting), writes again \(resumed) after it, \
        \(promoted + resumed - began) after the loss
        """)
    }
    print(
      """
      failover: \(seen.acknowledged.count) writes acknowledged, \(seen.reads) reads, refused \(seen.refusals); \
      the longest refusal took \(seen.maximumRefusalDuration)
      """)
    #expect(seen.failedReads.isEmpty, "\(seen.failedReads)")
    #expect(seen.conflicts.isEmpty, "\(seen.conflicts)")
    #expect(Set(seen.refusals.keys).isSubset(of: [503]), "\(seen.refusals)")
    #expect(seen.refusalsWithoutRetryAfter == 0)
  }
}
