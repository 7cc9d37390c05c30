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

/// The title of an item, for links to it.
public struct ItemTitle: Sendable, Equatable {
  /// The title; nil without one.
  public let title: String?
  /// The beginning of the text of an item without a title, at most 300 characters.
  public let text: String
  /// The language of the item, a BCP 47 tag.
  public let language: String?
}

extension NewsStore {
  /// Reads the titles of items in any state.
  ///
  /// - Parameter access: The access of the reader.
  /// - Returns: The titles by id. Items that do not exist, or that the reader has no access to, are missing.
  /// - Throws: `StoreError.unavailable`.
  public func itemTitles(of ids: [UUID], for access: ItemAccess) async throws -> [UUID: ItemTitle] {
    guard !ids.isEmpty else { return [:] }
    // A plan for any topics would look up all items with the topics.
    let rows = try await database.snapshot([
      Self.listSettings,
      """
      SELECT i.id, i.title, CASE WHEN i.title IS NULL THEN left(i.text, 300) ELSE '' END AS text, i.language
      FROM items AS i WHERE i.id = ANY(\(ids)) AND \(query: access.condition)
      """,
    ])[1]
    let titles = try rows.map { row -> (UUID, ItemTitle) in
      (
        try row.decode("id"),
        ItemTitle(
          title: try row.decode("title"), text: try row.decode("text"), language: try row.decode("language"))
      )
    }
    return Dictionary(uniqueKeysWithValues: titles)
  }

  /// Reads a page of files, newest first by their ids.
  ///
  /// - Returns: The files, and the last of them if further ones follow.
  public func editorialMedia(_ query: MediaQuery) async throws -> (files: [UsedMedia], next: UUID?) {
    let rows = try await database.snapshot([
      Self.listSettings,
      """
      SELECT \(query: Self.mediaColumns),
        ARRAY(\(query: Self.uses(query.access)) ORDER BY u.item DESC LIMIT 10) AS uses,
        EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = m.id) AS is_public
      FROM (\(query: Self.found(query))) AS m ORDER BY m.id DESC LIMIT \(query.limit + 1)
      """,
    ])[1]
    let files = try rows.prefix(query.limit).map { row in
      UsedMedia(media: try Media(row: row), uses: try row.decode("uses"), isPublic: try row.decode("is_public"))
    }
    return (files, files.count < rows.count ? files.last?.media.id : nil)
  }

  /// Selects the files of a page and one more. The used and the unused ones are selected separately, because PostgreSQL
  /// would look at all uses for a condition about both.
  private static func found(_ query: MediaQuery) -> PostgresQuery {
    func newest(_ condition: PostgresQuery) -> PostgresQuery {
      let start: PostgresQuery = query.after.map { "AND m.id < \($0)" } ?? ""
      return """
        (SELECT m.* FROM media AS m WHERE \(query: condition) \(query: start)
          ORDER BY m.id DESC LIMIT \(query.limit + 1))
        """
    }
    let used: PostgresQuery = "EXISTS (\(query: uses(query.access)))"
    switch query.isUsed {
    case true?: return newest(used)
    case false?: return newest("NOT \(query: isUsed)")
    case nil where query.access.topics == nil: return newest("true")
    case nil: return "\(query: newest(used)) UNION ALL \(query: newest("NOT \(query: isUsed)"))"
    }
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
