import PostgresClient

/// The connections to the database at one moment.
public struct StoreConnections: Sendable, Equatable {
  /// The most there may be.
  public var limit: Int
  /// At rest.
  public var idle: Int
  /// In use.
  public var leased: Int
  /// Callers that wait for one.
  public var waiting: Int
  /// Made since the start.
  public var opened: Int
}

extension NewsStore {
  /// Counts them without waiting for anything.
  public var connections: StoreConnections {
    let pool = database.pool.statistics
    return StoreConnections(
      limit: pool.size, idle: pool.idle, leased: pool.leased, waiting: pool.waiting, opened: pool.opened)
  }
}
