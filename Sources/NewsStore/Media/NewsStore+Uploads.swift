public import Foundation
import PostgresClient

/// An upload that continues over several requests.
public struct MediaUploadState: Sendable, Equatable {
  /// The id, in the path of the upload.
  public var id: UUID
  /// The media type that the sender declares; `application/octet-stream` to detect it.
  public var type: String
  /// The suggested file name for downloads, at most 255 bytes.
  public var name: String?
  /// The SHA-256 digest that the sender declares, 32 bytes.
  public var digest: Data?
  /// The number of bytes that the sender declares, 1 or more.
  public var length: Int?
  /// The number of bytes that are on disk.
  public var received = 0
  /// The registered file; nil until the upload is complete.
  public var media: UUID?

  /// Creates the state of a new upload.
  public init(id: UUID, type: String, name: String?, digest: Data?, length: Int?) {
    (self.id, self.type, self.name, self.digest, self.length) = (id, type, name, digest, length)
  }
}

/// The limits of the unfinished uploads of a key.
public struct MediaUploadLimits: Sendable, Equatable {
  /// The maximum number of uploads.
  public var uploads: Int
  /// The maximum number of bytes, declared ones included.
  public var bytes: Int
  /// The number of bytes that an upload without a declared length counts as.
  public var undeclaredBytes: Int
  /// The time in seconds after the last progress at which an upload expires.
  public var lifetime: Double

  /// Creates limits.
  public init(uploads: Int, bytes: Int, undeclaredBytes: Int, lifetime: Double) {
    (self.uploads, self.bytes) = (uploads, bytes)
    (self.undeclaredBytes, self.lifetime) = (undeclaredBytes, lifetime)
  }
}

extension NewsStore {
  private static let uploadColumns: PostgresQuery = "u.id, u.type, u.name, u.sha256, u.length, u.received, u.media"

  /// Begins an upload.
  ///
  /// - Parameters:
  ///   - key: The id of the API key, which alone may continue the upload.
  ///   - once: The request, if it may be repeated.
  /// - Throws: `StoreError.uploadLimit`, `outcomeUnknown`; with `once` also `AnsweredBefore`, `requestInProgress`,
  ///   `idempotencyKeyReused`, `answerErased`.
  public func beginUpload(
    _ upload: MediaUploadState, by key: String, _ limits: MediaUploadLimits,
    once: RepeatableWrite<MediaUploadState>? = nil
  ) async throws -> MediaUploadState {
    try await transaction(once) { transaction in
      // The lock serialises the uploads of a key that begin at the same time.
      let answers = try await transaction.pipeline([
        "SELECT 1 FROM api_keys AS k WHERE k.id = \(key) FOR NO KEY UPDATE",
        """
        SELECT count(*) AS count,
          coalesce(sum(coalesce(u.length, greatest(u.received, \(limits.undeclaredBytes)))), 0)::bigint AS bytes
        FROM media_uploads AS u
        WHERE u.api_key = \(key) AND u.media IS NULL AND u.expires_at > clock_timestamp()
        """,
      ])
      guard let row = answers[1].first else { throw StoreFault("a count has no row") }
      let bytes: Int = try row.decode("bytes")
      guard try row.decode("count", as: Int.self) < limits.uploads,
        bytes + (upload.length ?? limits.undeclaredBytes) <= limits.bytes
      else { throw StoreError.uploadLimit }
      _ = try await transaction.query(
        """
        INSERT INTO media_uploads (id, api_key, type, name, sha256, length, expires_at)
        VALUES (\(upload.id), \(key), \(upload.type), \(upload.name), \(upload.digest), \(upload.length),
          clock_timestamp() + make_interval(secs => \(limits.lifetime)))
        """)
      return upload
    }
  }

  /// Reads an upload of a key.
  ///
  /// - Throws: `StoreError.notFound`, also for an upload of another key and an expired one.
  public func upload(_ id: UUID, of key: String) async throws -> MediaUploadState {
    let rows = try await database.query(
      """
      SELECT \(query: Self.uploadColumns) FROM media_uploads AS u
      WHERE u.id = \(id) AND u.api_key = \(key) AND u.expires_at > clock_timestamp()
      """)
    return try MediaUploadState(row: rows.found())
  }

