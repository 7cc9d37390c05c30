public import Foundation
public import News
import PostgresClient

/// The reason why a file is no longer available to readers.
public enum MediaWithdrawal: String, Sendable, Equatable {
  /// No published item uses the file. The last item with the file was retracted.
  case retracted
  /// No published item uses the file. The last item with the file has expired.
  case expired
  /// An editor removed the file, either by itself or together with the item that used it.
  case removed
}

extension NewsStore {
  /// Removes a file that no published item uses. From then on, a request for its address is answered with 410. An
  /// upload of the same content gets another address.
  ///
  /// A repeat has no effect.
  ///
  /// - Parameter access: The rights of the author, who must have access to all items that use the file.
  /// - Returns: The digest of the content that has lost this address; nil if the file was removed before.
  /// - Throws: `StoreError.notFound`, `topicsNotAllowed`, `mediaInUse`, `outcomeUnknown`.
  public func removeMedia(_ id: UUID, access: ItemAccess = .full) async throws -> Data? {
    try await database.transaction { transaction in
      let files = try await transaction.query("SELECT sha256 FROM media WHERE id = \(id) FOR UPDATE")
      guard let file = files.first else {
        let gone = try await transaction.query("SELECT 1 FROM withdrawn_media WHERE media = \(id)")
        guard !gone.isEmpty else { throw StoreError.notFound }
        return nil
      }
      // With the row locked, new users of the file wait, and all earlier ones have committed.
      if access.topics != nil {
        let users = try await transaction.query(
          "SELECT i.topics FROM media_uses AS u JOIN items AS i ON i.id = u.item WHERE u.media = \(id) ORDER BY i.id")
        for row in users { try access.check(try row.decode("topics")) }
      }
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

  /// Erases the texts of a retracted item, and the files that no other item uses, for good.
  ///
  /// Its history and the stored answers that contain it are erased too. The id, the dates, the topics and the state remain. Thus clients that follow the feed still remove the item, a
  /// request for its address is still answered with 410, and imports still skip it. A repeat changes only the reason,
  /// if one is given.
  ///
  /// - Parameters:
  ///   - reason: The new explanation, which readers receive at the item's address; nil for none.
  ///   - precondition: The condition on the current item; `.none` erases any revision.
  ///   - access: The rights of the author.
  ///   - editor: The author, for the history.
  ///   - once: The request, if it may be repeated.
  /// - Returns: The digests of the contents that have lost an address.
  /// - Throws: `StoreError.notFound`, `topicsNotAllowed`, `notRetracted`, `preconditionFailed`, `outcomeUnknown`; with
  ///   `once` also `AnsweredBefore`, `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func erase(
    _ id: UUID, reason: String?, if precondition: WritePrecondition, access: ItemAccess = .full,
    by editor: Editor? = nil, once: RepeatableWrite<[Data]>? = nil
  ) async throws -> [Data] {
    try await transaction(once) { transaction in
      let rows = try await transaction.query(
        "SELECT topics, state, revision, erased_at IS NOT NULL AS erased FROM items WHERE id = \(id) FOR NO KEY UPDATE")
      let row = try rows.found()
      try access.check(try row.decode("topics"))
      guard ["retracted", "expired"].contains(try row.decode("state", as: String.self)) else {
        throw StoreError.notRetracted
      }
      if precondition != .none { try precondition.check(revision: try row.decode("revision")) }
      if try row.decode("erased"), reason == nil { return [] }
      let answers = try await transaction.pipeline([
        "SELECT media FROM media_uses WHERE item = \(id)",
        """
        UPDATE items SET \(unsafeSQL: ItemColumn.erasure), retraction_reason = \(reason), source = NULL,
          source_guid = NULL, source_digest = NULL, erased_at = coalesce(erased_at, clock_timestamp()),
          editor = \(editor?.text), editor_revision = revision + 1
        WHERE id = \(id)
        """,
        // Only the entry of the erasure remains, which has no texts.
        "DELETE FROM item_history AS h USING items AS i WHERE i.id = \(id) AND h.item = i.id AND h.revision < i.revision",
        "SELECT erase_answers(\(id))",
        // The log has the fields that lists filter by, and a digest that would identify the texts.
        """
        UPDATE change_log AS l SET author = NULL, language = NULL, digest = i.digest
        FROM items AS i WHERE i.id = \(id) AND l.item = i.id AND NOT l.present
        """,
      ])
      let files = try answers[0].map { try $0.decode("media", as: UUID.self) }
      return files.isEmpty ? [] : try await Self.removeUnused(files, in: transaction)
    }
  }

  /// Removes the files among `files` that no item uses.
  ///
  /// - Returns: The digests of the removed files.
  private static func removeUnused(_ files: [UUID], in transaction: PostgresTransaction) async throws -> [Data] {
    let answers = try await transaction.pipeline([
      // With the rows locked, no new use can begin, and the next statement sees all earlier ones.
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

  /// The maximum number of items in an error.
  private static let largestUseList = 10
}
