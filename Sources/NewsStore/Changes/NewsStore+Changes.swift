public import Foundation
public import News
import PostgresClient

/// A request for the changes of a scope.
public struct ChangeQuery: Sendable, Hashable {
  /// The scope whose changes are read.
  public var scope: Scope
  /// The client's token; nil requests the snapshot.
  public var since: SyncToken?
  /// The maximum number of changes, 1 or more.
  public var limit: Int
  /// Whether `html` is read.
  public var includesHTML: Bool

  /// Creates a query. The default is the snapshot of the feed.
  public init(
    scope: Scope = .feed, since: SyncToken? = nil, limit: Int = 200, includesHTML: Bool = false
  ) {
    self.scope = scope
    self.since = since
    self.limit = limit
    self.includesHTML = includesHTML
  }
}

/// A page of changes. It has no contents, which `NewsStore.fragments` returns.
public struct ChangePage: Sendable {
  /// A change of an item.
  public enum Change: Sendable, Hashable {
    /// The item is in the scope at this version.
    case put(ItemVersion)
    /// The item has left the scope.
    case remove(id: UUID, reason: RemovalReason)
  }

  /// The changes in version order.
  public let changes: [Change]
  /// Whether `token` already leads to a further page.
  public let more: Bool
  /// Whether the page belongs to a snapshot.
  public let isSnapshot: Bool
  /// The token after the page.
  public let token: SyncToken
  /// The epoch and version of the database snapshot.
  public let feedVersion: FeedVersion
}

extension NewsStore {
  /// Reads the changes of a scope after a token, in version order. Each item appears once, with its last change.
  ///
  /// Without a token the result is the snapshot. It has only puts up to the version at which it began, and ordinary
  /// changes after that. The token that continues it includes that start version.
  ///
  /// - Throws: `StoreError.unknownTopics`; `tokenExpired`.
  public func changes(_ query: ChangeQuery) async throws -> ChangePage {
    let span = ChangeSpan(query.since)
    let found = try await read(query.scope, since: query.since, order: "c.version", Self.deltaQuery(query, span))
    // The database may have purged changes since the state in memory.
    if let since = query.since { try found.scope.check(since: since) }
    return try ChangePage(query, span, found)
  }

  /// Selects up to limit + 1 rows from the log of each scope.
  ///
  /// If one of several scopes has more rows, the last one read of it limits the result: the horizon. If no change is
  /// left before the horizon, it is returned in a row of its own.
  private static func deltaQuery(_ query: ChangeQuery, _ span: ChangeSpan) -> PostgresQuery {
    let names = query.scope.names
    let scope: PostgresQuery = names.count == 1 ? "\(names[0])" : "s.scope"
    let walk: PostgresQuery = """
      SELECT \(query: ItemVersion.columns), c.present, c.reason FROM change_log AS c
      WHERE c.scope = \(query: scope) AND c.version > \(span.after)
        AND (c.present OR c.version > \(span.start ?? 0))
      ORDER BY c.version LIMIT \(query.limit + 1)
      """
    // The log of one scope has one row for each item.
    guard names.count > 1 else { return "SELECT w.*, NULL::bigint AS horizon FROM (\(query: walk)) AS w" }
    return """
      WITH taken AS (
        SELECT s.scope, c.* FROM unnest(\(names)) AS s (scope) CROSS JOIN LATERAL (\(query: walk)) AS c
      ), edge AS (
        SELECT min(last) AS horizon FROM (
          SELECT max(version) AS last FROM taken GROUP BY scope HAVING count(*) > \(query.limit)
        ) AS full_scopes
      ), page AS (
        SELECT DISTINCT ON (t.version) t.*
        FROM taken AS t, edge
        WHERE t.version <= coalesce(edge.horizon, t.version)
          AND NOT EXISTS (
            SELECT 1 FROM change_log AS later
            WHERE later.item = t.item AND later.scope = ANY (\(names)) AND later.version > t.version)
        ORDER BY t.version, t.present DESC, t.reason LIMIT \(query.limit + 1)
      )
      SELECT c.item, coalesce(c.version, edge.horizon) AS version, c.date, c.updated, c.digest, c.size, c.html_size,
        c.present, c.reason, edge.horizon
      FROM edge LEFT JOIN page AS c ON true
      WHERE c.item IS NOT NULL OR edge.horizon IS NOT NULL
      """
  }
}

extension FeedSnapshot {
  /// Returns the changes after a token from memory: none, if it is the current one; nil if the database must be read.
  public func changes(_ query: ChangeQuery) -> ChangePage? {
    guard let since = query.since, isNewest(since, in: query.scope), let token = token(of: query.scope) else {
      return nil
    }
    return ChangePage(changes: [], more: false, isSnapshot: false, token: token, feedVersion: feedVersion)
  }
}

/// The start of a delta.
private struct ChangeSpan {
  /// The version after which the changes begin.
  let after: Int
  /// The version up to which removals are omitted, because the client has nothing to remove; nil in deltas.
  let start: Int?

  init(_ since: SyncToken?) {
    after = since.map { $0.position ?? $0.version } ?? 0
    // The first page is one snapshot, so all of its rows precede the start version.
    start = since == nil ? SyncToken.maximumVersion : since?.position == nil ? nil : since?.version
  }
}

extension ChangePage {
  /// Determines the token after a page. Its version is that of the page's last row, the horizon, or the current
  /// version.
  fileprivate init(_ query: ChangeQuery, _ span: ChangeSpan, _ found: ScopedRows) throws {
    let scope = found.scope
    let rows = try found.rows.map(LoggedChange.init)
    let count = PageBudget.count(rows, limit: query.limit) { $0.maximumBytes(html: query.includesHTML) }
    let horizon: Int? = try found.rows.first?.decode("horizon")
    let position = (count < rows.count ? rows[count - 1].version : horizon) ?? scope.version
    more = position < scope.version
    isSnapshot = span.start != nil
    token =
      isSnapshot && more
      ? SyncToken(
        epoch: scope.epoch, scope: scope.scope, version: query.since?.version ?? scope.version, position: position)
      : SyncToken(epoch: scope.epoch, scope: scope.scope, version: position, isPartial: more)
    changes = rows.prefix(count).compactMap(\.change)
    feedVersion = scope.feedVersion
  }
}

/// A row of a delta.
private struct LoggedChange {
  let version: Int
  /// The change; nil in the row that has only the horizon.
  let change: ChangePage.Change?

  /// The upper bound for a removal as JSON in bytes.
  private static let maximumRemovalBytes = 200

  init(_ row: PostgresRow) throws {
    version = try row.decode("version")
    guard let id = try row.decode("item", as: UUID?.self) else {
      change = nil
      return
    }
    change =
      try row.decode("present")
      ? .put(try ItemVersion(row: row, at: 1))
      : .remove(id: id, reason: RemovalReason(rawValue: try row.decode("reason")))
  }

  func maximumBytes(html: Bool) -> Int {
    if case .put(let item) = change { item.maximumBytes(html: html) } else { Self.maximumRemovalBytes }
  }
}
