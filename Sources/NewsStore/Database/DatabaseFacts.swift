public import Foundation
public import Logging
public import PostgresClient

/// Properties of a database and its server, with or without the schema.
public struct DatabaseFacts: Sendable {
  /// The oldest supported major version. The tests run with it, and documents name it.
  public static let oldestVersion = 15

  /// The name of the database.
  public var name: String
  /// The version of the server, such as `15.18`.
  public var version: String
  /// The major version of the server, such as 15.
  public var majorVersion: Int
  /// The system identifier, which the server shares with its standbys and physical copies.
  public var systemIdentifier: String
  /// The encoding and the locale.
  public var locale: DatabaseLocale
  /// The rights of the role.
  public var rights: DatabaseRights
  /// Whether the server is a standby.
  public var isStandby: Bool
  /// The server settings that decide what survives a crash, by name.
  public var durability: [String: String]
  /// The limits `statement_timeout` and `idle_in_transaction_session_timeout` of the session in milliseconds, by name; 0
  /// for none.
  public var timeLimits: [String: Int]
  /// The size on disk, in bytes.
  public var size: Int
  /// The number of further connections that the server accepts from this user.
  public var freeConnections: Int
  /// The data directory of the server; nil if the server is on another machine or the user may not read the setting.
  public var directory: String?
  /// The lead of the database clock over the local one, in seconds. The error is at most half the round trip.
  public var clockLead: TimeInterval

  /// Reads the properties on a separate connection.
  ///
  /// - Throws: `PostgresError`.
  public static func read(_ configuration: PostgresConfiguration, logger: Logger) async throws -> DatabaseFacts {
    try await PostgresConnection.with(configuration: configuration, logger: logger) { try await read($0) }
  }

  private static func read(_ connection: PostgresConnection) async throws -> DatabaseFacts {
    let rows = try await connection.query(
      """
      SELECT current_database()::text AS name, current_setting('server_version') AS version,
        current_setting('server_version_num')::bigint AS number,
        (SELECT c.system_identifier::text FROM pg_control_system() AS c) AS system, pg_is_in_recovery() AS standby,
        pg_database_size(current_database()) AS size,
        current_setting('max_connections')::bigint - (SELECT count(*) FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
          - CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 0
            ELSE current_setting('superuser_reserved_connections')::bigint END AS free,
        CASE WHEN (inet_server_addr() IS NULL OR inet_server_addr() << '127.0.0.0/8' OR inet_server_addr() = '::1')
          AND pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END
          AS directory
      """)
    guard let row = rows.first else { throw StoreFault("the database says nothing of itself") }
    let settings = try await connection.query(
      """
      SELECT name, setting FROM pg_settings
      WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'synchronous_standby_names')
      """
    ).map { (try $0.decode("name", as: String.self), try $0.decode("setting", as: String.self)) }
    let limits = try await connection.query(
      """
      SELECT name, setting::bigint AS milliseconds FROM pg_settings
      WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout')
      """
    ).map { (try $0.decode("name", as: String.self), try $0.decode("milliseconds", as: Int.self)) }
    return DatabaseFacts(
      name: try row.decode("name"), version: try row.decode("version"),
      majorVersion: try row.decode("number", as: Int.self) / 10_000, systemIdentifier: try row.decode("system"),
      locale: try await DatabaseLocale.read(connection), rights: try await DatabaseRights.read(connection),
      isStandby: try row.decode("standby"),
      durability: Dictionary(uniqueKeysWithValues: settings),
      timeLimits: Dictionary(uniqueKeysWithValues: limits),
      size: try row.decode("size"), freeConnections: try row.decode("free"), directory: try row.decode("directory"),
      clockLead: try await clockLead(connection))
  }

  private static func clockLead(_ connection: PostgresConnection) async throws -> TimeInterval {
    let before = Date()
    let rows = try await connection.query("SELECT clock_timestamp() AS now")
    let after = Date()
    guard let now = try rows.first?.decode("now", as: Date.self) else { return 0 }
    return now.timeIntervalSince(before.addingTimeInterval(after.timeIntervalSince(before) / 2))
  }

  /// Reads what the creator of the database and of the role has decided.
  ///
  /// - Throws: `PostgresError`.
  public static func setUp(
    _ configuration: PostgresConfiguration, logger: Logger
  ) async throws -> (locale: DatabaseLocale, rights: DatabaseRights) {
    try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      (try await DatabaseLocale.read(connection), try await DatabaseRights.read(connection))
    }
  }

  /// The reason for which the database accepts no writes, found by writing a temporary table; nil if it does.
  ///
  /// - Throws: `PostgresError` for any other error.
  public static func writeObstacle(
    _ configuration: PostgresConfiguration, logger: Logger
  ) async throws -> WriteObstacle? {
    try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      do {
        try await connection.probeWrites()
        return nil
      } catch let error as PostgresError {
        guard let obstacle = WriteObstacle(error) else { throw error }
        return obstacle
      }
    }
  }

  /// Whether a session receives notifications of another one. Behind a pooler in transaction mode it does not.
  ///
  /// - Parameter timeout: The maximum wait for the notification.
  /// - Throws: `PostgresError`.
  public static func hearsNotifications(
    _ configuration: PostgresConfiguration, timeout: Duration = .seconds(5), logger: Logger
  ) async throws -> Bool {
    let channel = "tidings_doctor_\(UUID().uuidString.lowercased())"
    return try await PostgresConnection.with(configuration: configuration, logger: logger) { connection in
      await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          for await event in PostgresListener(configuration: configuration, logger: logger).events(channel: channel) {
            if case .notification = event { return true }
            guard event == .listening else { return false }
            _ = try? await connection.query("SELECT pg_notify(\(channel), 'heard')")
          }
          return false
        }
        group.addTask {
          try? await Task.sleep(for: timeout)
          return false
        }
        defer { group.cancelAll() }
        return await group.next() ?? false
      }
    }
  }
}
