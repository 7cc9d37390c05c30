import Foundation
import HTTPEdge
public import Logging
public import MediaFiles
public import NewsStore
import Synchronization

/// The media files: their metadata in the database, and their bytes in a storage.
///
/// Files are accepted and removed only in a storage that the database has adopted (``state()``). A file is removed only
/// because a row says so, never because it has no row.
public struct MediaLibrary: Sendable {
  let store: NewsStore
  let storage: any MediaStorage

  /// Creates a library over a store and a storage, which must outlive it.
  public init(store: NewsStore, storage: any MediaStorage) {
    self.store = store
    self.storage = storage
  }

  /// Registers a finished upload and makes its bytes readable.
  ///
  /// - Parameters:
  ///   - name: The file name that a client is offered for saving.
  ///   - now: The time in the id of a new file.
  ///   - once: The request, if it may be repeated.
  ///   - id: The id of the upload that is complete; nil for a file that has arrived in one request.
  /// - Returns: The registered file, and whether this call has registered it.
  func add(
    _ upload: any MediaUpload, _ stored: StoredMedia, type: String, name: String?, now: Date,
    once: RepeatableWrite<(media: Media, created: Bool)>? = nil, completing id: UUID? = nil
  ) async throws -> (media: Media, created: Bool) {
    let media = Media(
      id: .version7(at: now), digest: stored.digest.bytes, type: type, bytes: stored.bytes, width: stored.size?.width,
      height: stored.size?.height, name: name)
    // Bytes that are there already are not removed if this call fails: they may be a file without a row.
    let isStored = try await storage.open(stored.digest) != nil
    return try await store.registerMedia(media, isStored: isStored, once: once, completing: id) {
      try await upload.publish()
    }
  }

  /// Opens a registered file.
  ///
  /// - Parameter read: Reads the metadata: `store.media` for readers, `store.editorialMedia` for editors.
  /// - Throws: The errors of `read`; `MediaFault` if the bytes are missing; `MediaError`, such as while few descriptors
  ///   are free.
  func open(
    _ id: UUID, _ read: (UUID) async throws -> Media
  ) async throws -> (media: Media, file: MediaFile) {
    try requireDescriptor()
    let media = try await read(id)
    guard let digest = MediaDigest(bytes: media.digest) else { throw StoreError.notFound }
    if let file = try await storage.open(digest), file.bytes == media.bytes { return (media, file) }
    // The file may have been unregistered since.
    _ = try await read(id)
    throw MediaFault(id: id)
  }

  /// - Throws: `MediaError` if clients may open no further files at present.
  func requireDescriptor() throws(MediaError) {
    guard FreeDescriptors.suffice(for: .file) else { throw .failed("open", code: EMFILE) }
  }

  /// Removes the bytes of files that were taken down, unless another address has the same content. A concurrent upload
  /// of the same content keeps its bytes. ``collect(unusedFor:logger:)`` removes bytes that cannot be removed now.
  func removeContents(_ digests: [Data], logger: Logger) async {
    guard !digests.isEmpty else { return }
    do {
      let removed = try await removeDue(among: digests, logger)
      // The loggers of requests leave out what is below a notice.
      if removed > 0 { logger.notice("taken down files removed", metadata: ["count": "\(removed)"]) }
    } catch {
      Self.report(error, logger)
    }
  }

  /// Unregisters files that no item has used for a time, and removes them, files that were taken down, ended uploads, and
  /// the remains of abandoned ones. A client that is reading a file can read it to its end.
  ///
  /// - Parameter logger: Receives the numbers.
  /// - Throws: ``MediaLibraryError`` if the storage is not that of the database, after which nothing has changed;
  ///   `MediaError`, `StoreError`.
  @discardableResult
  public func collect(
    unusedFor age: Duration, logger: Logger = Logger(label: "tidings")
  ) async throws -> MediaCollection {
    try await requireAdoption()
    var collection = MediaCollection()
    collection.uploads = try await storage.sweep()
    if let parts = storage.parts {
      collection.uploads += try await parts.remove(try await store.endedUploads(among: try await parts.ids()))
      try await store.forgetUploads(keeping: try await parts.ids())
    }
    collection.unregistered = try await store.forgetUnusedMedia(for: age)
    collection.files = try await removeDue(logger)
    if collection != MediaCollection() {
      logger.info(
        "files removed",
        metadata: [
          "files": "\(collection.files)", "unused": "\(collection.unregistered)", "uploads": "\(collection.uploads)",
        ])
    }
    return collection
  }

  /// Removes files whose removal is due. A file that cannot be removed does not keep the others.
  ///
  /// - Parameter digests: The digests of the files; nil for all files.
  /// - Returns: The number of removed files.
  private func removeDue(among digests: [Data]? = nil, _ logger: Logger) async throws -> Int {
    let count = Mutex(0)
    var mayContinue = true
    while mayContinue {
      try await requireAdoption()
      mayContinue = try await store.removeDueMedia(among: digests) { files in
        var failed: [UUID] = []
        for file in files {
          guard let digest = MediaDigest(bytes: file.digest) else { continue }
          do {
            let removed = try await storage.remove([digest], storedBefore: file.storedBefore)
            count.withLock { $0 += removed }
          } catch {
            failed.append(file.id)
            Self.report(error, logger)
          }
        }
        return failed
      }
    }
    return count.withLock { $0 }
  }

  /// Removes the remains of abandoned uploads at once, then calls ``collect(unusedFor:logger:)`` after a minute and every
  /// hour after that, until the task is cancelled. It logs a failure and tries again at the next call.
  ///
  /// - Parameter sleep: Waits for a duration. An error ends the calls.
  public func collectRegularly(
    unusedFor age: Duration, logger: Logger,
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async {
    var pause = Duration.seconds(60)
    do {
      try await requireAdoption()
      let count = try await storage.sweep()
      if count > 0 { logger.info("abandoned uploads removed", metadata: ["count": "\(count)"]) }
    } catch {
      Self.report(error, logger)
    }
    while (try? await sleep(pause)) != nil {
      pause = .seconds(3600)
      do { try await collect(unusedFor: age, logger: logger) } catch { Self.report(error, logger) }
    }
  }

  private static func report(_ error: any Error, _ logger: Logger) {
    if let error = error as? MediaLibraryError {
      logger.warning("no file is removed", metadata: ["reason": "\(error)"])
    } else {
      logger.warning("files were not removed", metadata: ["error": "\(String(reflecting: error))"])
    }
  }
}

/// The numbers of what ``MediaLibrary/collect(unusedFor:logger:)`` has removed.
public struct MediaCollection: Sendable, Equatable {
  /// The number of addresses whose files no item has used.
  public var unregistered = 0
  /// The number of files, those that were taken down before included. Addresses with the same content share a file.
  public var files = 0
  /// The number of remains of uploads.
  public var uploads = 0

  /// Creates numbers.
  public init(unregistered: Int = 0, files: Int = 0, uploads: Int = 0) {
    (self.unregistered, self.files, self.uploads) = (unregistered, files, uploads)
  }
}

/// The error for a row without its file: the storage has lost the file, or is not the one that it was written to.
struct MediaFault: Error {
  let id: UUID
}
