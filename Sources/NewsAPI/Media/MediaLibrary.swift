import Foundation
public import Logging
public import MediaFiles
public import NewsStore

/// Files with what is known of them: rows in the database, bytes in a storage.
public struct MediaLibrary: Sendable {
  let store: NewsStore
  let storage: any MediaStorage

  /// A library over both, which outlive it.
  public init(store: NewsStore, storage: any MediaStorage) {
    self.store = store
    self.storage = storage
  }

  /// Makes a finished upload known and its bytes readable.
  ///
  /// - Parameters:
  ///   - name: What the file is to be called when it is saved.
  ///   - now: For its id.
  /// - Returns: The file as it is known, and whether it was not before.
  func add(
    _ upload: any MediaUpload, _ stored: StoredMedia, type: String, name: String?, now: Date
  ) async throws -> (media: Media, created: Bool) {
    let media = Media(
      id: .version7(at: now), digest: stored.digest.bytes, type: type, bytes: stored.bytes, width: stored.size?.width,
      height: stored.size?.height, name: name)
    return try await store.addMedia(media) { try await upload.publish() }
  }

  /// Opens a file that is known.
  ///
  /// - Throws: `StoreError.notFound`, `mediaWithdrawn`.
  func open(_ id: UUID) async throws -> (media: Media, file: MediaFile) {
    let media = try await store.media(id)
    guard let digest = MediaDigest(bytes: media.digest) else { throw StoreError.notFound }
    if let file = try await storage.open(digest), file.bytes == media.bytes { return (media, file) }
    // It may have been forgotten since.
    _ = try await store.media(id)
    throw MediaFault(id: id)
  }

  /// Removes the bytes of files that were taken down, unless another address has the same content. An upload of the same
  /// content that is under way keeps its bytes. Bytes that cannot be removed now are left to ``collect(unusedFor:)``.
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

  /// Removes files that no item has used for a time, those that no row tells of, and what dead uploads have left. Whoever
  /// reads one of them meanwhile reads it to its end.
  ///
  /// - Returns: How many files were forgotten.
  @discardableResult
  public func collect(unusedFor age: Duration) async throws -> Int {
    try await storage.sweep()
    let forgotten = try await store.forgetUnusedMedia(for: age)
    // A file gets its row right after it is stored: one that has none for as long will not get it any more.
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

  /// Sweeps at once, collects a minute after the start and then once an hour, until the task is cancelled; what fails is
  /// tried again at the next hour.
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

/// A row without its file: the storage has lost it, or is not the one that it was written to.
struct MediaFault: Error {
  let id: UUID
}
