import ArgumentParser
import Foundation

/// The name of a store, which has its folder and its settings.
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
  /// The name; nil for a folder elsewhere, which has no settings in the configuration file.
  let name: String?

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
    let parent = Self.parent(environment)
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

  /// The folder of all stores; nil without a home directory.
  private static func parent(_ environment: [String: String]) -> URL? {
    environment.folder("XDG_STATE_HOME", inHome: ".local/state")?.appending(
      path: "tidings-fetch", directoryHint: .isDirectory)
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

  /// Returns the absolute path of a folder, without a slash at its end.
  static func path(_ url: URL) -> String {
    let path = url.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
