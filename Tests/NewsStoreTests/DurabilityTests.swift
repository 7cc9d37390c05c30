import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct DurabilityTests {
  private func unsafeSetting(_ url: String) async throws -> String? {
    let store = NewsStore(connection: PostgresConfiguration.patient(url), logger: NewsDatabase.logger)
    do {
      let setting = try await store.unsafeDurabilitySetting()
      await store.shutdown()
      return setting
    } catch {
      await store.shutdown()
      throw error
    }
  }

  @Test("The throwaway cluster, which does not wait for its disk, is found out")
  func throwawayCluster() async throws {
    try await NewsDatabase.withStore { store, _ in
      let setting = try await store.unsafeDurabilitySetting()
      #expect(setting == "fsync = off")
    }
  }

  @Test("A cluster as it comes is safe, and no longer once a database of it does without synchronous commits")
  func ordinaryCluster() async throws {
    try await TestCluster.withCluster(settings: []) { cluster in
      let database = try await TestDatabase.create(on: cluster.url)
      let configuration = PostgresConfiguration(connectionString: database.url)
      _ = try await Migrator(
        configuration: configuration, logger: NewsDatabase.logger
      ).migrate()
      #expect(try await unsafeSetting(database.url) == nil)
      let sql = PostgresPool(configuration: configuration, logger: NewsDatabase.logger)
      _ = try await sql.query("ALTER DATABASE \(unsafeSQL: database.name) SET synchronous_commit = off")
      await sql.shutdown()
      #expect(try await unsafeSetting(database.url) == "synchronous_commit = off")
    }
  }
}
