import PostgresClient

/// A snapshot of the connection pool's counters.
public struct StoreConnections: Sendable, Equatable {
  /// The maximum number of connections.
  public var limit: Int
  /// The number of idle connections.
  public var idle: Int
  /// The number of connections in use.
  public var leased: Int
  /// The number of callers that wait for a connection.
  public var waiting: Int
  /// The number of connections opened since the start.
  public var opened: Int
}

extension NewsStore {
  /// The current counters, read without waiting.
  public var connections: StoreConnections {
    let pool = database.pool.statistics
    return StoreConnections(
      limit: pool.size, idle: pool.idle, leased: pool.leased, waiting: pool.waiting, opened: pool.opened)
  }
}
