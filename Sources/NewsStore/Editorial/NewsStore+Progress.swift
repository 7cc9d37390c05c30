import PostgresClient

/// The steps that a new newsroom has taken.
public struct NewsroomProgress: Sendable, Equatable {
  /// Whether an item is or was public.
  public var hasPublished: Bool
  /// Whether there are items that have not been published, as far as the reader has access to them.
  public var hasDrafts: Bool
  /// Whether an external feed is followed, or items were imported.
  public var hasSources: Bool
}

extension NewsStore {
  /// Whether an item is or was public.
  ///
  /// - Throws: `StoreError.unavailable`.
  public func hasPublished() async throws -> Bool {
    let rows = try await database.query("SELECT \(query: Self.hasPublished) AS has_published")
    return try rows.first?.decode("has_published") ?? false
  }

  private static let hasPublished: PostgresQuery =
    "EXISTS (SELECT FROM items AS i WHERE i.state IN ('published', 'retracted', 'expired'))"

  /// Reads the steps that the newsroom has taken.
  ///
  /// - Parameter access: The access of the reader.
  /// - Throws: `StoreError.unavailable`.
  public func progress(for access: ItemAccess) async throws -> NewsroomProgress {
    let rows = try await database.query(
      """
      SELECT \(query: Self.hasPublished) AS has_published,
        EXISTS (SELECT FROM items AS i WHERE i.state IN ('draft', 'review', 'scheduled') AND \(query: access.condition))
          AS has_drafts,
        EXISTS (SELECT FROM subscriptions) OR EXISTS (SELECT FROM items AS i WHERE i.source IS NOT NULL) AS has_sources
      """)
    guard let row = rows.first else { throw StoreFault("the steps of the newsroom are missing") }
    return NewsroomProgress(
      hasPublished: try row.decode("has_published"), hasDrafts: try row.decode("has_drafts"),
      hasSources: try row.decode("has_sources"))
  }
}
