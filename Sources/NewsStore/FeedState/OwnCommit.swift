import Foundation
import News
import PostgresClient

/// The effect of a transaction of this process on the state, so that no query has to read it again.
package struct OwnCommit: Sendable {
  let epoch: String
  /// The version of the feed before the transaction.
  let base: Int
  /// The states of all scopes that the transaction has changed, among others.
  let scopes: [String: FeedSnapshot.ScopeState]
  /// The changes, in version order.
  let changes: [LoggedItem]
  let read: DatabaseInstant

  /// The version of the feed after the transaction.
  var version: Int { base + changes.count }

  package init(
    epoch: String, base: Int, scopes: [String: FeedSnapshot.ScopeState], changes: [LoggedItem], read: DatabaseInstant
  ) {
    self.epoch = epoch
    self.base = base
    self.scopes = scopes
    self.changes = changes
    self.read = read
  }

  /// The statements that read the effect at the end of a transaction, while it holds the counter.
  ///
  /// - Parameters:
  ///   - items: The ids of the published items.
  ///   - scopes: The names of the scopes that may have changed.
  static func queries(items: [UUID], scopes: Set<String>) -> [PostgresQuery] {
    [
      """
      SELECT s.scope, s.version, s.floor, s.shifted_at, clock_timestamp() AS now,
        \(query: Database.currentEpoch) AS epoch
      FROM scopes AS s WHERE s.scope = ANY (\(scopes.sorted()))
      """,
      // OFFSET keeps both conditions together, for a look-up by key.
      LoggedItem.query(
        of: """
          SELECT l.* FROM unnest(\(items)) AS w (id) CROSS JOIN LATERAL (
            SELECT o.* FROM change_log AS o
            WHERE o.item = w.id AND o.scope = '' AND o.xmin = pg_current_xact_id()::xid OFFSET 0
          ) AS l
          """,
        topicsAfter: "c.version - 1"),
    ]
  }

  /// - Parameters:
  ///   - scopes: The result of the first query.
  ///   - changes: The result of the second query.
  /// - Returns: nil if the feed is unchanged.
  init?(scopes rows: PostgresRows, changes: PostgresRows) throws {
    guard let scope = rows.first, !changes.isEmpty else { return nil }
    epoch = try scope.decode("epoch")
    read = DatabaseInstant(try scope.decode("now"))
    var scopes: [String: FeedSnapshot.ScopeState] = [:]
    for row in rows { scopes[try row.decode("scope")] = try FeedSnapshot.ScopeState(row: row) }
    self.scopes = scopes
    self.changes = try changes.map(LoggedItem.init(row:))
    guard let version = scopes[""]?.version else { throw StoreFault("the row of the feed is missing") }
    // publish() gives each changed item the next version.
    base = version - self.changes.count
  }
}

extension FeedSnapshot {
  /// Whether a commit is the next change of this state.
  func precedes(_ commit: OwnCommit) -> Bool { epoch == commit.epoch && version == commit.base }

  /// The state after the next commit.
  func advanced(by commit: OwnCommit) -> FeedSnapshot {
    var recent = recent
    recent.add(commit.changes.map(\.change))
    return FeedSnapshot(
      feedVersion: FeedVersion(epoch: epoch, version: commit.version, topicsRevision: feedVersion.topicsRevision),
      scopes: scopes.merging(commit.scopes) { $1 }, reach: reach, recent: recent,
      windows: Window.advanced(windows, by: commit.changes), windowUses: windowUses, read: commit.read)
  }
}

extension FeedSnapshot.ScopeState {
  init(row: PostgresRow) throws {
    self.init(
      version: try row.decode("version"), floor: try row.decode("floor"), shiftedAt: try row.decode("shifted_at"))
  }
}
