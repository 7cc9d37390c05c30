import PostgresClient

/// The condition of the database at a moment, as far as its user may see it.
public struct DatabaseCondition: Sendable, Equatable {
  /// A server that replicates the database.
  public struct Standby: Sendable, Equatable {
    /// The name that the standby gives itself.
    public var name: String?
    /// The IP address; nil for a local socket, and if the user may not see it.
    public var address: String?
    /// The state of the replication, such as `streaming`; nil if the user may not see it.
    public var state: String?
    /// The time from a commit until the standby has replayed it, in seconds; nil if it is idle or unknown.
    public var lag: Double?
    /// The bytes of the write-ahead log that the standby has not replayed yet; nil if that is unknown.
    public var lagBytes: Int?
  }

  /// The time of a statement without work, both ways included.
  public var latency: Duration
  /// The version of the server, such as `15.18`.
  public var version: String
  /// The size on disk, in bytes.
  public var size: Int
  /// The name of the last migration.
  public var migration: String?
  /// The number of processes of Tidings that listen to the database, this one included.
  public var processes: Int
  /// The standbys, by name.
  public var standbys: [Standby]
}

extension NewsStore {
  /// Reads the condition of the primary.
  ///
  /// - Throws: `StoreError.unavailable`.
  public func condition() async throws -> DatabaseCondition {
    try await database.withConnection { connection in
      let start = ContinuousClock.now
      _ = try await connection.query("SELECT 1")
      let latency = ContinuousClock.now - start
      let facts = try await connection.query(
        """
        SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS size,
          (SELECT m.name FROM schema_migrations AS m ORDER BY m.number DESC LIMIT 1) AS migration,
          (SELECT count(*) FROM pg_stat_activity AS a
            WHERE a.datname = current_database() AND a.query = 'LISTEN "tidings"') AS processes
        """)
      guard let row = facts.first else { throw StoreFault("the database says nothing of itself") }
      let standbys = try await connection.query(
        """
        SELECT s.application_name AS name, host(s.client_addr) AS address, s.state,
          extract(epoch FROM s.replay_lag)::float8 AS lag,
          CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), s.replay_lsn)::bigint END AS bytes
        FROM pg_stat_replication AS s ORDER BY s.application_name, s.pid
        """
      ).map { standby in
        DatabaseCondition.Standby(
          name: try standby.decode("name"), address: try standby.decode("address"), state: try standby.decode("state"),
          lag: try standby.decode("lag"), lagBytes: try standby.decode("bytes"))
      }
      return DatabaseCondition(
        latency: latency, version: try row.decode("version"), size: try row.decode("size"),
        migration: try row.decode("migration"), processes: try row.decode("processes"), standbys: standbys)
    }
  }
}
