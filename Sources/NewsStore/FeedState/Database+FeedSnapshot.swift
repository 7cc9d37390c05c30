import Foundation
import Logging
import News
import PostgresClient

extension Database {
  /// Reads the current state in one snapshot, or only the changes since a known one. If the database is no longer in
  /// the history in which the epoch began, a new epoch begins.
  func state(after known: FeedSnapshot?, epochGuard: EpochGuard, logger: Logger) async throws -> FeedSnapshot {
    while true {
      let began = ContinuousClock.now
      let (state, fits) = try await readState(after: known)
      if !fits {
        try await withConnection { connection in try await epochGuard.confirm(through: connection, logger: logger) }
      } else if try await epochGuard.confirm(
        epoch: state.epoch, version: state.version, readAfter: began, through: self, logger: logger)
      {
        return state
      }
    }
  }

  private func readState(after known: FeedSnapshot?) async throws -> (state: FeedSnapshot, fits: Bool) {
    let (epoch, version) = (known?.epoch, known?.version ?? -1)
    let answers = try await snapshot([
      """
      SELECT e.id AS epoch, s.version, s.floor, topics_revision() AS topics, epoch_fits() AS fits
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s WHERE s.scope = ''
      """,
      // A purge changes nothing but floors.
      """
      SELECT s.scope, s.version, s.floor, s.shifted_at FROM scopes AS s
      WHERE s.version > \(version)
        OR (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) IS DISTINCT FROM \(epoch)
        OR (SELECT topics_revision()) IS DISTINCT FROM \(known?.feedVersion.topicsRevision)
        OR (SELECT sum(f.floor)::bigint FROM scopes AS f) IS DISTINCT FROM \(known?.floors)
      """,
      """
      SELECT l.item, l.version, t.topics, t.versions
      FROM change_log AS l CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(c.scope::text), '{}') AS topics, coalesce(array_agg(c.version), '{}') AS versions
        FROM change_log AS c WHERE c.item = l.item AND c.scope <> '' AND c.version > \(version)
      ) AS t
      WHERE l.scope = '' AND l.version > \(version)
        AND (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) IS NOT DISTINCT FROM \(epoch)
      ORDER BY l.version LIMIT \(FeedSnapshot.RecentChanges.count + 1)
      """,
      """
      SELECT e.id, epoch_reach(e.id) AS reach FROM epochs AS e
      WHERE (SELECT l.id FROM epochs AS l ORDER BY l.number DESC LIMIT 1) IS DISTINCT FROM \(epoch)
      """,
    ])
    guard let feed = answers[0].first else { throw StoreFault("the row of the feed is missing") }
    let state = try FeedSnapshot(after: known, feed: feed, scopes: answers[1], changes: answers[2], reach: answers[3])
    return (state, try feed.decode("fits"))
  }
}

extension FeedSnapshot {
  /// Creates the state from a known one and the rows of a snapshot.
  ///
  /// - Parameters:
  ///   - scopes: The scopes that may have changed; all scopes after a change of epoch.
  ///   - changes: The changes of the feed, at most `RecentChanges.count + 1`.
  ///   - reach: The reach of all epochs; empty if the epoch is unchanged.
  fileprivate init(
    after known: FeedSnapshot?, feed: PostgresRow, scopes rows: PostgresRows, changes: PostgresRows, reach: PostgresRows
  ) throws {
    let epoch: String = try feed.decode("epoch")
    let base = known?.epoch == epoch ? known : nil
    let version: Int = try feed.decode("version")
    var scopes = base?.scopes ?? [:]
    for row in rows {
      scopes[try row.decode("scope")] = ScopeState(
        version: try row.decode("version"), floor: try row.decode("floor"), shiftedAt: try row.decode("shifted_at"))
    }
    var recent = base?.recent ?? RecentChanges(after: version)
    // A removal that was purged before it was read here is missing from the changes, but has raised a floor.
    let isPurged = base.map { base in scopes.values.contains { $0.floor > base.version } } ?? false
    if isPurged || changes.count > RecentChanges.count {
      recent = RecentChanges(after: version)
    } else {
      recent.add(try changes.map { try RecentChanges.Change(row: $0) })
    }
    var reached = base?.reach ?? [:]
    for row in reach { reached[try row.decode("id")] = try row.decode("reach", as: Int?.self) }
    self.init(
      feedVersion: FeedVersion(epoch: epoch, version: version, topicsRevision: try feed.decode("topics")),
      scopes: scopes,
      reach: reached, recent: recent)
  }
}

extension FeedSnapshot.RecentChanges.Change {
  fileprivate init(row: PostgresRow) throws {
    let topics = try row.decode("topics", as: [String].self)
    let versions = try row.decode("versions", as: [Int].self)
    self.init(
      item: try row.decode("item"), version: try row.decode("version"),
      topics: Dictionary(zip(topics, versions)) { max($0, $1) })
  }
}
