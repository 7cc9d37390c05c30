public import Foundation
import News
import PostgresClient

/// The metadata of a stored file.
public struct Media: Sendable, Equatable {
  /// The UUIDv7 that the server assigned at the first upload. The content of an id never changes, but the file can be
  /// withdrawn.
  ///
  /// The id is not derived from the content. Otherwise anyone with a copy of a file could compute its address, and
  /// learn before publication that the newsroom has it.
  public var id: UUID
  /// The SHA-256 digest of the content, 32 bytes.
  public var digest: Data
  /// The media type, without parameters.
  public var type: String
  /// The size in bytes, 1 or more.
  public var bytes: Int
  /// The width in pixels; nil if unknown.
  public var width: Int?
  /// The height in pixels; nil if unknown.
  public var height: Int?
  /// The suggested file name for downloads, at most 255 bytes.
  public var name: String?
  /// The time of the first upload, by the database clock.
  public var created: Date

  /// Creates metadata without validation.
  public init(
    id: UUID, digest: Data, type: String, bytes: Int, width: Int? = nil, height: Int? = nil, name: String? = nil,
    created: Date = .distantPast
  ) {
    self.id = id
    self.digest = digest
    self.type = type
    self.bytes = bytes
    self.width = width
    self.height = height
    self.name = name
    self.created = created
  }
}

extension NewsStore {
  /// The columns that `Media.init(row:)` reads.
  static let mediaColumns: PostgresQuery = "id, sha256, type, bytes, width, height, name, created_at"

  /// Reads the metadata of a file that is available to readers: a published item uses it.
  ///
  /// - Throws: `StoreError.notFound`, also for a file that only items use that were never public; `mediaWithdrawn`.
  public func media(_ id: UUID) async throws -> Media {
    let answers = try await database.snapshot([
      // The file of an item that was never public must not reveal that there was one.
      """
      SELECT w.reason FROM withdrawn_media AS w
      WHERE w.media = \(id) AND (w.reason = 'removed' OR EXISTS (
        SELECT 1 FROM media_uses AS u
        WHERE u.media = \(id) AND (
          EXISTS (SELECT 1 FROM change_log AS c WHERE c.scope = '' AND c.item = u.item)
          OR EXISTS (SELECT 1 FROM gone_items AS g WHERE g.item = u.item))))
      """,
      """
      SELECT \(query: Self.mediaColumns) FROM media
      WHERE id = \(id) AND EXISTS (SELECT 1 FROM media_publications AS p WHERE p.media = \(id))
      """,
    ])
    if let reason = try answers[0].first?.decode("reason", as: String.self) {
      throw StoreError.mediaWithdrawn(MediaWithdrawal(rawValue: reason) ?? .removed)
    }
    return try Media(row: answers[1].found())
  }

  /// Reads the metadata of a file, whether or not an item uses it.
  ///
  /// - Parameter access: The access of the reader to the items that use the file.
  /// - Throws: `StoreError.notFound`, also for a file of other items only.
  public func editorialMedia(_ id: UUID, for access: ItemAccess = .full) async throws -> Media {
    let rows = try await database.query(
      """
      SELECT \(query: Self.mediaColumns) FROM media AS m WHERE id = \(id) AND \(query: Self.mediaCondition(access))
      """)
    return try Media(row: rows.found())
  }

  /// Registers a file. Content that already exists with the same type keeps the id and name of its first upload.
  ///
  /// - Parameters:
  ///   - media: The metadata. Its id is used only if the file is new.
  ///   - isStored: Whether the storage has the bytes already. Otherwise a row of `media_removals` is committed first,
  ///     so that the bytes are removed a day later if the process ends before they are registered.
  ///   - once: The request, if it may be repeated.
  ///   - upload: The id of the upload that is complete with the file; nil for a file that has arrived in one request.
  ///   - publish: Moves the bytes into place. No file is removed while it runs. It may run again after a deadlock.
  /// - Returns: The registered file, and whether this call has registered it.
  /// - Throws: `StoreError.outcomeUnknown`, `notFound` if the upload was removed, and the errors of `publish`; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  public func registerMedia(
    _ media: Media, isStored: Bool = false, once: RepeatableWrite<(media: Media, created: Bool)>? = nil,
    completing upload: UUID? = nil, publishing publish: @Sendable () async throws -> Void
  ) async throws -> (media: Media, created: Bool) {
    if !isStored {
      _ = try await database.query(
        """
        INSERT INTO media_removals (media, sha256, due_at)
        VALUES (\(media.id), \(media.digest), clock_timestamp() + interval '1 day')
        """)
    }
    return try await transaction(once) { transaction in
      _ = try await transaction.query("SELECT pg_advisory_xact_lock_shared(\(Self.mediaLock))")
      try await publish()
      let rows = try await transaction.query(
        """
        INSERT INTO media AS m (id, sha256, type, bytes, width, height, name)
        VALUES (\(media.id), \(media.digest), \(media.type), \(media.bytes), \(media.width), \(media.height),
          \(media.name))
        ON CONFLICT (sha256, type) DO UPDATE SET used_at = clock_timestamp()
        RETURNING \(query: Self.mediaColumns)
        """)
      guard let row = rows.first else { throw StoreFault("a file is gone right after it was written") }
      let written = try Media(row: row)
      if !isStored { _ = try await transaction.query("DELETE FROM media_removals WHERE media = \(media.id)") }
      if let upload { try await Self.complete(upload, with: written, in: transaction) }
      return (media: written, created: written.id == media.id)
    }
  }

  /// Unregisters files that no item in any state has used for a time. `removeDueMedia(among:_:)` then removes their bytes.
  ///
  /// - Returns: The number of unregistered files.
  public func forgetUnusedMedia(for age: Duration) async throws -> Int {
    try await forget("SELECT forget_media(make_interval(secs => \(age / .seconds(1)))) AS forgotten")
  }

  /// The key of an advisory lock: shared while files are moved into place, exclusive while files are removed or a folder
  /// is adopted.
  static let mediaLock = 7_161_720_914_258
}

extension Media {
  init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), digest: try row.decode("sha256"), type: try row.decode("type"),
      bytes: try row.decode("bytes"), width: try row.decode("width"), height: try row.decode("height"),
      name: try row.decode("name"), created: try row.decode("created_at"))
  }
}

extension Data {
  /// The bytes in hexadecimal, for arrays of digests in queries.
  var hexadecimal: String {
    map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
