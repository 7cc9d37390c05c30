import ArgumentParser
import Crypto
import Foundation

/// The systemd units that fetch into a store. Each store has one service and one timer.
struct Units {
  /// The name without the suffix.
  let name: String
  private let folder: URL
  private let store: URL

  /// Creates the units of a store. The default store has the plain name, all others a name with a digest of the path.
  ///
  /// - Throws: `ValidationError` without a home directory.
  init(store: URL, default: URL?, environment: [String: String]) throws {
    guard let home = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map({ $0 + "/.config" }), !home.isEmpty
    else { throw ValidationError("HOME is not set") }
    folder = URL(filePath: home, directoryHint: .isDirectory).appending(path: "systemd/user")
    self.store = store
    let path = Self.path(store)
    let isDefault = `default`.map { Self.path($0) == path } ?? false
    let digest = SHA256.hash(data: Data(path.utf8)).prefix(4).map { String(format: "%02x", $0) }.joined()
    name = isDefault ? "tidings-fetch" : "tidings-fetch-\(digest)"
  }

  private static func path(_ url: URL) -> String {
    let path = url.absoluteURL.standardizedFileURL.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// The files of both units.
  var files: [URL] { ["service", "timer"].map { folder.appending(path: "\(name).\($0)") } }

  /// Writes both units.
  ///
  /// - Parameters:
  ///   - executable: The path of the command.
  ///   - options: The options of `fetch`.
  /// - Returns: The files.
  func write(executable: String, options: [String]) throws -> [URL] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (file, text) in zip(files, [service(executable, options), timer]) {
      try Data(text.utf8).write(to: file, options: .atomic)
    }
    return files
  }

  /// Removes both units.
  ///
  /// - Returns: The removed files.
  func remove() throws -> [URL] {
    let present = files.filter { FileManager.default.fileExists(atPath: $0.path(percentEncoded: false)) }
    for file in present { try FileManager.default.removeItem(at: file) }
    return present
  }

  private var timer: String { String(decoding: PackageResources.tidings_fetch_timer, as: UTF8.self) }

  /// Returns the shipped service with the paths of this machine.
  private func service(_ executable: String, _ options: [String]) -> String {
    let path = Self.quoted(store.absoluteURL.path(percentEncoded: false))
    let command = ["\(Self.quoted(executable)) --store \(path) fetch --scheduled"] + options
    return String(decoding: PackageResources.tidings_fetch_service, as: UTF8.self)
      .replacing("/usr/local/bin/tidings-fetch fetch --scheduled", with: command.joined(separator: " "))
  }

  /// Quotes a word of a command line. Within quotes backslashes escape, and percent signs and dollars are doubled
  /// (systemd.service(5), "Command lines").
  private static func quoted(_ word: String) -> String {
    let escaped = word.map { character in
      switch character {
      case "\\", "\"": "\\\(character)"
      case "%", "$": "\(character)\(character)"
      default: "\(character)"
      }
    }
    return "\"\(escaped.joined())\""
  }
}
