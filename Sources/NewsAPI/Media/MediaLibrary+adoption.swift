import Foundation
public import Logging
import MediaFiles
import NewsStore

/// The relation between a database and a storage of files.
public enum MediaLibraryState: String, Sendable, Encodable {
  /// The storage belongs to the database: files are accepted and removed.
  case adopted
  /// The storage belongs to nobody, and no file can be lost: a server adopts it.
  case new
  /// The folder does not exist, but the database has files.
  case missing
  /// The storage has no label, but the database has files, or the storage has some that the database does not know.
  case unlabelled
  /// The storage belongs to another database, or was adopted again since.
  case foreign
  /// The database is a copy or a restored dump, whose original may still use the storage.
  case copied
  /// The storage cannot be read or written.
  case unusable

  /// The reason why files are neither accepted nor removed, and the remedy.
  public var explanation: String {
    switch self {
    case .adopted: "the folder for files belongs to this database"
    case .new: "the folder for files belongs to no database yet; the server will adopt it"
    case .missing:
      """
      the folder for files does not exist, but the database has files: mount its file system, correct \
      TIDINGS_MEDIA_DIRECTORY, or restore the folder from a backup
      """
    case .unlabelled:
      """
      the folder for files is not known to be that of this database: mount its file system or correct \
      TIDINGS_MEDIA_DIRECTORY; if it is the right folder, run `tidings media adopt`
      """
    case .foreign:
      """
      the folder for files belongs to another database: correct TIDINGS_MEDIA_DIRECTORY or DATABASE_URL; if this \
      database takes the folder over, run `tidings media adopt`
      """
    case .copied:
      """
      this database is a copy or was restored from a dump, and the folder for files may belong to the original: use \
      another folder, or run `tidings media adopt` if this database takes the folder over
      """
    case .unusable:
      """
      the folder for files cannot be read and written: check the folder, its rights, its file system, and the free space \
      there
      """
    }
  }
}

/// The error for a storage that is not that of the database, or cannot be used.
public struct MediaLibraryError: Error, Equatable, CustomStringConvertible {
  /// The relation between the database and the storage.
  public let state: MediaLibraryState

  /// Creates an error.
  public init(state: MediaLibraryState) {
    self.state = state
  }

  /// The reason, and the remedy.
  public var description: String { state.explanation }
}

extension MediaLibrary {
  /// The number of registered files that are looked up before a storage is adopted, and by `tidings doctor`.
  static let sampleCount = 500

  /// Compares the library of the database with the label of the storage. Nothing is changed.
  ///
  /// - Throws: `StoreError` if the database does not respond.
  public func state() async throws -> MediaLibraryState {
    try await examine().state
  }

  /// Returns the state, and the id of the library that the database has adopted.
  private func examine() async throws -> (state: MediaLibraryState, adopted: UUID?) {
    guard let labelled = storage.labelled else { return (.adopted, nil) }
    let facts = try await store.mediaLibrary()
    do {
      return (try await state(labelled, facts), facts.adopted?.id)
    } catch is MediaError {
      return (.unusable, facts.adopted?.id)
    }
  }

  private func state(_ labelled: any LabelledStorage, _ facts: MediaLibraryFacts) async throws -> MediaLibraryState {
    guard try await labelled.exists() else { return facts.hasFiles ? .missing : .new }
    if let label = try await labelled.label() {
      guard let adopted = facts.adopted else { return .foreign }
      guard facts.isOriginal else { return .copied }
      let name = try? JSONDecoder().decode(MediaLibraryName.self, from: label)
      return name == adopted ? .adopted : .foreign
    }
    if !facts.hasFiles { return try await labelled.hasFiles() ? .unlabelled : .new }
    // The first start after an upgrade from a version without libraries.
    guard facts.adopted == nil else { return facts.isOriginal ? .unlabelled : .copied }
    let sample = try await sample()
    return sample.missing * 10 <= sample.count ? .new : .unlabelled
  }

  /// Looks up registered files, chosen at random.
  ///
  /// - Returns: The number of files, and of those among them that the storage does not have, or has in another length.
  public func sample() async throws -> (count: Int, missing: Int) {
    let files = try await store.sampleOfMedia(Self.sampleCount)
    return (files.count, try await missing(among: files).count)
  }

  /// Returns the files that the storage does not have, or has in another length.
  func missing(among files: [Media]) async throws -> [Media] {
    var missing: [Media] = []
    for file in files {
      guard let digest = MediaDigest(bytes: file.digest), try await storage.open(digest)?.bytes == file.bytes else {
        missing.append(file)
        continue
      }
    }
    return missing
  }

  /// Adopts the storage if it is new, and logs a storage that is not that of the database.
  ///
  /// - Returns: The state after that.
  /// - Throws: `StoreError` if the database does not respond.
  @discardableResult
  public func prepare(_ logger: Logger) async throws -> MediaLibraryState {
    let isNew = try await state() == .new
    let state = try await settle()
    if state != .adopted {
      logger.error(
        "uploads are refused and no file is removed", metadata: ["reason": "\(state.explanation)"])
    } else if isNew {
      logger.notice("the folder for files was adopted")
    }
    return state
  }

  /// Refuses a storage that is not that of the database. A new one is adopted.
  ///
  /// - Throws: ``MediaLibraryError``; `StoreError` if the database does not respond.
  func requireAdoption() async throws {
    let state = try await settle()
    guard state == .adopted else { throw MediaLibraryError(state: state) }
  }

  private func settle() async throws -> MediaLibraryState {
    var (state, adopted) = try await examine()
    if state != .adopted, state != .new {
      // Another process may have adopted the storage between the look at the database and the look at the storage.
      try await store.awaitAdoption()
      (state, adopted) = try await examine()
    }
    guard state == .new, let labelled = storage.labelled else { return state }
    do {
      _ = try await store.adoptMedia(replacing: adopted, asOperator: false) { name in
        // Another process may have been faster.
        if try await labelled.exists(), try await labelled.label() != nil { throw LabelledBefore() }
        try await labelled.setLabel(try Self.label(name))
      }
    } catch is LabelledBefore {
    } catch is MediaError {
      return .unusable
    }
    return try await self.state()
  }

  private struct LabelledBefore: Error {}

  private static func label(_ name: MediaLibraryName) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(name) + Data("\n".utf8)
  }

  /// Adopts the storage for the database, whoever had it before. Databases that had it then neither store nor remove
  /// files there.
  ///
  /// - Throws: ``MediaLibraryError`` for a missing folder; `MediaError`, `StoreError`.
  public func adopt() async throws {
    let (state, adopted) = try await examine()
    guard let labelled = storage.labelled, state != .adopted else { return }
    guard state != .missing, state != .unusable else { throw MediaLibraryError(state: state) }
    let isDone = try await store.adoptMedia(replacing: adopted, asOperator: true) { name in
      try await labelled.setLabel(try Self.label(name))
    }
    if !isDone { try await adopt() }
  }
}
