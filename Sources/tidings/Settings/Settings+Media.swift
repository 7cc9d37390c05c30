import Foundation
import Logging
import MediaFiles
import NewsAPI
import NewsStore

extension Settings {
  /// The storage of media files; nil if none are stored. A missing folder is created once it is adopted.
  ///
  /// - Throws: `SettingError` if the folder cannot be used.
  func mediaStorage() throws -> (any MediaStorage)? {
    if self.mediaDirectory.isEmpty { return nil }
    do {
      return try MediaDirectory(URL(filePath: self.mediaDirectory), createsFolder: false)
    } catch {
      throw unusableMedia
    }
  }

  private var unusableMedia: SettingError {
    SettingError(
      name: SettingTable.shared.mediaDirectory.name,
      rule: "must be a folder that \(ServerUser.current) can write to or create, not \(self.mediaDirectory)")
  }

  /// Adopts a new folder for files, and creates it if it is missing. The log has the reason if files are not accepted.
  ///
  /// - Throws: `SettingError` if the folder cannot be created; `StoreError`.
  func prepareMedia(over store: NewsStore, _ logger: Logger) async throws {
    guard let library = try mediaLibrary(over: store) else { return }
    let state = try await library.prepare(logger)
    if state == .unusable, !FileManager.default.fileExists(atPath: self.mediaDirectory) { throw unusableMedia }
  }

  func mediaLibrary(over store: NewsStore) throws -> MediaLibrary? {
    try mediaStorage().map { MediaLibrary(store: store, storage: $0) }
  }
}
