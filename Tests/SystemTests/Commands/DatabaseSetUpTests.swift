import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Databases and roles that are set up wrongly, for `migrate`, `doctor` and the start of the server.
@Suite struct DatabaseSetUpTests {
  // MARK: Locale

  /// Runs the body with a new empty database.
  private static func withDatabase(
    _ options: String, _ body: @Sendable (_ installation: Installation, _ name: String) async throws -> Void
  ) async throws {
    let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
    let server = try TestCluster.sharedURL
    try await TestDatabase.execute("CREATE DATABASE \(name) TEMPLATE template0 \(options)", at: server)
    var components = try #require(URLComponents(string: server))
    components.path = "/\(name)"
    let outcome: Result<Void, any Error>
    do {
      try await Installation.with(url: try #require(components.string)) { try await body($0, name) }
      outcome = .success(())
    } catch { outcome = .failure(error) }
    try await TestDatabase.execute("DROP DATABASE \(name) WITH (FORCE)", at: server)
    try outcome.get()
  }

  @Test(
    "migrate refuses an empty database in which searches would fail, with the command that creates it rightly",
    arguments: [
      "ENCODING 'UTF8' LOCALE 'C'", "ENCODING 'UTF8' LOCALE 'POSIX'",
      "ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C'",
      // The text search ignores the locale of ICU.
      "ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'de' LOCALE 'C'", "ENCODING 'LATIN1' LOCALE 'C'",
      "ENCODING 'SQL_ASCII' LOCALE 'C'",
    ])
  func unsuitable(options: String) async throws {
    try await Self.withDatabase(options) { installation, name in
      let result = try await installation.run("migrate")
      #expect(result.status == 1)
      #expect(
        result.errors.contains(
          "dropdb \(name) && createdb -O tidings -T template0 -E UTF8 --locale=C.UTF-8 \(name)\n"),
        "\(result.errors)")
      #expect(try await installation.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0)
      let (findings, _) = try await DoctorTests.examine(installation)
      #expect(findings["database"]?.status == "problem", "\(findings)")
    }
  }

  @Test(
    "Databases in which searches work are migrated, whatever the name of their locale",
    arguments: [
      "LOCALE 'C.UTF-8'", "LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'",
      "LOCALE_PROVIDER icu ICU_LOCALE 'de' LOCALE 'C.UTF-8'",
    ])
  func suitable(options: String) async throws {
    try await Self.withDatabase("ENCODING 'UTF8' \(options)") { installation, _ in
      let result = try await installation.run("migrate")
      #expect(result.status == 0, "\(result.errors)")
      let (findings, _) = try await DoctorTests.examine(installation)
      #expect(findings["database"]?.status == "ok", "\(findings)")
    }
  }

  @Test("With the locale C in a database in use, the server warns and serves, doctor fails, and migrate succeeds")
  func localeInUse() async throws {
    try await Installation.with { installation in
      // As if it had been created so. New sessions take the locale from the catalogue.
      _ = try await installation.sql.query("UPDATE pg_database SET datctype = 'C' WHERE datname = current_database()")
      let (findings, _) = try await DoctorTests.examine(installation)
      #expect(findings["database"]?.status == "problem")
      let message = findings["database"]?.message ?? ""
      #expect(message.contains("has the locale C") && message.contains("--locale=C.UTF-8"), "\(message)")
      #expect(try await installation.run("migrate").status == 0)
      try await installation.serve { server in
        let status = try await server.status("/v1/items")
        #expect(status == 200)
        server.process.send(SIGTERM)
        let log = await server.process.result().errors
        let line = log.split(separator: "\n").compactMap { RunningServer.LogLine(String($0)) }
          .first { $0.message == "searches do not find all words" }
        #expect(line?.metadata["reason"]?.contains("has the locale C") == true, "\(log)")
      }
    }
  }

  // MARK: Rights

