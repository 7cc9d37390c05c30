/// The settings of a connection: server, timeouts and prepared statements.
///
/// A printed configuration never contains the connection string, which may hold a password.
///
///     var configuration = PostgresConfiguration(connectionString: "postgresql://news@localhost/news")
///     configuration.applicationName = "importer"
///     configuration.statementTimeout = .seconds(60)
///     print(configuration)  // PostgresConfiguration(applicationName: importer)
public struct PostgresConfiguration: Sendable {
  /// The connection string, passed to libpq unchanged: a URI or `key=value` pairs (PostgreSQL 15, 34.1.1). If it is
  /// empty, libpq's environment variables and defaults apply.
  public var connectionString: String

  /// The name in `pg_stat_activity`, unless the connection string or the environment sets one.
  public var applicationName = "tidings"

  /// The timeout for opening a connection, including name resolution and authentication. Several hosts share it
  /// equally: an unreachable host is abandoned for the next one after its share.
  public var connectTimeout: Duration = .seconds(5)

  /// The timeout for a query, pipeline or script, after which it is cancelled on the server. `.zero` means no limit.
  /// The session's `statement_timeout` is 1 second longer, in case the cancel request fails.
  public var statementTimeout: Duration = .seconds(10)

  /// The maximum time that a transaction may wait for its next statement. Then the server ends the session, which
  /// releases the locks of a process that hangs. `.zero` means no limit.
  public var idleTransactionTimeout: Duration = .seconds(60)

  /// Whether statements are prepared once per connection. Set it to false behind a pooler in transaction mode, where a
  /// prepared statement may be missing (26000) or exist already (42P05). The session's settings are then left unchanged
  /// too.
  public var preparesStatements = true

  /// The maximum number of prepared statements per connection, at least 1. The least recently used one is deallocated.
  public var preparedStatementLimit = 256

  /// The log of outages. Copies of a configuration share it, so that several pools and listeners report an outage once.
  package var outages = OutageLog()

  /// Creates a configuration with default values for the other properties.
  public init(connectionString: String) {
    self.connectionString = connectionString
  }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The application name only.
  public var description: String { "PostgresConfiguration(applicationName: \(applicationName))" }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// The application name only, without the connection string.
  public var customMirror: Mirror {
    Mirror(self, children: ["applicationName": applicationName])
  }
}

/// The limits of a pool.
///
///     var limits = PostgresPoolConfiguration()
///     limits.size = 16
///     limits.acquireTimeout = .seconds(2)
///     let pool = PostgresPool(
///       configuration: PostgresConfiguration(connectionString: "postgresql://localhost/news"), pool: limits,
///       logger: Logger(label: "news"))
///     print(pool.statistics.size)  // 16
public struct PostgresPoolConfiguration: Sendable {
  /// The maximum number of connections, at least 1.
  public var size = 8

  /// The maximum number of callers of a party that wait for a connection. One more fails at once with `.tooManyWaiters`.
  /// Connections are given to parties in turn; the callers of a program that names none are one party.
  public var maximumWaiters = 512

  /// The timeout for acquiring a connection, after which a caller fails with `.acquireTimedOut`.
  public var acquireTimeout: Duration = .seconds(5)

  /// Creates a configuration with default values.
  public init() {}
}
