import PostgresClient

extension PostgresConnection {
  /// The settings of this session in which an acknowledged write, or the whole database, may not survive a crash
  /// (PostgreSQL, chapters 20.5 and 30.3), such as `fsync = off`. They may differ between roles and databases, and after
  /// a failover.
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

  /// - Throws: `StoreError.unsafeDurability`, `PostgresError`.
  nonisolated func requireDurability() async throws {
    let settings = try await unsafeDurabilitySettings()
    guard settings.isEmpty else { throw StoreError.unsafeDurability(settings) }
  }
}

extension NewsStore {
  /// The settings of the database in which an acknowledged write may not survive a crash, such as `fsync = off`; empty if
  /// there are none.
  ///
  /// - Throws: `StoreError.unsafeDurability` where the store requires durability, `unavailable`.
  public func unsafeDurabilitySettings() async throws -> [String] {
    try await database.withConnection { try await $0.unsafeDurabilitySettings() }
  }
}