  /// Runs the body with a new role, whose name needs quotes in SQL, and the settings to connect as it.
  private static func withRole(
    _ installation: Installation,
    _ body: @Sendable (_ role: String, _ changes: [String: String]) async throws -> Void
  ) async throws {
    let name = "test-\(UUID().uuidString.lowercased())"
    let role = "\"\(name)\""
    try await TestDatabase.execute("CREATE ROLE \(role) LOGIN", at: installation.url)
    var components = try #require(URLComponents(string: installation.url))
    components.user = name
    let changes = ["DATABASE_URL": try #require(components.string)]
    let outcome: Result<Void, any Error>
    do {
      try await body(role, changes)
      outcome = .success(())
    } catch { outcome = .failure(error) }
    try await TestDatabase.execute("DROP OWNED BY \(role); DROP ROLE \(role)", at: installation.url)
    try outcome.get()
  }

  private static let granted = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "

  @Test("Rights that the role lacks are named by doctor and at the start, with the statement that grants them")
  func missingRights() async throws {
    try await Installation.with { installation in
      try await Self.withRole(installation) { role, changes in
        for (preparation, lack, repair) in [
          (
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(role)", "INSERT, UPDATE, DELETE on ",
            Self.granted + role
          ),
          (
            "\(Self.granted)\(role); REVOKE DELETE ON media FROM \(role)", "lacks DELETE on media.",
            Self.granted + role
          ),
          (
            "\(Self.granted)\(role); REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC", "lacks EXECUTE on ",
            "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO \(role)"
          ),
          (
            "REVOKE USAGE ON SCHEMA public FROM PUBLIC", "may not use the schema public",
            "GRANT USAGE ON SCHEMA public TO \(role)"
          ),
        ] {
          try await TestDatabase.execute(preparation, at: installation.url)
          let (findings, _) = try await DoctorTests.examine(installation, changes)
          let message = findings["rights"]?.message ?? ""
          #expect(findings["rights"]?.status == "problem", "\(findings)")
          #expect(message.contains(lack) && message.hasSuffix(repair), "\(message)")
          let refused = try await installation.run("serve", changes: changes)
          #expect(refused.status == 1)
          // Without the schema, the tables cannot be seen either.
          if !lack.hasPrefix("may not use") {
            #expect(refused.errors.contains(message), "\(refused.errors)")
          }
          try await TestDatabase.execute(repair, at: installation.url)
          let (repaired, _) = try await DoctorTests.examine(installation, changes)
          #expect(repaired["rights"]?.status == "ok", "\(repaired)")
        }
        let key = try await installation.makeKey()
        try await installation.serve(changes: changes) { server in
          let created = try await server.send("POST", "/v1/editorial/items", key: key, body: #"{"text": "x"}"#)
          #expect(created.status == 201, "\(created.text)")
        }
      }
    }
  }

  @Test("Tables of others in the same schema are no concern of the server's role")
  func foreignTables() async throws {
    try await Installation.with { installation in
      try await Self.withRole(installation) { role, changes in
        try await TestDatabase.execute("\(Self.granted)\(role); CREATE TABLE other (id int)", at: installation.url)
        let (findings, _) = try await DoctorTests.examine(installation, changes)
        #expect(findings["rights"]?.status == "ok", "\(findings)")
      }
    }
  }

  @Test("A role that cannot create tables is named by doctor and migrate, with the statement that allows it")
  func creation() async throws {
    try await Installation.with(schema: false) { installation in
      try await Self.withRole(installation) { role, changes in
        let repair = "GRANT CREATE ON SCHEMA public TO \(role)"
        let refused = try await installation.run("migrate", changes: changes)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("may not create tables"), "\(refused.errors)")
        #expect(refused.errors.contains(repair), "\(refused.errors)")
        let (findings, _) = try await DoctorTests.examine(installation, changes)
        #expect(findings["rights"]?.status == "problem")
        #expect(findings["rights"]?.message.hasSuffix(repair) == true, "\(findings)")
        try await TestDatabase.execute(repair, at: installation.url)
        let (allowed, _) = try await DoctorTests.examine(installation, changes)
        #expect(allowed["rights"]?.status == "ok")
        #expect(try await installation.run("migrate", changes: changes).status == 0)
      }
    }
  }

  @Test("A role that cannot change the tables of another one is told so before a migration fails")
  func otherOwner() async throws {
    try await Installation.with { installation in
      let last = Int32(Migration.required.count)
      _ = try await installation.sql.query("DELETE FROM schema_migrations WHERE number = \(last)")
      try await Self.withRole(installation) { role, changes in
        try await TestDatabase.execute(
          "\(Self.granted)\(role); GRANT CREATE ON SCHEMA public TO \(role)", at: installation.url)
        let refused = try await installation.run("migrate", changes: changes)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("cannot change the tables of tidings"), "\(refused.errors)")
      }
    }
  }

