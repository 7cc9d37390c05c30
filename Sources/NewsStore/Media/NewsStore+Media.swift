public import Foundation
import News
import PostgresClient

/// What is known of a stored file.
public struct Media: Sendable, Equatable {
  /// A UUIDv7 of the server's, from the first upload. The content under an id never changes; the file can be taken down.
  /// The id is not derived from the content: somebody with a copy of a file could otherwise ask for its address and learn
  /// that the newsroom has it too, before it is published.
  public var id: UUID
  /// SHA-256 of the content, 32 bytes.
  public var digest: Data
  /// A media type without parameters.
  public var type: String
  /// The length, 1 or more.
  public var bytes: Int
  /// In pixels.
  public var width: Int?
  /// In pixels.
  public var height: Int?
  /// What it is to be called when it is saved, at most 255 bytes.
  public var name: String?
  /// When it was first uploaded; given by the database.
  public var created: Date

  /// A file; nothing is checked.
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
  private static let mediaColumns: PostgresQuery = "id, sha256, type, bytes, width, height, name, created_at"

  /// Finds a file for readers by its id.
  ///
  /// - Throws: `StoreError.notFound`, `mediaWithdrawn`.
  public func media(_ id: UUID) async throws -> Media {
    let answers = try await database.snapshot([
      "SELECT reason FROM withdrawn_media WHERE media = \(id)",
      "SELECT \(query: Self.mediaColumns) FROM media WHERE id = \(id)",
    ])
    if let reason = try answers[0].first?.decode("reason", as: String.self) {
      throw StoreError.mediaWithdrawn(MediaWithdrawal(rawValue: reason) ?? .removed)
    }
    guard let row = answers[1].first else { throw StoreError.notFound }
    return try Media(row: row)
  }

  /// Makes a file known. One with the same content and type is there once, under the id and name it first had.
  ///
  /// - Parameters:
  ///   - media: The id is taken if the file is new.
  ///   - publish: Puts the bytes in their place. While it runs, none are removed. It may be called again after a
  ///     deadlock.
  /// - Returns: The file as it is known, and whether this call has made it known.
  /// - Throws: `StoreError.outcomeUnknown`; what `publish` throws.
  public func addMedia(
    _ media: Media, publishing publish: @Sendable () async throws -> Void
  ) async throws -> (media: Media, created: Bool) {
    try await database.transaction { transaction in
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
      return (media: written, created: written.id == media.id)
    }
  }

  /// Forgets files that no item, whatever its state, has used for a time; their bytes are left to
  /// `withUnknownMedia(among:_:)`.
  ///
  /// - Returns: How many.
  public func forgetUnusedMedia(for age: Duration) async throws -> Int {
    var total = 0
    while true {
      let rows = try await database.query(
        "SELECT forget_media(make_interval(secs => \(age / .seconds(1)))) AS forgotten")
      let forgotten: Int = try rows.first?.decode("forgotten") ?? 0
      guard forgotten > 0 else { return total }
      total += forgotten
    }
  }

  /// Hands out the digests of files that are not known. Until the body has returned, none of them becomes known.
  ///
  /// - Parameters:
  ///   - digests: A hundred or so: uploads wait for the body.
  ///   - remove: Not called if all are known; again after a deadlock.
  public func withUnknownMedia(
    among digests: [Data], _ remove: @Sendable (_ unknown: [Data]) async throws -> Void
  ) async throws {
    let unknown = PostgresQuery.unknownMedia(digests)
    guard !(try await database.query(unknown).isEmpty) else { return }
    try await database.transaction { transaction in
      let answers = try await transaction.pipeline([
        "SELECT pg_advisory_xact_lock(\(Self.mediaLock))", unknown,
      ])
      try await remove(try answers[1].map { try $0.decode("sha256", as: Data.self) })
    }
  }

  /// Whoever puts bytes in their place shares it, whoever removes some has it alone.
  private static let mediaLock = 7_161_720_914_258
}

extension PostgresQuery {
  fileprivate static func unknownMedia(_ digests: [Data]) -> PostgresQuery {
    """
    SELECT decode(listed.digits, 'hex') AS sha256 FROM unnest(\(digests.map(\.hexadecimal))) AS listed (digits)
    WHERE NOT EXISTS (SELECT 1 FROM media AS m WHERE m.sha256 = decode(listed.digits, 'hex'))
    """
  }
}

extension Media {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), digest: try row.decode("sha256"), type: try row.decode("type"),
      bytes: try row.decode("bytes"), width: try row.decode("width"), height: try row.decode("height"),
      name: try row.decode("name"), created: try row.decode("created_at"))
  }
}

extension Data {
  fileprivate var hexadecimal: String {
    map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
