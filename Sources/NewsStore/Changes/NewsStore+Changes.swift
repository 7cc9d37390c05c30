import Foundation
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

extension NewsStore {
  /// Reads the changes of a scope after a token, in version order. Each item appears once, with its last change.
  ///
  /// Without a token the result is the snapshot. It has only puts up to the version at which it began, and ordinary
  /// changes after that. The token that continues it includes that start version.
  ///
  /// - Throws: `StoreError.unknownTopics`; `tokenExpired`.
  public func changes(_ query: ChangeQuery) async throws -> ChangeList {
    let since = query.since.flatMap { $0.position == nil ? $0 : nil }
    return try await changes(query, in: try await snapshot(in: query.scope, since: since)).changes
  }

  /// Reads the changes of a scope together with the version of the database snapshot. If the client is current, which is
  /// usual, the database is not read.
  ///
  /// - Parameter snapshot: The state of the feed for this request.
  /// - Throws: `StoreError.unknownTopics`; `tokenExpired`.
  public func changes(
    _ query: ChangeQuery, in snapshot: FeedSnapshot
  ) async throws -> (changes: ChangeList, feedVersion: FeedVersion) {
    if let since = query.since, snapshot.isNewest(since, in: query.scope), let token = snapshot.token(of: query.scope) {
      return (ChangeList(changes: [], more: false, snapshot: nil, token: token), snapshot.feedVersion)
    }
    let span = ChangeSpan(query.since)
    let (scope, rows) = try await read(query.scope, since: query.since, Self.deltaQuery(query, span))
    // The database may have purged changes since the snapshot.
    if let since = query.since { try scope.check(since: since) }
    return (try Self.changeList(query, span, scope, rows), scope.feedVersion)
  }

  /// Determines the token after a page. Its version is that of the page's last row, the horizon, or the current
  /// version.
  private static func changeList(
    _ query: ChangeQuery, _ span: ChangeSpan, _ scope: ScopeSnapshot, _ rows: PostgresRows
  ) throws -> ChangeList {
    let page = try PageBudget.cut(rows, limit: query.limit) { row in
      (version: try row.decode("version", as: Int.self), change: try Change(row: row))
    }
    let horizon: Int? = try rows.first?.decode("horizon")
    let reached = page.isCut ? page.elements.last?.version : horizon
    let position = reached ?? scope.version
    let more = position < scope.version
    let isSnapshot = span.start != nil
    let continuation =
      isSnapshot && more
      ? SyncToken(
        epoch: scope.epoch, scope: scope.scope, version: query.since?.version ?? scope.version, position: position)
      : SyncToken(epoch: scope.epoch, scope: scope.scope, version: position, isPartial: more)
    return ChangeList(
      changes: page.elements.compactMap(\.change), more: more, snapshot: isSnapshot ? true : nil, token: continuation)
  }

  /// Selects up to limit + 1 rows from the log of each scope.
  ///
  /// If a scope has more rows, the last one read of it limits the result: the horizon. If no change is left before the
  /// horizon, it is returned in a row of its own.
  private static func deltaQuery(_ query: ChangeQuery, _ span: ChangeSpan) -> PostgresQuery {
    // The log of one scope has one row for each item.
    let isLast: PostgresQuery =
      query.scope.names.count == 1
      ? ""
      : """
      AND NOT EXISTS (
        SELECT 1 FROM change_log AS later
        WHERE later.item = t.item AND later.scope = ANY (\(query.scope.names)) AND later.version > t.version)
      """
    return """
      WITH taken AS (
        SELECT s.scope, l.*
        FROM unnest(\(query.scope.names)) AS s (scope)
          CROSS JOIN LATERAL (
            SELECT c.item, c.version, c.present, c.reason, c.updated FROM change_log AS c
            WHERE c.scope = s.scope AND c.version > \(span.after) AND (c.present OR c.version > \(span.start ?? 0))
            ORDER BY c.version LIMIT \(query.limit + 1)
          ) AS l
      ), edge AS (
        SELECT min(last) AS horizon FROM (
          SELECT max(version) AS last FROM taken GROUP BY scope HAVING count(*) > \(query.limit)
        ) AS full_scopes
      ), page AS (
        SELECT t.version, t.item, bool_or(t.present) AS present, min(t.reason) AS reason, min(t.updated) AS updated
        FROM taken AS t, edge
        WHERE t.version <= coalesce(edge.horizon, t.version) \(query: isLast)
        GROUP BY t.version, t.item
        ORDER BY t.version LIMIT \(query.limit + 1)
      ), weighed AS (
        SELECT page.*, w.ctid AS place, \(query: PageBudget.fits(html: query.includesHTML, order: "page.version")) AS fits
        FROM page LEFT JOIN items AS w ON page.present AND w.id = page.item
      )
      SELECT edge.horizon, l.item, l.present, l.reason, l.fits IS NOT FALSE AS fits,
        coalesce(l.version, edge.horizon) AS version, l.updated, \(query: NewsItem.columns(html: query.includesHTML))
      FROM edge LEFT JOIN weighed AS l ON true LEFT JOIN items AS i ON l.present AND l.fits AND i.ctid = l.place
      WHERE l.item IS NOT NULL OR edge.horizon IS NOT NULL
      ORDER BY l.version
      """
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

extension Change {
  /// - Returns: nil for the row that has only the horizon.
  fileprivate init?(row: PostgresRow) throws {
    guard let id = try row.decode("item", as: UUID?.self) else { return nil }
    if try row.decode("present") {
      self = .put(try NewsItem(row: row))
    } else {
      self = .remove(id: id, reason: RemovalReason(rawValue: try row.decode("reason")))
    }
  }
}
