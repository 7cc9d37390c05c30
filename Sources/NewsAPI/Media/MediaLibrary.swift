import Foundation
public import Logging
public import MediaFiles
public import NewsStore

/// The media files: their metadata in the database, and their bytes in a storage.
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
    return try await store.registerMedia(media, once: once, completing: id) { try await upload.publish() }
  }

  /// Opens a registered file.
  ///
  /// - Parameter read: Reads the metadata: `store.media` for readers, `store.editorialMedia` for editors.
  /// - Throws: The errors of `read`; `MediaFault` if the bytes are missing.
  func open(
    _ id: UUID, _ read: (UUID) async throws -> Media
  ) async throws -> (media: Media, file: MediaFile) {
    let media = try await read(id)
    guard let digest = MediaDigest(bytes: media.digest) else { throw StoreError.notFound }
    if let file = try await storage.open(digest), file.bytes == media.bytes { return (media, file) }
    // The file may have been unregistered since.
    _ = try await read(id)
    throw MediaFault(id: id)
  }

  /// Removes the bytes of files that were taken down, unless another address has the same content. A concurrent upload
  /// of the same content keeps its bytes. ``collect(unusedFor:)`` removes bytes that cannot be removed now.
  func removeContents(_ digests: [Data], logger: Logger) async {
    guard !digests.isEmpty else { return }
    do {
      try await store.withUnknownMedia(among: digests) { unknown in
        _ = try await storage.remove(unknown.compactMap { MediaDigest(bytes: $0) }, storedBefore: .distantFuture)
      }
    } catch {
      Self.report(error, logger)
    }
  }

  /// Removes files that no item has used for a time, orphaned files without a row, expired uploads, and the remains of
  /// abandoned ones. A client that is reading one of them can read it to its end.
  ///
  /// - Returns: The number of files that were unregistered.
  @discardableResult
  public func collect(unusedFor age: Duration) async throws -> Int {
    try await storage.sweep()
    if let parts = storage.parts {
      try await parts.remove(try await store.forgetUploads(keeping: try await parts.ids()))
    }
    let forgotten = try await store.forgetUnusedMedia(for: age)
    // A file is registered right after it is stored. One without a row for this long is never registered.
    let limit = Date() - age / .seconds(1)
    var rest = try await storage.digests()[...]
    while !rest.isEmpty {
      try await store.withUnknownMedia(among: rest.prefix(100).map(\.bytes)) { unknown in
        _ = try await storage.remove(unknown.compactMap { MediaDigest(bytes: $0) }, storedBefore: limit)
      }
      rest = rest.dropFirst(100)
    }
    return forgotten
  }

  /// Removes the remains of abandoned uploads at once, then calls ``collect(unusedFor:)`` after a minute and every hour
  /// after that, until the task is cancelled. It logs a failure and tries again at the next call.
  public func collectRegularly(unusedFor age: Duration, logger: Logger) async {
    var pause = Duration.seconds(60)
    do { try await storage.sweep() } catch { Self.report(error, logger) }
    while (try? await Task.sleep(for: pause)) != nil {
      pause = .seconds(3600)
      do {
        let count = try await collect(unusedFor: age)
        if count > 0 { logger.info("unused media removed", metadata: ["count": "\(count)"]) }
      } catch {
        Self.report(error, logger)
      }
    }
  }

  private static func report(_ error: any Error, _ logger: Logger) {
    logger.warning("media were not collected", metadata: ["error": "\(String(reflecting: error))"])
  }
}

/// The error for a row without its file: the storage has lost the file, or is not the one that it was written to.
struct MediaFault: Error {
  let id: UUID
}
