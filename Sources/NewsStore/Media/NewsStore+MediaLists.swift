public import Foundation
import PostgresClient

/// A page of files, for editors.
public struct MediaQuery: Sendable, Equatable {
  /// Whether items in any state use the files; nil for both.
  public var isUsed: Bool?
  /// The maximum number of files, 1 or more.
  public var limit: Int
  /// The last file of the previous page; nil for the first page.
  public var after: UUID?
  /// The access of the reader, who receives the files of these items only, and files that no item uses.
  public var access: ItemAccess

  /// Creates a query. The default is the first page of all files.
  public init(isUsed: Bool? = nil, limit: Int = 50, after: UUID? = nil, access: ItemAccess = .full) {
    self.isUsed = isUsed
    self.limit = limit
    self.after = after
    self.access = access
  }
}

/// A file and its uses.
public struct UsedMedia: Sendable, Equatable {
  /// The metadata of the file.
  public let media: Media
  /// The ten newest items in any state that use the file and that the reader has access to.
  public let uses: [UUID]
  /// Whether a published item uses the file.
  public let isPublic: Bool
}

extension NewsStore {
  /// Reads a page of files, newest first by their ids.
  ///
  /// - Returns: The files, and the last of them if further ones follow.
  public func editorialMedia(_ query: MediaQuery) async throws -> (files: [UsedMedia], next: UUID?) {
    var conditions = Self.mediaCondition(query.access)
    if let isUsed = query.isUsed { conditions = "\(query: conditions) AND \(query: Self.isUsed) = \(isUsed)" }
    if let after = query.after { conditions = "\(query: conditions) AND m.id < \(after)" }
    let rows = try await database.query(
      """
      SELECT \(query: Self.mediaColumns),
        ARRAY(\(query: Self.uses(query.access)) ORDER BY u.item DESC LIMIT 10) AS uses,
        EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = m.id) AS is_public
      FROM media AS m WHERE \(query: conditions) ORDER BY m.id DESC LIMIT \(query.limit + 1)
      """)
    let files = try rows.prefix(query.limit).map { row in
      UsedMedia(media: try Media(row: row), uses: try row.decode("uses"), isPublic: try row.decode("is_public"))
    }
    return (files, files.count < rows.count ? files.last?.media.id : nil)
  }

  private static let isUsed: PostgresQuery = "EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id)"

  /// Selects the items with access that use a file `m`.
  private static func uses(_ access: ItemAccess) -> PostgresQuery {
    guard access.topics != nil else { return "SELECT u.item FROM media_uses AS u WHERE u.media = m.id" }
    return """
      SELECT u.item FROM media_uses AS u JOIN items AS i ON i.id = u.item
      WHERE u.media = m.id AND \(query: access.condition)
      """
  }

  /// The condition that an editor sees a file `m`: an item with access uses it, or no item does.
  static func mediaCondition(_ access: ItemAccess) -> PostgresQuery {
    guard access.topics != nil else { return "true" }
    return "(NOT \(query: isUsed) OR EXISTS (\(query: uses(access))))"
  }
}
