import ArgumentParser
import Crypto
import Foundation
import HTTPTransfer
import NewsClient

/// The systemd units that fetch into a store. Each store has one service and one timer.
struct Units {
  /// The name without the suffix.
  let name: String
  private let folder: URL
  private let location: StoreLocation

  /// Creates the units of a store. The default store has the plain name, others the name of the store, and a store without a
  /// name has a digest of its path.
  ///
  /// - Throws: `ValidationError` without a home directory.
  init(_ location: StoreLocation, environment: [String: String]) throws {
    guard let home = environment.folder("XDG_CONFIG_HOME", inHome: ".config") else {
      throw ValidationError("HOME is not set")
    }
    folder = home.appending(path: "systemd/user")
    self.location = location
    let path = StoreLocation.path(location.folder)
    let digest = SHA256.hash(data: Data(path.utf8)).prefix(4).map { String(format: "%02x", $0) }.joined()
    let store = location.name ?? digest
    name = store == StoreLocation.defaultName ? "tidings-fetch" : "tidings-fetch-\(store)"
  }

  /// The files of both units.
  var files: [URL] { ["service", "timer"].map { folder.appending(path: "\(name).\($0)") } }

  /// Writes both units.
  ///
  /// - Parameters:
  ///   - executable: The path of the command.
  ///   - options: The options of `fetch`.
  ///   - environment: The variables of the service.
  /// - Returns: The files. Only the user can read them, because the address of a proxy may have a password.
  func write(executable: String, options: [String], environment: [String: String]) throws -> [URL] {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (file, text) in zip(files, [service(executable, options, environment), timer]) {
      try DurableFile(url: file).write(Data(text.utf8))
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

  /// Returns the shipped service with the paths and the variables of this machine.
  private func service(_ executable: String, _ options: [String], _ environment: [String: String]) -> String {
    let path = location.folder.absoluteURL.path(percentEncoded: false)
    let name = location.name.map { ["--name", $0] } ?? []
    let command =
      [Self.quoted(executable), "--store", Self.quoted(path)] + name + ["fetch", "--scheduled"] + options
    let variables = environment.sorted { $0.key < $1.key }.map { name, value in
      "Environment=\(Self.quoted("\(name)=\(value)", escaping: "%"))\n"
    }
    return String(decoding: PackageResources.tidings_fetch_service, as: UTF8.self)
      .replacing("/usr/local/bin/tidings-fetch fetch --scheduled", with: command.joined(separator: " "))
      .replacing("Type=oneshot\n", with: "Type=oneshot\n" + variables.joined())
  }

  /// Quotes a word of a unit. Within quotes backslashes escape. Percent signs are doubled everywhere, dollars in command
  /// lines only (systemd.service(5), "Command lines"; systemd.exec(5), `Environment=`).
  private static func quoted(_ word: String, escaping doubled: String = "%$") -> String {
    let escaped = word.map { character in
      switch character {
      case "\\", "\"": "\\\(character)"
      case "\n", "\r", "\r\n": " "
      case let character where doubled.contains(character): "\(character)\(character)"
      default: "\(character)"
      }
    }
    return "\"\(escaped.joined())\""
  }
}
