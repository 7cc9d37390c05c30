/// How connections are made and what holds for each of them.
///
/// Printing a configuration never shows the connection string, which may hold a password.
public struct PostgresConfiguration: Sendable {
  /// Handed to libpq as it is: a URI or `key=value` pairs (PostgreSQL 15, 34.1.1). Empty means that libpq's
  /// environment variables and defaults decide.
  public var connectionString: String

  /// The name in `pg_stat_activity`, unless the connection string or the environment gives one.
  public var applicationName = "tidings"

  /// The longest that making a connection may take, name resolution and authentication included. With several
  /// hosts, one that cannot be reached is given up for the next one after an equal share of it.
  public var connectTimeout: Duration = .seconds(5)

  /// The longest that a query, pipeline or script may take on the server; then it is cancelled there. `.zero`
  /// means no limit. The session's `statement_timeout` is set slightly above as a backstop.
  public var statementTimeout: Duration = .seconds(10)

  /// The longest that a transaction may wait for its next statement; then the server ends the session, and with it the
  /// locks of a process that hangs. `.zero` means no limit.
  public var idleTransactionTimeout: Duration = .seconds(60)

  /// Whether statements are prepared once per connection. False behind poolers in transaction mode, where a
  /// prepared statement may be missing (26000) or exist already (42P05); the session is then left untouched too.
  public var preparesStatements = true

  /// How many prepared statements a connection keeps; the least recently used one is deallocated. At least 1.
  public var preparedStatementLimit = 256

  /// Reports outages. Copies of a configuration share it, so that several pools and listeners report an outage once.
  package var outages = OutageLog()

  /// A configuration with the defaults of the other properties.
  public init(connectionString: String) {
    self.connectionString = connectionString
  }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the application only.
  public var description: String { "PostgresConfiguration(applicationName: \(applicationName))" }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Without the connection string.
  public var customMirror: Mirror {
    Mirror(self, children: ["applicationName": applicationName])
  }
}

/// The bounds of a pool.
public struct PostgresPoolConfiguration: Sendable {
  /// The most connections at any time. At least 1.
  public var size = 8

  /// How many callers may wait for a connection; one more fails at once with `.tooManyWaiters`.
  public var maximumWaiters = 512

  /// The longest wait for a connection before `.acquireTimedOut`.
  public var acquireTimeout: Duration = .seconds(5)

  /// The defaults.
  public init() {}
}
