public import Foundation
import News
import PostgresClient

/// Why readers no longer get a file.
public enum MediaWithdrawal: String, Sendable, Equatable {
  /// Only retracted items use it, or used it last.
  case retracted
  /// Only expired items use it, or used it last.
  case expired
  /// An editor has removed it, by itself or with the item that used it.
  case removed
}

extension NewsStore {
  /// Removes a file from everything but published items, which keep theirs. Its address answers 410 from then on, and an
  /// upload of the same content gets another address.
  ///
  /// Doing so again changes nothing.
  ///
  /// - Returns: The digest of the content that now has one address less; nil for a file that was removed before.
  /// - Throws: `StoreError.notFound`, `mediaInUse`, `outcomeUnknown`.
  public func removeMedia(_ id: UUID) async throws -> Data? {
    try await database.transaction { transaction in
      let files = try await transaction.query("SELECT sha256 FROM media WHERE id = \(id) FOR UPDATE")
      guard let file = files.first else {
        let gone = try await transaction.query("SELECT 1 FROM withdrawn_media WHERE media = \(id)")
        guard !gone.isEmpty else { throw StoreError.notFound }
        return nil
      }
      // The row is locked: a writer that begins to use the file waits, and all others have committed.
      let uses = try await transaction.query(
        "SELECT item FROM media_publications WHERE media = \(id) ORDER BY item DESC LIMIT \(Self.largestUseList)")
      guard uses.isEmpty else { throw StoreError.mediaInUse(try uses.map { try $0.decode("item") }) }
      _ = try await transaction.pipeline([
        "DELETE FROM media_uses WHERE media = \(id)", "DELETE FROM media WHERE id = \(id)",
        """
        INSERT INTO withdrawn_media (media, reason) VALUES (\(id), 'removed')
        ON CONFLICT (media) DO UPDATE SET reason = 'removed'
        """,
      ])
      return try file.decode("sha256")
    }
  }

  /// Removes the texts of a retracted item for good, and the files that no other item uses. What stays is its id, dates,
  /// topics and state: followers go on to remove it, its address to answer 410, and imports to skip it.
  ///
  /// Doing so again changes nothing but the reason, if there is one.
  ///
  /// - Parameters:
  ///   - reason: The explanation that the item's public address shows from now on; nil for none.
  ///   - precondition: What must be there; `.none` erases any revision.
  /// - Returns: The digests of the contents that now have one address less.
  /// - Throws: `StoreError.notFound`, `notRetracted`, `preconditionFailed`, `outcomeUnknown`.
  public func erase(_ id: UUID, reason: String?, if precondition: WritePrecondition) async throws -> [Data] {
    try await database.transaction { transaction in
      let rows = try await transaction.query(
        "SELECT state, revision, erased_at IS NOT NULL AS erased FROM items WHERE id = \(id) FOR NO KEY UPDATE")
      guard let row = rows.first else { throw StoreError.notFound }
      guard ["retracted", "expired"].contains(try row.decode("state", as: String.self)) else {
        throw StoreError.notRetracted
      }
      if precondition != .none { try precondition.check(revision: try row.decode("revision")) }
      if try row.decode("erased"), reason == nil { return [] }
      let answers = try await transaction.pipeline([
        "SELECT media FROM media_uses WHERE item = \(id)",
        """
        UPDATE items SET title = NULL, summary = NULL, text = '', html = NULL, url = NULL, author = NULL,
          language = NULL, breaking = false, attachments = '[]', retraction_reason = \(reason), source = NULL,
          source_guid = NULL, source_digest = NULL, erased_at = coalesce(erased_at, clock_timestamp())
        WHERE id = \(id)
        """,
        // The log has the fields that lists filter by, and a digest by which somebody could recognise the texts.
        """
        UPDATE change_log AS l SET author = NULL, language = NULL, digest = i.digest
        FROM items AS i WHERE i.id = \(id) AND l.item = i.id AND NOT l.present
        """,
      ])
      let files = try answers[0].map { try $0.decode("media", as: UUID.self) }
      return files.isEmpty ? [] : try await Self.removeUnused(files, in: transaction)
    }
  }

  /// Removes those of the files that no item uses any more.
  ///
  /// - Returns: Their digests.
  private static func removeUnused(_ files: [UUID], in transaction: PostgresTransaction) async throws -> [Data] {
    let answers = try await transaction.pipeline([
      // Once the rows are locked, nobody can begin to use the files, and earlier uses are visible to the next statement.
      "SELECT 1 FROM media WHERE id = ANY (\(files)) ORDER BY id FOR UPDATE",
      """
      WITH removed AS (
        DELETE FROM media AS m
          WHERE m.id = ANY (\(files)) AND NOT EXISTS (SELECT 1 FROM media_uses AS u WHERE u.media = m.id)
          RETURNING m.id, m.sha256
      ), noted AS (
        INSERT INTO withdrawn_media (media, reason) SELECT id, 'removed' FROM removed
          ON CONFLICT (media) DO UPDATE SET reason = 'removed'
      )
      SELECT sha256 FROM removed
      """,
    ])
    return try answers[1].map { try $0.decode("sha256") }
  }

  /// The most items that an error names.
  private static let largestUseList = 10
}
