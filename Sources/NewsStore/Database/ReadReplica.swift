import Logging
import News
import PostgresClient
import Synchronization

/// Counters of reads from the standby, since the start.
public struct ReplicaReads: Sendable, Equatable {
  /// The number of results that were returned.
  public var used = 0
  /// The number of results discarded because the standby lacked what this process has returned, or had what the primary
  /// has not shown.
  public var behind = 0
  /// The number of reads that failed or timed out.
  public var failed = 0
}

/// A replica of the primary for reads that are not in memory.
///
/// A result is used only if it is neither older than what this process has returned, nor newer than what the primary
/// has shown. A standby may show a commit before the primary does, and may lose it again in a failover.
final class ReadReplica: Sendable {
  private struct Counters {
    var reads = ReplicaReads()
    /// The time until which the standby is not queried.
    var unavailableUntil = ContinuousClock.now
    var lag = StandbyLag()
  }

  private let pool: PostgresPool
  private let memory = Mutex(Counters())

  /// The time without queries after an outdated result, and after a failure.
  private static let lagBackoff: Duration = .milliseconds(100)
  private static let failureBackoff: Duration = .seconds(1)

  init(connection: PostgresConfiguration, pool: PostgresPoolConfiguration, logger: Logger) {
    // The timeouts are short because a reader queries the primary after a failure.
    var connection = connection
    connection.statementTimeout = min(connection.statementTimeout, .seconds(2))
    connection.connectTimeout = min(connection.connectTimeout, .seconds(2))
    var configuration = pool
    configuration.acquireTimeout = min(pool.acquireTimeout, .milliseconds(500))
    self.pool = PostgresPool(configuration: connection, pool: configuration, logger: logger)
  }

  var reads: ReplicaReads { memory.withLock { $0.reads } }

  /// The lag of the standby; nil before it has answered.
  var lag: Duration? { memory.withLock { $0.lag.value(at: .now) } }

  /// Compares the standby with a position of the primary.
  ///
  /// - Parameters:
  ///   - position: The position of the primary in its log, in bytes.
  ///   - instant: The time before which the primary had the position.
  func measureLag(behind position: Int, at instant: ContinuousClock.Instant) async {
    memory.withLock { $0.lag.note(primary: position, at: instant) }
    // DATABASE_READ_URL may name the primary for a while, as after a promotion.
    let rows = try? await pool.read(
      """
      SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
        - '0/0')::bigint AS position
      """)
    guard let replayed = try? rows?.first?.decode("position", as: Int?.self) else { return }
    memory.withLock { $0.lag.note(replayed: replayed) }
  }

  /// Whether the standby may be queried: no backoff is in effect.
  var isAvailable: Bool { memory.withLock { $0.unavailableUntil <= .now } }

  /// Runs queries in one snapshot.
  ///
  /// - Returns: nil if the standby does not answer.
  func snapshot(_ queries: [PostgresQuery]) async -> [PostgresRows]? {
    do {
      return try await DatabaseTime.measuring {
        // A single statement is a snapshot by itself.
        queries.count == 1 ? [try await pool.read(queries[0])] : try await pool.snapshot(queries)
      }
    } catch {
      // The cancellation of a reader is no failure of the standby.
      guard !Task.isCancelled else { return nil }
      memory.withLock { memory in
        memory.reads.failed += 1
        memory.unavailableUntil = .now + Self.failureBackoff
      }
      return nil
    }
  }

  func recordUse() { memory.withLock { $0.reads.used += 1 } }

  func recordLag() {
    memory.withLock { memory in
      memory.reads.behind += 1
      memory.unavailableUntil = .now + Self.lagBackoff
    }
  }

  func shutdown() async { await pool.shutdown() }
}

extension NewsStore {
  /// The counters of reads from the standby; nil without one.
  public var replicaReads: ReplicaReads? { replica?.reads }

  /// The time for which the standby has lacked a change that the primary had; zero for a current one. It is nil without a
  /// standby, and before the first answer of it.
  public var standbyLag: Duration? { replica?.lag }

  /// The interval at which the lag is measured, which is also its precision.
  private static let lagInterval: Duration = .seconds(2)

  /// Measures the lag of the standby, if there is one, until the task is cancelled.
  func keepStandbyLag() async {
    guard let replica else { return }
    while !Task.isCancelled {
      await measureStandbyLag(replica)
      try? await Task.sleep(for: Self.lagInterval)
    }
  }

  private func measureStandbyLag(_ replica: ReadReplica) async {
    let rows = try? await database.query(StandbyLag.primaryPosition)
    let now = ContinuousClock.now
    guard let position = try? rows?.first?.decode("position", as: Int.self) else { return }
    await replica.measureLag(behind: position, at: now)
  }

  /// Reads from the standby if it has all that this process has returned and all that a token includes.
  ///
  /// - Parameter decode: Decodes the rows into a value and the version of their snapshot. After an error in it the
  ///   primary is queried, which may have newer data. Topics, for example, have no versions.
  /// - Returns: nil if the primary must be queried.
  func fromReplica<Value: Sendable>(
    _ queries: [PostgresQuery], since: SyncToken? = nil,
    _ decode: ([PostgresRows]) throws -> (value: Value, feedVersion: FeedVersion)
  ) async -> Value? {
    // Without a state in memory it is unknown what this process has returned.
    guard let replica, replica.isAvailable, let shown = epochGuard.feedVersion, let state = stateCache.latest?.state
    else { return nil }
    var version = shown.version
    if let since, since.epoch == shown.epoch { version = max(version, since.latestVersion) }
    guard let rows = await replica.snapshot(queries) else { return nil }
    guard let answer = try? decode(rows) else { return nil }
    let feedVersion = answer.feedVersion
    // A change of a topic's title has no version.
    let hasTopics = feedVersion.topicsRevision == 0 || feedVersion.topicsRevision >= state.feedVersion.topicsRevision
    guard feedVersion.epoch == shown.epoch, feedVersion.version >= version, hasTopics else {
      replica.recordLag()
      return nil
    }
    guard await isShownByPrimary(feedVersion) else {
      replica.recordLag()
      return nil
    }
    replica.recordUse()
    return answer.value
  }

  /// Whether the primary has shown a version. If not, the state is refreshed first.
  private func isShownByPrimary(_ feedVersion: FeedVersion) async -> Bool {
    func isShown() -> Bool {
      epochGuard.feedVersion.map { $0.epoch == feedVersion.epoch && $0.version >= feedVersion.version } ?? false
    }
    if isShown() { return true }
    _ = try? await stateCache.refresh()
    return isShown()
  }
}
