package import Foundation
import HTTPTransfer

/// The user's settings of a store, in a small file in its folder, which survives the loss of the store.
///
/// Writers hold the store's write lock, so that two processes do not overwrite each other's changes.
package struct SettingsFile: Sendable {
  /// The maximum number of links that the system follows (path_resolution(7)).
  private static let maximumLinks = 40

  private let file: DurableFile
  private let log: @Sendable (String) -> Void

  package var path: String { file.url.path(percentEncoded: false) }
  package var exists: Bool { file.exists }

  /// Creates the settings of the store in a folder.
  package init(
    folder: URL, name: String = "settings.json", log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    (file, self.log) = (DurableFile(url: folder.appending(path: name, directoryHint: .notDirectory)), log)
  }

  /// The settings; empty if the file is missing or damaged.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  var contents: Settings {
    get throws { try file.readIntact(Settings.self) ?? Settings() }
  }

  /// The settings; empty if the file is missing.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read or is damaged.
  package var intactContents: Settings {
    get throws {
      do { return try file.read(Settings.self) ?? Settings() } catch is DecodingError {
        throw FetchError(.storage, "the settings in \(path) are not a JSON object. Correct or remove the file")
      }
    }
  }

  /// Changes the settings. A crash leaves either the old or the new file. A damaged file is renamed.
  ///
  /// - Throws: `FetchError` with `storage`.
  package func update(_ change: (inout Settings) throws -> Void) throws {
    let target = DurableFile(url: target)
    let before = try target.repaired(Settings.self, "the settings", log) ?? Settings()
    var after = before
    try change(&after)
    if after == before { return }
    do {
      try target.url.deletingLastPathComponent().createPrivateFolder()
    } catch {
      throw FetchError(.storage, "cannot create the folder of \(path): \(StorageFailure.reason(error))")
    }
    try target.write(after)
  }

  /// The file behind links, such as to the user's collection of settings. They stay when the file is replaced.
  private var target: URL {
    var url = file.url
    for _ in 0..<Self.maximumLinks {
      let path = url.path(percentEncoded: false)
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      url = URL(filePath: next, directoryHint: .notDirectory, relativeTo: url.deletingLastPathComponent()).absoluteURL
    }
    return url
  }
}

extension NewsFetcher {
  /// Runs an operation with the write lock of the store in a folder, which is created if it is missing. Running processes of
  /// the store determine their next wake again.
  ///
  /// - Throws: `FetchError` with `storage`, and the errors of the operation.
  package static func withWriteLock(
    of folder: URL, log: @escaping @Sendable (String) -> Void, _ operation: () throws -> Void
  ) throws {
    try LocalStore(folder: folder, log: log).write { _ in try operation() }
  }
}
