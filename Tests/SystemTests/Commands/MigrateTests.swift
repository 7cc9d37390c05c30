import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct MigrateTests {
  /// The name of the first migration.
  private static let first = Migration.required[0].name

  @Test("Migrating an empty database applies all migrations once; the status of --check reports it")
  func migrate() async throws {
    try await Installation.with(schema: false) { installation in
      let pending = try await installation.run("migrate", "--check")
      #expect(pending.status > 0)
      #expect(pending.errors.contains(Self.first))
      #expect(try await installation.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0)

      let first = try await installation.run("migrate")
      #expect(first.status == 0)
      #expect(first.output.hasPrefix("Applied \(Self.first)"))
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
      #expect(results.count { $0.output.hasPrefix("Applied \(Self.first)") } == 1)
      let files = Migration.required.count
      #expect(try await installation.value("SELECT count(*) FROM schema_migrations") == files)
    }
  }

  @Test("A folder without migrations, and a file that was changed, are refused by name")
  func wrongFiles() async throws {
    try await Installation.with { installation in
      try await withFolder([Self.first: "SELECT 1"]) { folder in
        let nowhere = folder.appending(path: "nowhere").path
        let missing = try await installation.run("migrate", changes: ["TIDINGS_MIGRATIONS": nowhere])
        #expect(missing.status > 0)
        #expect(missing.errors.contains(nowhere))
        let changed = try await installation.run("migrate", changes: ["TIDINGS_MIGRATIONS": folder.path])
        #expect(changed.status > 0)
        #expect(changed.errors.contains("\(Self.first) was changed"))
      }
    }
  }

  @Test("The executable alone, copied to another folder, migrates and serves with the contract of its version")
  func copiedExecutable() async throws {
    try await Installation.with(schema: false) { installation in
      try await withFolder([:]) { folder in
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appending(path: "tidings").path
        // A child process makes the copy. Otherwise a process that another test starts meanwhile could keep the copy
        // open for writing.
        let copied = try ChildProcess([ChildProcess.tidings, copy], executable: "/bin/cp", environment: [:])
        #expect(await copied.result().status == 0)
        func start(_ arguments: String...) throws -> ChildProcess {
          try ChildProcess(
            ["-C", folder.path, copy] + arguments, executable: "/usr/bin/env", environment: installation.environment())
        }
        #expect(try await start("migrate").result().status == 0)
        let server = try await RunningServer(start("serve"))
        let contract = try await server.send("GET", "/openapi.yaml")
        #expect(contract.body == (try Data(contentsOf: Project.root.appending(path: "openapi.yaml"))))
        #expect(try await server.status("/readyz") == 200)
        server.process.send(SIGTERM)
        #expect(await server.process.result().status == 0)
      }
    }
  }

  @Test("Migrations from a folder never stand for the schema that the executable needs")
  func otherFolder() async throws {
    try await Installation.with(schema: false) { installation in
      let required = Migration.required
      let fewer = Dictionary(uniqueKeysWithValues: required.dropLast().map { ($0.name, $0.sql) })
      let last = try #require(required.last).name
      try await withFolder(fewer) { folder in
        let changes = ["TIDINGS_MIGRATIONS": folder.path]
        let applied = try await installation.run("migrate", changes: changes)
        #expect(applied.status > 0)
        #expect(applied.output.hasPrefix("Applied \(Self.first)"))
        #expect(applied.errors.contains(last))
        for command in [["serve"], ["migrate", "--check"], ["keys", "list"], ["export"], ["epoch", "show"]] {
          let process = try ChildProcess(command, environment: installation.environment(changes))
          let result = await process.result()
          #expect(result.status > 0, "\(command)")
          #expect(result.errors.contains(last) && result.errors.contains("tidings migrate"), "\(result.errors)")
        }
      }
      #expect(try await installation.run("migrate").output == "Applied \(last).\n")
      #expect(try await installation.run("migrate", "--check").status == 0)
    }
  }

  @Test("A server does not start with a newer schema, and a running one continues")
  func newerSchema() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        _ = try await installation.sql.query(
          "INSERT INTO schema_migrations (number, name, checksum) VALUES (900, '0900_later.sql', '\\x00')")
        let start = try await installation.run("serve")
        #expect(start.status > 0)
        #expect(start.errors.contains("0900_later.sql") && start.errors.contains("newer"), "\(start.errors)")
        try await installation.endSessions()
        try await eventually("the server has connected again") { try await server.status("/v1/topics/nowhere") == 404 }
        #expect(try await server.status("/readyz") == 200)
      }
    }
  }

  @Test("A server whose database was put back to an older schema is not ready, until it is migrated")
  func olderSchema() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        #expect(try await server.status("/readyz") == 200)
        _ = try await installation.sql.query(
          "CREATE TABLE aside AS SELECT * FROM schema_migrations ORDER BY number DESC LIMIT 1")
        _ = try await installation.sql.query("DELETE FROM schema_migrations WHERE number IN (SELECT number FROM aside)")
        try await installation.endSessions()
        try await eventually("the server has checked") { try await server.status("/readyz") == 503 }
        _ = try await installation.sql.query("INSERT INTO schema_migrations SELECT * FROM aside")
        try await eventually("the server has checked again") { try await server.status("/readyz") == 200 }
      }
    }
  }
}

extension Installation {
  /// Ends all sessions in the database except the caller's.
  fileprivate func endSessions() async throws {
    _ = try await sql.query(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """)
  }
}
