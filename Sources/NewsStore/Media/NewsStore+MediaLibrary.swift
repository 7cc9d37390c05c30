public import Foundation
import PostgresClient

/// The name of a library of files, of which the database and its folder have equal copies. It is JSON in the folder:
///
///     {"database":16384,"id":"…","systemIdentifier":"7561235802437783587","table":16745}
public struct MediaLibraryName: Sendable, Equatable, Codable {
  /// A random id, which each adoption replaces.
  public var id: UUID
  /// The system identifier of the cluster that has adopted the library.
  public var systemIdentifier: String
  /// The oid of the database that has adopted it.
  public var database: Int
  /// The oid of its table `media`.
  public var table: Int
}

/// The facts in the database about its library of files.
public struct MediaLibraryFacts: Sendable, Equatable {
  /// The library that the database, or the one that it was copied from, has adopted; nil if it has adopted none.
  public var adopted: MediaLibraryName?
  /// Whether `adopted` was adopted in this database; false in a copy, and in a restored dump.
  public var isOriginal: Bool
  /// Whether files are registered.
  public var hasFiles: Bool
}

/// A file whose bytes are to be removed.
public struct DueMedia: Sendable, Equatable {
  /// The id that the file had or was to have.
  public var id: UUID
  /// The SHA-256 digest of the content, 32 bytes.
  public var digest: Data
  /// Bytes that were stored later than this are kept: the database was restored since, so that it does not know them.
  public var storedBefore: Date
}

extension NewsStore {
  /// Reads the facts about the library.
  public func mediaLibrary() async throws -> MediaLibraryFacts {
    let rows = try await database.query(
      """
      SELECT l.id, l.system_identifier, l.database_oid, l.table_oid,
        (l.system_identifier, l.database_oid, l.table_oid) = (i.system_identifier, i.database_oid, i.table_oid)
          AS is_original,
        EXISTS (SELECT FROM media) AS has_files
      FROM (\(query: Self.mediaIdentity)) AS i LEFT JOIN media_library AS l ON true
      """)
    guard let row = rows.first else { throw StoreFault("the database says nothing of itself") }
    let isAdopted = try row.decode("id", as: UUID?.self) != nil
    return MediaLibraryFacts(
      adopted: isAdopted ? try MediaLibraryName(row: row) : nil,
      isOriginal: try row.decode("is_original", as: Bool?.self) ?? false, hasFiles: try row.decode("has_files"))
  }

  /// Adopts a library under a new id.
  ///
  /// - Parameters:
  ///   - known: The id of the library so far; nil for none.
  ///   - isOperator: Whether an operator asks for it. The time for which files are unused then begins anew.
  ///   - write: Writes the name to the storage. No file is put in place or removed while it runs. It may run again after a
  ///     deadlock.
  /// - Returns: false if the database has another library than `known`, because another process was faster.
  /// - Throws: The errors of `write`, after which nothing is adopted.
  public func adoptMedia(
    replacing known: UUID?, asOperator isOperator: Bool, _ write: @Sendable (MediaLibraryName) async throws -> Void
  ) async throws -> Bool {
    try await database.transaction { transaction in
      let answers = try await transaction.pipeline([
        "SELECT pg_advisory_xact_lock(\(Self.mediaLock))", "SELECT id FROM media_library",
      ])
      guard try answers[1].first?.decode("id", as: UUID.self) == known else { return false }
      let rows = try await transaction.query(
        """
        INSERT INTO media_library AS l (id, system_identifier, database_oid, table_oid, adopted_at)
        SELECT gen_random_uuid(), i.*, CASE WHEN \(isOperator) THEN clock_timestamp() END
        FROM (\(query: Self.mediaIdentity)) AS i
        ON CONFLICT (is_only) DO UPDATE SET id = EXCLUDED.id, system_identifier = EXCLUDED.system_identifier,
          database_oid = EXCLUDED.database_oid, table_oid = EXCLUDED.table_oid,
          adopted_at = coalesce(EXCLUDED.adopted_at, l.adopted_at)
        RETURNING id, system_identifier, database_oid, table_oid
        """)
      guard let row = rows.first else { throw StoreFault("a library is gone right after it was written") }
      try await write(try MediaLibraryName(row: row))
      return true
    }
  }

  /// Waits for an adoption that is under way.
  public func awaitAdoption() async throws {
    try await database.transaction { transaction in
      _ = try await transaction.query("SELECT pg_advisory_xact_lock_shared(\(Self.mediaLock))")
    }
  }