  @Test("A read-only database is named by doctor, migrate and the start, with the statement that changes it")
  func readOnly() async throws {
    try await Installation.with(schema: false) { installation in
      let name: String = try await installation.value("SELECT current_database()::text")
      let setting = "default_transaction_read_only"
      let repair = "ALTER DATABASE \(name) RESET \(setting)"
      try await TestDatabase.execute("ALTER DATABASE \(name) SET \(setting) = on", at: installation.url)
      let refused = try await installation.run("migrate")
      #expect(refused.status == 1)
      #expect(refused.errors.contains(repair), "\(refused.errors)")
      try await TestDatabase.execute("BEGIN READ WRITE; \(repair); COMMIT", at: installation.url)
      #expect(try await installation.run("migrate").status == 0)

      try await Self.withRole(installation) { role, changes in
        try await TestDatabase.execute(
          "\(Self.granted)\(role); ALTER ROLE \(role) SET \(setting) = on", at: installation.url)
        let (findings, _) = try await DoctorTests.examine(installation, changes)
        #expect(findings["rights"]?.status == "problem")
        #expect(findings["rights"]?.message.contains("ALTER ROLE \(role) RESET \(setting)") == true, "\(findings)")
        let server = try await installation.run("serve", changes: changes)
        #expect(server.status == 1)
        #expect(server.errors.contains("ALTER ROLE \(role) RESET \(setting)"), "\(server.errors)")
      }
    }
  }

  // MARK: Poolers

  @Test("Behind a pooler, limits that the role lacks are a warning with the statements that set them")
  func limits() async throws {
    try await Installation.with { installation in
      let changes = ["TIDINGS_PREPARED_STATEMENTS": "false"]
      let name: String = try await installation.value("SELECT current_database()::text")
      let (lacking, _) = try await DoctorTests.examine(installation, changes)
      #expect(lacking["limits"]?.status == "warning")
      for repair in [
        "ALTER ROLE tidings SET statement_timeout = '11s'",
        "ALTER ROLE tidings SET idle_in_transaction_session_timeout = '60s'",
      ] {
        #expect(lacking["limits"]?.message.contains(repair) == true, "\(lacking)")
      }
      // All tests share the role.
      try await TestDatabase.execute(
        "ALTER DATABASE \(name) SET statement_timeout = '11s'; "
          + "ALTER DATABASE \(name) SET idle_in_transaction_session_timeout = '2h'", at: installation.url)
      let (long, _) = try await DoctorTests.examine(installation, changes)
      #expect(long["limits"]?.message.contains("idle_in_transaction_session_timeout") == true, "\(long)")
      #expect(long["limits"]?.message.contains("statement_timeout = '11s'") == false)
      try await TestDatabase.execute(
        "ALTER DATABASE \(name) SET idle_in_transaction_session_timeout = '60s'", at: installation.url)
      let (set, _) = try await DoctorTests.examine(installation, changes)
      #expect(set["limits"]?.status == "ok", "\(set)")
      let (direct, _) = try await DoctorTests.examine(installation)
      #expect(direct["limits"] == nil)
    }
  }

  @Test(
    "Behind a pooler, errors of prepared statements and refused parameters name the setting that mends them",
    .enabled(if: TestPooler.isInstalled))
  func pooler() async throws {
    try await Installation.with { installation in
      try await TestPooler.with(database: installation.url, sessions: 1) { pooled in
        let changes = ["DATABASE_URL": pooled]
        // The statements of the first command stay in the session.
        _ = try await installation.run("keys", "list", changes: changes)
        let result = try await installation.run("serve", changes: changes)
        #expect(result.status == 1, "\(result.errors)")
        #expect(
          result.errors.contains("turn prepared statements off. (TIDINGS_PREPARED_STATEMENTS=false)"),
          "\(result.errors)")
        let refused = try await installation.run(
          "migrate", "--check", changes: ["DATABASE_URL": "\(pooled)?options=-c%20statement_timeout%3D5000"])
        #expect(refused.errors.contains("ignore_startup_parameters"), "\(refused.errors)")
      }
    }
  }
}
