import Logging
import News
import PostgresClient
import Synchronization

/// Counters of reads from the standby, since the start.
public struct StandbyReads: Sendable, Equatable {
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
final class Standby: Sendable {
  private struct Memory {
    var reads = StandbyReads()
    /// The end of the current pause in the use of the standby.
    var rest = ContinuousClock.now
  }

  private let pool: PostgresPool
  private let memory = Mutex(Memory())

  /// The pauses after a result that was behind, and after a failure.
  private static let restBehind: Duration = .milliseconds(100)
  private static let restFailed: Duration = .seconds(1)

  init(connection: PostgresConfiguration, pool: PostgresPoolConfiguration, logger: Logger) {
    // The timeouts are short because a reader queries the primary after a failure.
    var connection = connection
    connection.statementTimeout = min(connection.statementTimeout, .seconds(2))
    connection.connectTimeout = min(connection.connectTimeout, .seconds(2))
    var configuration = pool
    configuration.acquireTimeout = min(pool.acquireTimeout, .milliseconds(500))
    self.pool = PostgresPool(configuration: connection, pool: configuration, logger: logger)
  }

  var reads: StandbyReads { memory.withLock { $0.reads } }

  /// Whether the standby may be queried: no pause is in effect.
  var isAwake: Bool { memory.withLock { $0.rest <= .now } }

  /// Runs queries in one snapshot.
  ///
  /// - Returns: nil if the standby does not answer.
  func snapshot(_ queries: [PostgresQuery]) async -> [PostgresRows]? {
    do {
      return try await DatabaseTime.measuring { try await pool.snapshot(queries) }
    } catch {
      // The cancellation of a reader is no failure of the standby.
      guard !Task.isCancelled else { return nil }
      memory.withLock { memory in
        memory.reads.failed += 1
        memory.rest = .now + Self.restFailed
      }
      return nil
    }
  }

  func wasUsed() { memory.withLock { $0.reads.used += 1 } }

  func wasBehind() {
    memory.withLock { memory in
      memory.reads.behind += 1
      memory.rest = .now + Self.restBehind
    }
  }

  func shutdown() async { await pool.shutdown() }
}

extension NewsStore {
  /// The counters of reads from the standby; nil without one.
  public var standbyReads: StandbyReads? { standby?.reads }

  /// Reads from the standby if it has all that this process has returned and all that a token includes.
  ///
  /// - Parameter decode: Decodes the rows into a value and the moment of their snapshot. After an error in it the
  ///   primary is queried, which may have newer data. Topics, for example, have no versions.
  /// - Returns: nil if the primary must be queried.
  func fromStandby<Value: Sendable>(
    _ queries: [PostgresQuery], since: SyncToken? = nil,
    _ decode: ([PostgresRows]) throws -> (value: Value, moment: Moment)
  ) async -> Value? {
    // Without a state in memory it is unknown what this process has returned.
    guard let standby, standby.isAwake, let told = seen.moment, let state = keeper.latest?.state else { return nil }
    var version = told.version
    if let since, since.epoch == told.epoch { version = max(version, since.furthest) }
    guard let rows = await standby.snapshot(queries) else { return nil }
    guard let answer = try? decode(rows) else { return nil }
    let moment = answer.moment
    // A change of a topic's title has no version.
    let hasTopics = moment.topicsRevision == 0 || moment.topicsRevision >= state.moment.topicsRevision
    guard moment.epoch == told.epoch, moment.version >= version, hasTopics else {
      standby.wasBehind()
      return nil
    }
    guard await isShownByPrimary(moment) else {
      standby.wasBehind()
      return nil
    }
    standby.wasUsed()
    return answer.value
  }

  /// Whether the primary has shown a moment. If not, the state is refreshed first.
  private func isShownByPrimary(_ moment: Moment) async -> Bool {
    func isShown() -> Bool { seen.moment.map { $0.epoch == moment.epoch && $0.version >= moment.version } ?? false }
    if isShown() { return true }
    _ = try? await keeper.refresh()
    return isShown()
  }
}
