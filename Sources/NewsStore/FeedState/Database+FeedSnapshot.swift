import Foundation
import Logging
import News
import PostgresClient

/// The arguments of a read of the state.
package struct StateRequest: Sendable {
  /// The state in memory; nil at the first read.
  package var known: FeedSnapshot?
  /// The scopes whose windows are to be loaded.
  package var windows: Set<String>
  /// The scopes whose windows make room for them.
  var evicted: Set<String>

  /// - Parameter wanted: The scopes whose windows readers want. That of the feed is always loaded.
  package init(after known: FeedSnapshot?, wanting wanted: Set<String>) {
    self.known = known
    let present = known?.windows ?? [:]
    let missing = wanted.filter { present[$0] == nil }.sorted()
    let excess = present.count + missing.count - Window.maximumCount
    evicted = known?.windowUses.unused(among: present.keys, count: excess) ?? []
    windows = Set(missing.prefix(max(0, Window.maximumCount - present.count + evicted.count)))
    if present[""] == nil { windows.insert("") }
  }
}

/// A state, and the items that have changed since an earlier one.
struct StateAnswer: Sendable {
  let state: FeedSnapshot
  /// The changed items that are present, in version order; empty if there are too many, or all may have changed.
  let changed: [ItemVersion]
}

extension Database {
  /// An expression for the id of the current epoch.
  static let currentEpoch: PostgresQuery = "(SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1)"

  /// Reads the current state in one snapshot, or only the changes since a known one. If the database is no longer in
  /// the history in which the epoch began, a new epoch begins.
  ///
  /// Only the log and the scopes are read, so that no lock or load of items delays the state.
  func state(_ request: StateRequest, epochGuard: EpochGuard, logger: Logger) async throws -> StateAnswer {
    while true {
      let began = ContinuousClock.now
      let (answer, fits) = try await readState(request)
      if !fits {
        try await withConnection { connection in try await epochGuard.confirm(through: connection, logger: logger) }
      } else if try await epochGuard.confirm(
        epoch: answer.state.epoch, version: answer.state.version, readAfter: began, through: self, logger: logger)
      {
        return answer
      }
    }
  }

  private func readState(_ request: StateRequest) async throws -> (answer: StateAnswer, fits: Bool) {
    let known = request.known
    let (epoch, version) = (known?.epoch, known?.version ?? -1)
    let answers = try await snapshot([
      """
      SELECT e.id AS epoch, s.version, s.floor, topics_revision() AS topics, epoch_fits() AS fits,
        clock_timestamp() AS now
      FROM (SELECT * FROM epochs ORDER BY number DESC LIMIT 1) AS e, scopes AS s WHERE s.scope = ''
      """,
      // A purge changes nothing but floors.
      """
      SELECT s.scope, s.version, s.floor, s.shifted_at FROM scopes AS s
      WHERE s.version > \(version)
        OR \(query: Database.currentEpoch) IS DISTINCT FROM \(epoch)
        OR (SELECT topics_revision()) IS DISTINCT FROM \(known?.feedVersion.topicsRevision)
        OR (SELECT sum(f.floor)::bigint FROM scopes AS f) IS DISTINCT FROM \(known?.floors)
      """,
      LoggedItem.query(
        of: """
          SELECT l.* FROM change_log AS l
          WHERE l.scope = '' AND l.version > \(version) AND \(query: Self.isEpoch(epoch))
          ORDER BY l.version LIMIT \(FeedSnapshot.RecentChanges.count + 1)
          """,
        topicsAfter: "\(version)"),
      """
      SELECT e.id, epoch_reach(e.id) AS reach FROM epochs AS e WHERE NOT \(query: Self.isEpoch(epoch))
      """,
      """
      SELECT w.scope AS window_scope, c.* FROM unnest(\(Array(request.windows))) AS w (scope) CROSS JOIN LATERAL (
        SELECT \(query: Window.Entry.columns) FROM change_log AS c WHERE c.scope = w.scope AND c.present
        ORDER BY c.date DESC, c.item DESC LIMIT \(Window.size)
      ) AS c
      """,
    ])
    guard let feed = answers[0].first else { throw StoreFault("the row of the feed is missing") }
    let changes = try answers[2].map { try LoggedItem(row: $0) }
    let state = try FeedSnapshot(
      after: known, feed: feed, scopes: answers[1], changes: changes, reach: answers[3],
      windows: try Self.windows(request.windows, answers[4]), evicting: request.evicted)
    let changed = changes.count > FeedSnapshot.RecentChanges.count ? [] : changes.compactMap(\.entry?.item)
    return (StateAnswer(state: state, changed: changed), try feed.decode("fits"))
  }

  /// The condition that the current epoch is a known one.
  private static func isEpoch(_ epoch: String?) -> PostgresQuery {
    "\(query: currentEpoch) IS NOT DISTINCT FROM \(epoch)"
  }

  private static func windows(_ names: Set<String>, _ rows: PostgresRows) throws -> [String: Window] {
    var entries = Dictionary(uniqueKeysWithValues: names.map { ($0, [Window.Entry]()) })
    for row in rows { entries[try row.decode(0), default: []].append(try Window.Entry(row: row, at: 1)) }
    // The order of a subquery is not that of the rows.
    return entries.mapValues { Window($0.sorted { $0.item.position < $1.item.position }) }
  }
}

extension FeedSnapshot {
  /// Creates the state from a known one and the rows of a snapshot.
  ///
  /// - Parameters:
  ///   - scopes: The scopes that may have changed; all scopes after a change of epoch.
  ///   - changes: The changes of the feed, at most `RecentChanges.count + 1`.
  ///   - reach: The reach of all epochs; empty if the epoch is unchanged.
  ///   - windows: Windows as of this snapshot.
  ///   - evicted: The scopes whose windows are removed.
  fileprivate convenience init(
    after known: FeedSnapshot?, feed: PostgresRow, scopes rows: PostgresRows, changes: [LoggedItem],
    reach: PostgresRows, windows loaded: [String: Window], evicting evicted: Set<String>
  ) throws {
    let epoch: String = try feed.decode("epoch")
    let base = known?.epoch == epoch ? known : nil
    let version: Int = try feed.decode("version")
    var scopes = base?.scopes ?? [:]
    for row in rows {
      scopes[try row.decode("scope")] = try ScopeState(row: row)
    }
    var recent = base?.recent ?? RecentChanges(after: version)
    var windows = base?.windows ?? [:]
    // A removal that was purged before it was read here is missing from the changes, but has raised a floor.
    let isPurged = base.map { base in scopes.values.contains { $0.floor > base.version } } ?? false
    if isPurged || changes.count > RecentChanges.count {
      recent = RecentChanges(after: version)
      windows = [:]
    } else {
      recent.add(changes.map(\.change))
      windows = Window.advanced(windows, by: changes)
    }
    windows.merge(loaded) { $1 }
    var reached = base?.reach ?? [:]
    for row in reach { reached[try row.decode("id")] = try row.decode("reach", as: Int?.self) }
    self.init(
      feedVersion: FeedVersion(epoch: epoch, version: version, topicsRevision: try feed.decode("topics")),
      scopes: scopes, reach: reached, recent: recent,
      windows: windows.filter { scopes[$0.key] != nil && !evicted.contains($0.key) },
      windowUses: known?.windowUses ?? WindowUses(), read: DatabaseInstant(try feed.decode("now")))
  }
}
