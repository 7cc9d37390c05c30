import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct DurabilityTests {
  /// Returns the unsafe settings that a store finds when it connects.
  private func unsafeSettings(_ url: String, requiresDurability: Bool = false) async throws -> [String] {
    let store = NewsStore(
      connection: PostgresConfiguration.forBusyMachine(url), requiresDurability: requiresDurability,
      logger: NewsDatabase.logger)
    return try await withResource(store, release: { await $0.shutdown() }) {
      try await $0.unsafeDurabilitySettings()
    }
  }

  @Test("The unsafe settings of the test cluster are detected")
  func throwawayCluster() async throws {
    try await NewsDatabase.withStore { store, _ in
      let settings = try await store.unsafeDurabilitySettings()
      #expect(settings.contains("fsync = off"))
    }
  }

  @Test("A cluster with default settings is safe until a role or the server disables durability")
  func ordinaryCluster() async throws {
    try await TestCluster.withCluster(settings: []) { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      let configuration = PostgresConfiguration(connectionString: database.url)
      _ = try await Migrator(
        configuration: configuration, logger: NewsDatabase.logger
      ).migrate()
      #expect(try await unsafeSettings(database.url, requiresDurability: true) == [])

      // A running server detects the setting with its next connection.
      let store = NewsStore(connection: configuration, requiresDurability: true, logger: NewsDatabase.logger)
      _ = try await store.keys()
      let sql = PostgresPool(configuration: configuration, logger: NewsDatabase.logger)
      _ = try await sql.query("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
      _ = try await sql.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
      )
      try await eventually("the next connection is refused") {
        do {
          _ = try await store.keys()
          return false
        } catch StoreError.unsafeDurability(let settings) {
          return settings == ["synchronous_commit = off"]
        } catch StoreError.unavailable { return false }
      }
      await store.shutdown()

      _ = try await sql.query("ALTER ROLE CURRENT_USER RESET synchronous_commit")
      #expect(try await unsafeSettings(database.url, requiresDurability: true) == [])
      for setting in ["fsync", "full_page_writes"] {
        _ = try await sql.query("ALTER SYSTEM SET \(unsafeSQL: setting) = off")
        _ = try await sql.query("SELECT pg_reload_conf()")
        try await cluster.restart()
        await #expect(throws: StoreError.unsafeDurability(["\(setting) = off"])) {
          try await unsafeSettings(database.url, requiresDurability: true)
        }
        #expect(try await unsafeSettings(database.url) == ["\(setting) = off"])
        _ = try await sql.query("ALTER SYSTEM RESET \(unsafeSQL: setting)")
        try await cluster.restart()
      }
      await sql.shutdown()
    }
  }
}
