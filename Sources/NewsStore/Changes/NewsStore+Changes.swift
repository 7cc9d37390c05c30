import Foundation
public import News
import PostgresClient

/// Which changes are wanted.
public struct ChangeQuery: Sendable, Equatable {
  /// What is followed.
  public var scope: Scope
  /// What the client has; nil asks for the snapshot.
  public var since: SyncToken?
  /// 1 or more.
  public var limit: Int
  /// Whether `html` is read.
  public var includesHTML: Bool

  /// A query; without arguments the snapshot of the feed.
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
  /// Reads what happened in a scope after a token, in the order of versions, each item once with its last change.
  ///
  /// Without a token it is the snapshot, which is the delta from 0 with puts only up to the version at which it began
  /// and ordinary changes after that; its pages are continued with a token that says where it began.
  ///
  /// - Throws: `StoreError.unknownTopics`; `tokenExpired`.
  public func changes(_ query: ChangeQuery) async throws -> ChangeList { try await delta(query).changes }

  /// The same, with the moment of the snapshot.
  public func delta(_ query: ChangeQuery) async throws -> (changes: ChangeList, moment: Moment) {
    if let since = query.since, !since.isPartial {
      // Nearly every call ends here.
      let head = try await head(query.scope, since: since)
      if since.version == head.version {
        return (ChangeList(changes: [], more: false, snapshot: nil, token: head.token), head.moment)
      }
    }
    let span = ChangeSpan(query.since)
    let (head, rows) = try await read(query.scope, since: query.since, Self.deltaQuery(query, span))
    if let since = query.since { try head.check(since: since) }
    return (try Self.changeList(query, span, head, rows), head.moment)
  }

  /// Names the token after a page: the last version it holds, or the end of what was looked at, or the present.
  private static func changeList(
    _ query: ChangeQuery, _ span: ChangeSpan, _ head: ScopeHead, _ rows: PostgresRows
  ) throws -> ChangeList {
    let page = try PageBudget.cut(rows, limit: query.limit) { row in
      (version: try row.decode("version", as: Int.self), change: try Change(row: row))
    }
    let horizon: Int? = try rows.first?.decode("horizon")
    let reached = page.isCut ? page.elements.last?.version : horizon
    let position = reached ?? head.version
    let more = position < head.version
    let isSnapshot = span.start != nil
    let continuation =
      isSnapshot && more
      ? SyncToken(
        epoch: head.epoch, scope: head.scope, version: query.since?.version ?? head.version, position: position)
      : SyncToken(epoch: head.epoch, scope: head.scope, version: position, isPartial: more)
    return ChangeList(
      changes: page.elements.compactMap(\.change), more: more, snapshot: isSnapshot ? true : nil, token: continuation)
  }

  /// Takes up to limit + 1 rows from the log of each scope. Where one of them has more, nothing beyond what was seen
  /// of it counts (the horizon); the horizon comes in a row of its own if no change is left before it.
  private static func deltaQuery(_ query: ChangeQuery, _ span: ChangeSpan) -> PostgresQuery {
    // In one scope an item has one row.
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

/// Where a delta begins.
private struct ChangeSpan {
  /// The version it begins behind.
  let after: Int
  /// The version up to which removals are left out, because the client has nothing to remove; nil in deltas.
  let start: Int?

  init(_ since: SyncToken?) {
    after = since.map { $0.position ?? $0.version } ?? 0
    // The first page is one snapshot: all there is then is before its start.
    start = since == nil ? SyncToken.maximumVersion : since?.position == nil ? nil : since?.version
  }
}

extension Change {
  /// - Returns: nil for the row that has nothing but the horizon.
  fileprivate init?(row: PostgresRow) throws {
    guard let id = try row.decode("item", as: UUID?.self) else { return nil }
    if try row.decode("present") {
      self = .put(try NewsItem(row: row))
    } else {
      self = .remove(id: id, reason: RemovalReason(rawValue: try row.decode("reason")))
    }
  }
}
