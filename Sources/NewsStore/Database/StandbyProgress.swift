public import Logging
public import PostgresClient

/// The progress of a standby, compared with its primary.
public struct StandbyProgress: Sendable {
  /// Whether the standby has replayed what the primary had at the beginning.
  public var isCurrent: Bool
  /// The bytes of the log that the standby has not replayed.
  public var missingBytes: Int
  /// The age of the last change that the standby has replayed, in seconds; nil if there is none.
  public var lastReplay: Double?
  /// Whether someone has paused the replay.
  public var isPaused: Bool

  /// Reads the position of the primary, and waits until the standby reaches it.
  ///
  /// - Parameter limit: The maximum wait.
  /// - Throws: `PostgresError`.
  public static func read(
    primary: PostgresConfiguration, standby: PostgresConfiguration, waitingAtMost limit: Duration = .seconds(5),
    logger: Logger
  ) async throws -> StandbyProgress {
    let position = try await PostgresConnection.with(configuration: primary, logger: logger) { connection in
      try await connection.query(StandbyLag.primaryPosition)
        .first?.decode("position", as: Int.self) ?? 0
    }
    return try await PostgresConnection.with(configuration: standby, logger: logger) { connection in
      let end = ContinuousClock.now + limit
      while true {
        let progress = try await read(connection, position)
        if progress.isCurrent || .now >= end { return progress }
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  private static func read(_ connection: PostgresConnection, _ position: Int) async throws -> StandbyProgress {
    let rows = try await connection.query(
      """
      SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint AS position, pg_is_wal_replay_paused() AS paused,
        extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8 AS age
      """)
    guard let row = rows.first else { throw StoreFault("the standby says nothing of itself") }
    let missing = position - (try row.decode("position", as: Int?.self) ?? 0)
    return StandbyProgress(
      isCurrent: missing <= 0, missingBytes: max(0, missing), lastReplay: try row.decode("age"),
      isPaused: try row.decode("paused"))
  }
}
