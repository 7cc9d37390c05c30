import Foundation
import PostgresClient
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
        let left = try await installation.value(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()
          """, as: Int.self)
        #expect(left <= 2)
      }
    }
  }
}
