import Foundation
import Logging
import NewsAPI
import NewsStore

#if canImport(Glibc)
  import Glibc
#endif

/// The checks of `tidings doctor` on the folder for files.
struct MediaChecks {
  let settings: Settings
  let logger: Logger

  /// Returns the finding: whether the folder can be used, whether it is that of the database, and whether files are
  /// missing there.
  func finding() async -> Finding {
    let folder = folder()
    guard folder.status != .problem, !settings.mediaDirectory.isEmpty else { return folder }
    return await library() ?? folder
  }

  /// Compares the folder with the database; nil if there is no problem, or if the database cannot be read, which another
  /// finding says.
  private func library() async -> Finding? {
    var finding: Finding?
    try? await settings.withStore(logger) { store in
      guard let library = try settings.mediaLibrary(over: store) else { return }
      let state = try await library.state()
      guard [.adopted, .new].contains(state) else {
        finding = .problem("media", "uploads are refused and no file is removed: \(state.explanation)")
        return
      }
      guard FileManager.default.fileExists(atPath: settings.mediaDirectory) else { return }
      let sample = try await library.sample()
      if sample.missing > 0 {
        finding = .problem(
          "media",
          "\(sample.missing) of \(sample.count) files that were looked up are missing in "
            + "\(settings.mediaDirectory): restore them from a backup; `tidings media check` lists them")
      }
    }
    return finding
  }

  private func folder() -> Finding {
    let folder = settings.mediaDirectory
    if folder.isEmpty { return .ok("media", "uploads are disabled: TIDINGS_MEDIA_DIRECTORY is not set") }
    var isFolder: ObjCBool = false
    if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) { return missingMedia(folder) }
    let probe = "\(folder)/upload-doctor-\(UUID())"
    guard isFolder.boolValue, FileManager.default.createFile(atPath: probe, contents: Data([0])) else {
      return .problem(
        "media", "\(folder) cannot be written to: it must be a folder to which the server's user can write")
    }
    try? FileManager.default.removeItem(atPath: probe)
    guard let free = MachineChecks.freeSpace(folder) else { return .ok("media", folder) }
    let text = "\(DatabaseChecks.megabytes(free)) are free in \(folder)"
    if free < min(DatabaseChecks.leastSpace, settings.mediaLimit << 20) {
      return .problem("media", "\(text), and uploads fail: free some space")
    }
    return free < settings.mediaLimit << 20
      ? .warning(
        "media", "\(text), less than the maximum size of a file: free some space, or lower TIDINGS_MEDIA_LIMIT")
      : .ok("media", text)
  }

  /// Checks whether the server can create the missing folder.
  private func missingMedia(_ folder: String) -> Finding {
    var parent = URL(filePath: folder)
    while parent.path != "/", !FileManager.default.fileExists(atPath: parent.path) { parent.deleteLastPathComponent() }
    var status = stat()
    guard stat(parent.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, access(parent.path, W_OK | X_OK) == 0
    else {
      return .problem(
        "media",
        "\(folder) does not exist and cannot be created in \(parent.path): create it for the user \(ServerUser.current)"
      )
    }
    return .ok("media", "\(folder) does not exist yet; the server will create it")
  }
}
