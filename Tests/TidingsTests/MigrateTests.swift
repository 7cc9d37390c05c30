import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct MigrateTests {
  @Test("Migrating brings an empty database up to date, once; a check tells by its status")
  func migrate() async throws {
    try await Installation.with(schema: false) { installation in
      let pending = try await installation.run("migrate", "--check")
      #expect(pending.status > 0)
      #expect(pending.errors.contains("0001_items_and_log.sql"))
      #expect(try await installation.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0)

      let first = try await installation.run("migrate")
      #expect(first.status == 0)
      #expect(first.output.hasPrefix("Applied 0001_items_and_log.sql"))
      let current = try await installation.run("migrate", "--check")
      #expect(current.status == 0)
      #expect(current.output == "")
      let second = try await installation.run("migrate")
      #expect(second.status == 0)
      #expect(second.output == "The schema is current.\n")
    }
  }

  @Test("Two at once both succeed, and one of them has applied the migrations")
  func twoAtOnce() async throws {
    try await Installation.with(schema: false) { installation in
      async let one = installation.run("migrate")
      async let two = installation.run("migrate")
      let results = try await [one, two]
      #expect(results.map(\.status) == [0, 0])
      #expect(results.count { $0.output.hasPrefix("Applied 0001_items_and_log.sql") } == 1)
      let files = try NewsDatabase.migrations.get().count
      #expect(try await installation.value("SELECT count(*) FROM schema_migrations") == files)
    }
  }

  @Test("A folder without migrations, and a file that was changed, are refused by name")
  func wrongFiles() async throws {
    try await Installation.with { installation in
      try await withFolder(["0001_items_and_log.sql": "SELECT 1"]) { folder in
        let nowhere = folder.appending(path: "nowhere").path
        let missing = try await installation.run("migrate", changes: ["TIDINGS_MIGRATIONS": nowhere])
        #expect(missing.status > 0)
        #expect(missing.errors.contains(nowhere))
        let changed = try await installation.run("migrate", changes: ["TIDINGS_MIGRATIONS": folder.path])
        #expect(changed.status > 0)
        #expect(changed.errors.contains("0001_items_and_log.sql was changed"))
      }
    }
  }
}
