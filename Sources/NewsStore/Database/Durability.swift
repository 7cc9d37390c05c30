import PostgresClient

extension PostgresConnection {
  /// The settings of this session that may lose an acknowledged write, or the whole database, in a crash, such as
  /// `fsync = off` (PostgreSQL, chapters 20.5 and 30.3). They may differ between roles and databases, and after a
  /// failover.
  ///
  /// - Throws: `PostgresError`.
  nonisolated func unsafeDurabilitySettings() async throws -> [String] {
    try await query(
      """
      SELECT name || ' = ' || setting AS found FROM pg_settings
      WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name
      """
    ).map { try $0.decode("found") }
  }

  /// Refuses a session with unsafe settings.
  ///
  /// - Throws: `StoreError.unsafeDurability`, `PostgresError`.
  nonisolated func requireDurability() async throws {
    let settings = try await unsafeDurabilitySettings()
    guard settings.isEmpty else { throw StoreError.unsafeDurability(settings) }
  }
}

extension NewsStore {
  /// The settings of the database that may lose an acknowledged write in a crash, such as `fsync = off`; empty if there
  /// are none.
  ///
  /// - Throws: `StoreError.unsafeDurability` if the store requires durability; `unavailable`.
  public func unsafeDurabilitySettings() async throws -> [String] {
    try await database.withConnection { try await $0.unsafeDurabilitySettings() }
  }
}
