public import Foundation
import MediaFiles
import NewsStore

/// The differences between the database and the storage of files.
public struct MediaReport: Sendable, Encodable {
  /// A registered file whose bytes are missing, or have another length.
  public struct Missing: Sendable, Encodable {
    /// The id in the address.
    public let id: UUID
    /// The digest in hexadecimal, which is the name of the file.
    public let sha256: String
    /// The registered length.
    public let bytes: Int
    /// The suggested file name for downloads.
    public let name: String?
  }

  /// The relation between the database and the storage.
  public let library: MediaLibraryState
  /// The number of registered files.
  public let rows: Int
  /// The number of files in the storage.
  public let files: Int
  /// The number of files that are to be removed now.
  public let due: Int
  /// The registered files that are missing.
  public let rowsWithoutFile: [Missing]
  /// The digests in hexadecimal of files that are neither registered nor about to be registered or removed. They stay.
  public let filesWithoutRow: [String]
  /// The ids of parts of uploads that the database does not know. They stay.
  public let partsWithoutRow: [UUID]

  /// Whether the storage is that of the database, and both agree.
  public var isConsistent: Bool {
    [.adopted, .new].contains(library) && rowsWithoutFile.isEmpty && filesWithoutRow.isEmpty && partsWithoutRow.isEmpty
  }
}

extension MediaLibrary {
  /// The number of files that are compared at a time.
  private static let reportChunk = 1000

  /// Compares all registered files with all files in the storage. Nothing is changed.
  ///
  /// - Throws: ``MediaLibraryError`` if the storage is missing or cannot be read; `StoreError`.
  public func report() async throws -> MediaReport {
    let state = try await state()
    guard state != .missing, state != .unusable else { throw MediaLibraryError(state: state) }
    let isThere = try await storage.labelled?.exists() ?? true
    // Files that arrive after this have a row before the rows are looked up.
    let digests = isThere ? try await storage.digests() : []
    let parts = isThere ? try await storage.parts?.ids() ?? [] : []
    var missing: [Media] = []
    var last: UUID?
    repeat {
      let chunk = try await store.registeredMedia(after: last, Self.reportChunk)
      missing += isThere ? try await self.missing(among: chunk) : chunk
      last = chunk.count < Self.reportChunk ? nil : chunk.last?.id
    } while last != nil
    // A file may have been removed meanwhile.
    var confirmed: [Media] = []
    for file in missing where (try? await store.editorialMedia(file.id)) != nil { confirmed.append(file) }
    var unknown: [Data] = []
    for start in stride(from: 0, to: digests.count, by: Self.reportChunk) {
      let chunk = digests[start..<min(start + Self.reportChunk, digests.count)].map(\.bytes)
      unknown += try await store.unknownMedia(among: chunk)
    }
    let counts = try await store.mediaCounts()
    return MediaReport(
      library: state, rows: counts.registered, files: digests.count, due: counts.due,
      rowsWithoutFile: confirmed.map { file in
        MediaReport.Missing(
          id: file.id, sha256: MediaDigest(bytes: file.digest)?.hexadecimal ?? "", bytes: file.bytes, name: file.name)
      },
      filesWithoutRow: unknown.compactMap { MediaDigest(bytes: $0)?.hexadecimal }.sorted(),
      partsWithoutRow: try await store.unknownUploads(among: parts))
  }
}
