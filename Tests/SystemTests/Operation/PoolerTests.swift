import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite(.enabled(if: TestPooler.isInstalled))
struct PoolerTests {
  @Test("Behind pgbouncer in transaction mode everything works, with TIDINGS_PREPARED_STATEMENTS=false")
  func transactionMode() async throws {
    try await Installation.with(schema: false) { installation in
      try await TestPooler.with(database: installation.url, sessions: 2) { pooled in
        let changes = ["DATABASE_URL": pooled, "TIDINGS_PREPARED_STATEMENTS": "false"]
        let migrated = try await installation.run("migrate", changes: changes)
        #expect(migrated.status == 0, "\(migrated.errors)")
        let imported = try await installation.run(
          "import", Project.root.appending(path: "Samples").path, changes: changes)
        #expect(imported.status == 0, "\(imported.errors)")
        let count = try await installation.value("SELECT count(*) FROM items", as: Int.self)
        #expect(count > 0)
        let key = try await installation.makeKey()
        try await installation.serve(changes: changes) { server in
          let body = #"{"date":"\#(Date.now.ISO8601Format())","text":"pooled"}"#
          let created = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
          #expect(created.status == 201, "\(created.text)")
          try await withThrowingTaskGroup { group in
            for _ in 0..<40 {
              group.addTask {
                let list = try await server.send("GET", "/v1/items?limit=1")
                #expect(list.status == 200)
                #expect(list.text.contains("pooled"))
              }
            }
            try await group.waitForAll()
          }
        }
        try await Self.expectFollowing(installation, key, changes)
        let left = try await installation.value(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
          """, as: Int.self)
        #expect(left <= 2)
      }
    }
  }

  /// Expects that a write on one server can be read on another one, and reaches waiting clients there.
  private static func expectFollowing(
    _ installation: Installation, _ key: String, _ changes: [String: String]
  ) async throws {
    try await installation.serve(changes: changes) { writer in
      try await installation.serve(changes: changes) { reader in
        @Sendable func publish(_ text: String) async throws {
          let body = #"{"date":"\#(Date.now.ISO8601Format())","text":"\#(text)"}"#
          let created = try await writer.send("POST", "/v1/editorial/items", key: key, body: body)
          #expect(created.status == 201, "\(created.text)")
        }
        try await publish("elsewhere")
        try await eventually("the other server has it") {
          try await reader.send("GET", "/v1/items?limit=1").text.contains("elsewhere")
        }
        // The other server may have read the list from the database before it was notified.
        let token = try await writer.send("GET", "/v1/state").json(FeedState.self).feed
        try await eventually("the other server knows it") {
          try await reader.send("GET", "/v1/state").json(FeedState.self).feed == token
        }
        async let waiting = reader.send("GET", "/v1/changes?wait=30&since=\(token)")
        try await eventually("it waits") {
          try await reader.send("GET", "/metrics").text.contains("tidings_waiting_requests 1\n")
        }
        try await publish("awaited")
        #expect(try await waiting.json(ChangeList.self).changes.count == 1)
      }
    }
  }
}
