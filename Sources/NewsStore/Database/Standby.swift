import Logging
import News
import PostgresClient
import Synchronization

/// How often reads have been asked of a standby, since the start.
public struct StandbyReads: Sendable, Equatable {
  /// Answers that were given out.
  public var used = 0
  /// Times when it did not have what this process has told already, or had what the primary has not.
  public var behind = 0
  /// Times when it did not answer, or not in time.
  public var failed = 0
}

/// A server that replays what the primary writes, and may answer reads that are not in memory.
///
/// What it says counts only where it is neither older than anything that this process has told, nor newer than what the
/// primary has shown: a standby may show a commit before the primary does, and may lose it again at a failover.
final class Standby: Sendable {
  private struct Memory {
    var reads = StandbyReads()
    /// It is left alone until then.
    var rest = ContinuousClock.now
  }

  private let pool: PostgresPool
  private let memory = Mutex(Memory())

  /// How long it is left alone when it was behind, and when it did not answer.
  private static let restBehind: Duration = .milliseconds(100)
  private static let restFailed: Duration = .seconds(1)

  init(connection: PostgresConfiguration, pool: PostgresPoolConfiguration, logger: Logger) {
    // Whoever waits in vain has the primary to ask after that.
    var connection = connection
    connection.statementTimeout = min(connection.statementTimeout, .seconds(2))
    connection.connectTimeout = min(connection.connectTimeout, .seconds(2))
    var configuration = pool
    configuration.acquireTimeout = min(pool.acquireTimeout, .milliseconds(500))
    self.pool = PostgresPool(configuration: connection, pool: configuration, logger: logger)
  }

  var reads: StandbyReads { memory.withLock { $0.reads } }

  /// Whether it is worth asking.
  var isAwake: Bool { memory.withLock { $0.rest <= .now } }

  /// Runs queries in one snapshot.
  ///
  /// - Returns: nil where it does not answer.
  func snapshot(_ queries: [PostgresQuery]) async -> [PostgresRows]? {
    do {
      return try await DatabaseTime.measuring { try await pool.snapshot(queries) }
    } catch {
      // A reader that has left says nothing of the standby.
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
  /// How often the standby was asked; nil where there is none.
  public var standbyReads: StandbyReads? { standby?.reads }

  /// Reads from the standby, where it has all that this process and the holder of a token have been told.
  ///
  /// - Parameter decode: Makes the answer of the rows, with the moment of their snapshot. What it throws, the primary has
  ///   to say: it may know more, and be it only of topics, which have no versions.
  /// - Returns: nil where the primary is to be asked.
  func fromStandby<Value: Sendable>(
    _ queries: [PostgresQuery], since: SyncToken? = nil,
    _ decode: ([PostgresRows]) throws -> (value: Value, moment: Moment)
  ) async -> Value? {
    // Without a state nothing tells what has been told.
    guard let standby, standby.isAwake, let told = seen.moment, let state = keeper.latest?.state else { return nil }
    var version = told.version
    if let since, since.epoch == told.epoch { version = max(version, since.furthest) }
    guard let rows = await standby.snapshot(queries) else { return nil }
    guard let answer = try? decode(rows) else { return nil }
    let moment = answer.moment
    // A topic's title is changed without a version.
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

  /// Whether the primary has shown a moment, by now if not before.
  private func isShownByPrimary(_ moment: Moment) async -> Bool {
    func isShown() -> Bool { seen.moment.map { $0.epoch == moment.epoch && $0.version >= moment.version } ?? false }
    if isShown() { return true }
    _ = try? await keeper.refresh()
    return isShown()
  }
}
