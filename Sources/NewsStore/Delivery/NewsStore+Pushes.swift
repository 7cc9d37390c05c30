public import Foundation
public import News
import PostgresClient

extension NewsStore {
  /// Lists the pushes of the last 30 days, the newest first.
  ///
  /// - Parameters:
  ///   - limit: The maximum number, 1 or more.
  ///   - id: The push after which the list begins; nil for the newest one. After an unknown push, there are none.
  ///   - access: The rights of the reader, who receives the pushes whose items are visible to the reader.
  public func pushes(limit: Int, before id: UUID? = nil, access: ItemAccess = .full) async throws -> [Push] {
    let position: PostgresQuery =
      id.map { "(p.created_at, p.id) < (SELECT o.created_at, o.id FROM pushes AS o WHERE o.id = \($0))" } ?? "true"
    return try await database.query(
      """
      \(query: Self.pushRows) WHERE \(query: position) AND \(query: Self.isVisible(to: access))
      ORDER BY p.created_at DESC, p.id DESC LIMIT \(limit)
      """
    ).map(Push.init(row:))
  }

  /// Reads a push.
  ///
  /// - Parameter access: The rights of the reader.
  /// - Returns: nil if the id is unknown, or if the reader does not see the item.
  public func push(_ id: UUID, access: ItemAccess = .full) async throws -> Push? {
    try await database.query(
      "\(query: Self.pushRows) WHERE p.id = \(id) AND \(query: Self.isVisible(to: access))"
    ).first.map(Push.init(row:))
  }

  /// The condition that a reader sees the item of a push `p`. A deleted item has no topics any more.
  private static func isVisible(to access: ItemAccess) -> PostgresQuery {
    if access.topics == nil { return "true" }
    return "EXISTS (SELECT FROM items AS i WHERE i.id = p.item AND \(query: access.condition))"
  }

  private static let pushRows: PostgresQuery = """
    SELECT p.id, p.kind, p.item, p.content ->> 'title' AS title, p.created_at, p.starts_at, p.fanned_out_at,
      p.cancelled_at, p.audience, coalesce(r.sent, 0) AS sent, coalesce(r.refused, 0) AS refused,
      coalesce(r.gone, 0) AS gone, coalesce(r.dropped, 0) AS dropped, coalesce(r.reports, 0) AS reports,
      coalesce(r.woke, 0) AS woke, coalesce(r.found_news, 0) AS found_news, r.last_sent_at
    FROM pushes AS p LEFT JOIN push_results AS r ON r.push = p.id
    """
}

extension Push {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), kind: try row.value("kind"), item: try row.decode("item"),
      title: try row.decode("title"), created: try row.decode("created_at"), starts: try row.decode("starts_at"),
      finished: try row.decode("fanned_out_at"), cancelled: try row.decode("cancelled_at"),
      audience: try row.decode("audience"), sent: try row.decode("sent"), refused: try row.decode("refused"),
      gone: try row.decode("gone"), dropped: try row.decode("dropped"), reports: try row.decode("reports"),
      woke: try row.decode("woke"), foundNews: try row.decode("found_news"), lastSent: try row.decode("last_sent_at"))
  }
}
