import ArgumentParser
import Foundation
import HTTPTransfer
import NewsClient

/// The name of a store, which has its folder and its file of settings.
struct StoreName: ExpressibleByArgument {
  /// The names of folders within a store. The first version kept the default store in the folder of all stores.
  private static let reserved = ["attachments", "pushes", "transfers"]

  let text: String

  init?(argument: String) {
    guard argument.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,31}/) != nil, !Self.reserved.contains(argument) else {
      return nil
    }
    text = argument
  }
}

/// The folder of a store and its name.
struct StoreLocation {
  /// The name of the store of commands that name none.
  static let defaultName = "default"

  let folder: URL
  /// The name; nil for a folder elsewhere, which contains its settings.
  let name: String?
  /// The folder with the settings of all named stores; nil without a home directory.
  private let configuration: URL?

  /// Finds the store that the options or the environment name, or else the default one.
  ///
  /// - Throws: `ValidationError` without a home directory.
  init(path: String?, name: StoreName?, environment: [String: String]) throws {
    let variable = environment["TIDINGS_FETCH_STORE"] ?? environment["TIDINGS_STORE"]
    var name = name?.text
    if name == nil, let text = environment["TIDINGS_FETCH_NAME"] {
      guard let parsed = StoreName(argument: text) else {
        throw ValidationError("TIDINGS_FETCH_NAME must be a name of lower-case letters, digits, - and _")
      }
      name = parsed.text
    }
    let parent = environment.folder("XDG_STATE_HOME", inHome: ".local/state")?.appending(path: "tidings-fetch/")
    configuration = environment.folder("XDG_CONFIG_HOME", inHome: ".config")?.appending(path: "tidings-fetch/")
    if let path = path ?? (name == nil ? variable : nil) {
      folder = URL(filePath: path, directoryHint: .isDirectory)
      self.name = name ?? parent.flatMap { [folder] in Self.name(of: folder, in: $0) }
    } else if let parent {
      self.name = name ?? Self.defaultName
      folder = Self.folder(of: name ?? Self.defaultName, in: parent)
    } else {
      throw ValidationError("HOME is not set, so --store must name the folder of the store")
    }
  }

  private static func folder(of name: String, in parent: URL) -> URL {
    let folder = parent.appending(path: name, directoryHint: .isDirectory)
    // The first version kept the default store in the folder of all stores, where it stays.
    let isOld = name == defaultName && !isStore(folder) && isStore(parent)
    return isOld ? parent : folder
  }

  private static func name(of folder: URL, in parent: URL) -> String? {
    let path = path(folder)
    if path == Self.path(Self.folder(of: defaultName, in: parent)) { return defaultName }
    let name = (path as NSString).lastPathComponent
    return path == Self.path(parent.appending(path: name)) ? StoreName(argument: name)?.text : nil
  }

  private static func isStore(_ folder: URL) -> Bool {
    ["news.sqlite", "settings.json"].contains { name in
      FileManager.default.fileExists(atPath: folder.appending(path: name).path(percentEncoded: false))
    }
  }

  /// The names of all stores that have settings.
  var names: [String] {
    let folders = configuration.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
    return folders.filter { file(of: $0).exists }.sorted()
  }

  /// The file of settings: of a named store in the user's configuration, of another one in its folder.
  var settingsFile: SettingsFile { file(of: name) }

  private func file(of name: String?) -> SettingsFile {
    guard let name, let configuration else { return SettingsFile(folder: folder) }
    return SettingsFile(folder: configuration.appending(path: name, directoryHint: .isDirectory))
  }

  /// The settings, and the path of their file. Earlier versions had those of all named stores in one file.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read or is damaged.
  var settings: (values: Settings, path: String) {
    get throws {
      if let name, let configuration, !settingsFile.exists {
        let earlier = SettingsFile(folder: configuration, name: "config.json")
        if let values = try earlier.intactContents.store(name) { return (values, earlier.path) }
      }
      return (try settingsFile.intactContents, settingsFile.path)
    }
  }

  /// Links the settings of a named store into its folder, where apps find them, and which may be deleted. What an app or an
  /// earlier version has stored there is added to them. A failure is logged, because what is stored can still be read.
  func linkSettings() {
    let (file, own) = (settingsFile.path, SettingsFile(folder: folder))
    let isLinked = (try? FileManager.default.destinationOfSymbolicLink(atPath: own.path)) == file
    if isLinked || own.path == file { return }
    do {
      try NewsFetcher.withWriteLock(of: folder, log: Output.log) {
        let all = try settings.values.merging(try own.intactContents)
        try settingsFile.update { $0 = all }
        unlink(own.path + ".link")
        guard symlink(file, own.path + ".link") == 0, rename(own.path + ".link", own.path) == 0 else {
          throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
      }
    } catch {
      let reason = (error as? FetchError)?.message ?? StorageFailure.reason(error)
      Output.log("cannot use the settings in \(file): \(reason)")
    }
  }

  /// Returns the absolute path of a folder, without a slash at its end.
  static func path(_ url: URL) -> String {
    let path = url.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension [String: String] {
  /// Returns the folder that a variable names, or the default one (XDG Base Directory Specification).
  ///
  /// - Parameter path: The path of the default folder within the home directory.
  /// - Returns: nil without a home directory.
  func folder(_ variable: String, inHome path: String) -> URL? {
    let folder = self[variable] ?? self["HOME"].map { "\($0)/\(path)" }
    return folder.map { URL(filePath: $0, directoryHint: .isDirectory).absoluteURL }
  }
}
