import Logging
import PostgresClient

extension NewsStore {
  /// Purges removals that are older than an age. Earlier tokens then expire, and their holders read the snapshot again.
  ///
  /// The purge runs in small batches, between which others can publish.
  ///
  /// - Returns: The number of purged removals in all scopes together.
  @discardableResult
  public func purge(olderThan age: Duration) async throws -> Int {
    try await forget("SELECT purge_log(make_interval(secs => \(age / .seconds(1)))) AS forgotten")
  }

  /// Runs a statement until it forgets nothing more.
  ///
  /// - Parameter statement: A statement that forgets some, and selects their number as `forgotten`.
  /// - Returns: The number of all.
  func forget(_ statement: PostgresQuery) async throws -> Int {
    var total = 0
    while true {
      let forgotten: Int = try await database.query(statement).first?.decode("forgotten") ?? 0
      guard forgotten > 0 else { return total }
      total += forgotten
    }
  }

  /// Purges a minute after the start and then once an hour, until the task is cancelled. A failed purge is repeated an
  /// hour later.
  ///
  /// - Parameters:
  ///   - age: The age of the removals that are purged; nil for none.
  ///   - retention: The rule by which the history is kept; nil to keep all of it.
  public func purgeRegularly(olderThan age: Duration?, keeping retention: HistoryRetention?) async {
    var interval = Duration.seconds(60)
    while (try? await Task.sleep(for: interval)) != nil {
      interval = .seconds(3600)
      if let age { await report("old removals forgotten") { try await purge(olderThan: age) } }
      if let retention { await report("old revisions removed") { try await sweepHistory(keeping: retention) } }
    }
  }

  private func report(_ message: Logger.Message, _ purge: () async throws -> Int) async {
    do {
      let count = try await purge()
      if count > 0 { logger.info(message, metadata: ["count": "\(count)"]) }
    } catch {
      logger.warning("the purge failed", metadata: ["error": "\(String(reflecting: error))"])
    }
  }
}