  /// Records bytes that are on disk.
  ///
  /// - Parameters:
  ///   - received: The number of bytes from the beginning.
  ///   - length: The number of bytes that the sender declares; nil if it has declared none so far.
  ///   - lifetime: The time in seconds after which the upload expires.
  /// - Throws: `StoreError.notFound` if the upload was removed meanwhile.
  public func recordUpload(_ id: UUID, received: Int, of length: Int? = nil, lifetime: Double) async throws {
    let rows = try await database.query(
      """
      UPDATE media_uploads SET received = \(received), length = coalesce(length, \(length)),
        expires_at = clock_timestamp() + make_interval(secs => \(lifetime))
      WHERE id = \(id) AND media IS NULL AND expires_at > '-infinity' RETURNING 1
      """)
    if rows.isEmpty { throw StoreError.notFound }
  }

  /// Records that an upload is complete.
  static func complete(_ upload: UUID, with media: Media, in transaction: PostgresTransaction) async throws {
    let rows = try await transaction.query(
      """
      UPDATE media_uploads SET media = \(media.id), received = \(media.bytes)
      WHERE id = \(upload) AND media IS NULL AND expires_at > '-infinity' RETURNING 1
      """)
    if rows.isEmpty { throw StoreError.notFound }
  }

  /// Cancels an upload of a key. A registered file remains. The row remains too, until the part is removed, because a part
  /// is removed only for its row.
  ///
  /// - Throws: `StoreError.notFound`.
  public func removeUpload(_ id: UUID, of key: String) async throws {
    let rows = try await database.query(
      """
      UPDATE media_uploads SET expires_at = '-infinity'
      WHERE id = \(id) AND api_key = \(key) AND expires_at > clock_timestamp() RETURNING 1
      """)
    if rows.isEmpty { throw StoreError.notFound }
  }

  /// Removes the row of a cancelled upload, whose part was removed.
  public func forgetCancelledUpload(_ id: UUID) async throws {
    _ = try await database.query("DELETE FROM media_uploads WHERE id = \(id) AND expires_at = '-infinity'")
  }

  /// Removes an unfinished upload that cannot become a file, and whose part was removed.
  public func forgetUpload(_ id: UUID) async throws {
    _ = try await database.query("DELETE FROM media_uploads WHERE id = \(id) AND media IS NULL")
  }

  /// Returns the uploads that need no part any more: those that are complete, expired or cancelled. A part without a row
  /// is not among them, because it may belong to another database.
  ///
  /// - Parameter parts: The ids of stored parts.
  public func endedUploads(among parts: [UUID]) async throws -> [UUID] {
    guard !parts.isEmpty else { return [] }
    return try await database.query(
      """
      SELECT u.id FROM media_uploads AS u
      WHERE u.id = ANY (\(parts)) AND (u.media IS NOT NULL OR u.expires_at <= clock_timestamp())
      """
    ).map { try $0.decode("id") }
  }

  /// Removes the rows of expired and cancelled uploads.
  ///
  /// - Parameter parts: The ids of stored parts, whose rows remain.
  public func forgetUploads(keeping parts: [UUID]) async throws {
    _ = try await database.query(
      "DELETE FROM media_uploads WHERE expires_at <= clock_timestamp() AND id <> ALL (\(parts))")
  }

  /// Returns the ids of parts without a row.
  ///
  /// - Parameter parts: The ids of stored parts.
  public func unknownUploads(among parts: [UUID]) async throws -> [UUID] {
    guard !parts.isEmpty else { return [] }
    return try await database.query(
      """
      SELECT listed.id FROM unnest(\(parts)) AS listed (id)
      WHERE NOT EXISTS (SELECT 1 FROM media_uploads AS u WHERE u.id = listed.id)
      """
    ).map { try $0.decode("id") }
  }
}

extension MediaUploadState {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), type: try row.decode("type"), name: try row.decode("name"),
      digest: try row.decode("sha256"), length: try row.decode("length"))
    received = try row.decode("received")
    media = try row.decode("media")
  }
}