  /// Passes files whose removal is due to a closure, the oldest first, at most a hundred of them. None of them can be
  /// registered until it returns. Files with the content of a registered one are left out.
  ///
  /// - Parameters:
  ///   - digests: The digests of the files; nil for all files.
  ///   - remove: Removes the files, and returns the ids of those that it could not remove. They are due again an hour
  ///     later. It is not called if none is due, and may run again after a deadlock.
  /// - Returns: Whether further files may be due.
  public func removeDueMedia(
    among digests: [Data]? = nil, _ remove: @Sendable ([DueMedia]) async throws -> [UUID]
  ) async throws -> Bool {
    let among: PostgresQuery = digests.map { "AND encode(r.sha256, 'hex') = ANY (\($0.map(\.hexadecimal)))" } ?? ""
    let due: PostgresQuery = "media_removals AS r WHERE r.due_at <= clock_timestamp() \(query: among)"
    guard !(try await database.query("SELECT 1 FROM \(query: due) LIMIT 1").isEmpty) else { return false }
    return try await database.transaction { transaction in
      let rows = try await transaction.pipeline([
        "SELECT pg_advisory_xact_lock(\(Self.mediaLock))",
        """
        SELECT r.media, r.sha256, r.created_at, EXISTS (SELECT 1 FROM media AS m WHERE m.sha256 = r.sha256) AS is_kept,
          r.created_at < (SELECT max(e.created_at) FROM epochs AS e WHERE e.number > 1) AS is_of_an_earlier_epoch
        FROM \(query: due) ORDER BY r.due_at LIMIT \(Self.maximumRemovals)
        """,
      ])[1]
      let files = try rows.filter { try !$0.decode("is_kept", as: Bool.self) }.map(DueMedia.init)
      let failed = files.isEmpty ? [] : try await remove(files)
      let done = try rows.map { try $0.decode("media", as: UUID.self) }.filter { !failed.contains($0) }
      _ = try await transaction.pipeline([
        "DELETE FROM media_removals WHERE media = ANY (\(done))",
        "UPDATE media_removals SET due_at = clock_timestamp() + interval '1 hour' WHERE media = ANY (\(failed))",
      ])
      return rows.count == Self.maximumRemovals
    }
  }

  /// Returns the digests of files that are neither registered nor listed for removal.
  ///
  /// - Parameter digests: The digests to look up.
  public func unknownMedia(among digests: [Data]) async throws -> [Data] {
    try await database.query(
      """
      SELECT decode(listed.digits, 'hex') AS sha256 FROM unnest(\(digests.map(\.hexadecimal))) AS listed (digits)
      WHERE NOT EXISTS (SELECT 1 FROM media AS m WHERE m.sha256 = decode(listed.digits, 'hex'))
        AND NOT EXISTS (SELECT 1 FROM media_removals AS r WHERE encode(r.sha256, 'hex') = listed.digits)
      """
    ).map { try $0.decode("sha256") }
  }

  /// Returns the number of registered files, and of those that are to be removed now.
  public func mediaCounts() async throws -> (registered: Int, due: Int) {
    let rows = try await database.query(
      """
      SELECT (SELECT count(*) FROM media) AS registered,
        (SELECT count(*) FROM media_removals WHERE due_at <= clock_timestamp()) AS due
      """)
    guard let row = rows.first else { throw StoreFault("a count has no row") }
    return (try row.decode("registered"), try row.decode("due"))
  }

  /// Returns registered files, chosen at random.
  ///
  /// - Parameter count: The maximum number of files.
  public func sampleOfMedia(_ count: Int) async throws -> [Media] {
    try await database.query("SELECT \(query: Self.mediaColumns) FROM media ORDER BY random() LIMIT \(count)")
      .map(Media.init)
  }

  /// Returns registered files in the order of their ids.
  ///
  /// - Parameters:
  ///   - id: The last file of the previous call; nil for the first call.
  ///   - count: The maximum number of files.
  public func registeredMedia(after id: UUID?, _ count: Int) async throws -> [Media] {
    let start: PostgresQuery = id.map { "WHERE id > \($0)" } ?? ""
    return try await database.query(
      "SELECT \(query: Self.mediaColumns) FROM media \(query: start) ORDER BY id LIMIT \(count)"
    ).map(Media.init)
  }

  /// The maximum number of files that are removed while uploads wait.
  private static let maximumRemovals = 100

  /// Selects what differs between this database and a copy of it, or a restored dump.
  private static let mediaIdentity: PostgresQuery = """
    SELECT c.system_identifier::text AS system_identifier, d.oid::bigint AS database_oid,
      'media'::regclass::oid::bigint AS table_oid
    FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database()
    """
}

extension MediaLibraryName {
  fileprivate init(row: PostgresRow) throws {
    self.init(
      id: try row.decode("id"), systemIdentifier: try row.decode("system_identifier"),
      database: try row.decode("database_oid"), table: try row.decode("table_oid"))
  }
}

extension DueMedia {
  fileprivate init(row: PostgresRow) throws {
    let isOfAnEarlierEpoch = try row.decode("is_of_an_earlier_epoch", as: Bool?.self) ?? false
    self.init(
      id: try row.decode("media"), digest: try row.decode("sha256"),
      storedBefore: isOfAnEarlierEpoch ? try row.decode("created_at") : .distantFuture)
  }
}
