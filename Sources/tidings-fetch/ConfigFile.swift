import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

/// The user's settings of all stores: `$XDG_CONFIG_HOME/tidings-fetch/config.json`.
///
///     {"stores":{"default":{"server":"https://news.example","topics":["harbour"],"interval":"minimum","notify":true}}}
///
/// Members that this version does not know are kept when the file is written.
struct ConfigFile {
  /// The error of a file that cannot be used.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The file; it may be missing.
  let url: URL

  /// Finds the file.
  ///
  /// - Returns: nil without a home directory.
  init?(environment: [String: String]) {
    guard let folder = environment.folder("XDG_CONFIG_HOME", inHome: ".config") else { return nil }
    url = folder.appending(path: "tidings-fetch/config.json", directoryHint: .notDirectory)
  }

  /// The path of the file.
  var path: String { url.path(percentEncoded: false) }

  /// The names of all stores that have settings.
  ///
  /// - Throws: ``Failure``
  var names: [String] {
    get throws { try stores(read()).keys.sorted() }
  }

  /// Returns the settings of a store in the form of the command's options.
  ///
  /// - Throws: ``Failure`` for a file that cannot be read, and for unknown settings.
  func settings(of store: String) throws -> [Setting: String] {
    guard let members = try stores(read())[store] else { return [:] }
    var settings: [Setting: String] = [:]
    for (name, value) in try object(members, "stores.\(store)") {
      guard let setting = Setting(rawValue: name) else {
        throw Failure(
          description:
            "'\(name.terminalSafe)' in \(path) is not a setting; the settings are \(Setting.list)")
      }
      guard let text = Self.text(value) else {
        throw Failure(
          description: "the setting '\(name)' of the store '\(store)' in \(path) has a value of a wrong type")
      }
      settings[setting] = text
    }
    return settings
  }

  /// Stores a setting, or removes it. A crash leaves either the old or the new file.
  ///
  /// - Parameter text: The value in the form of the command's option; nil to remove the setting.
  /// - Throws: ``Failure``, `FetchError` with `storage`.
  func set(_ setting: Setting, of store: String, to text: String?) async throws {
    // The file may be a link to the user's collection of settings, which stays.
    let target = url.resolvingSymlinksInPath()
    do {
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure(description: "cannot create the folder of \(path): \(StorageFailure.reason(error))")
    }
    guard let held = try await FetchLock(path: path + ".lock").acquire(within: .seconds(5)) else {
      throw Failure(description: "another command is changing \(path)")
    }
    defer { held.release() }
    var root = try read()
    var stores = try stores(root)
    var members = try stores[store].map { try object($0, "stores.\(store)") } ?? [:]
    members[setting.rawValue] = text.map { setting.json($0) }
    stores[store] = members.isEmpty ? nil : members
    root["stores"] = stores
    let options: JSONSerialization.WritingOptions = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try JSONSerialization.data(withJSONObject: root, options: options) + Data("\n".utf8)
    try DurableFile(url: target).write(data)
  }

  private func read() throws -> [String: Any] {
    guard FileManager.default.fileExists(atPath: path) else { return [:] }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Failure(description: "cannot read the settings in \(path)")
    }
    do {
      return try object(JSONSerialization.jsonObject(with: data), "the file")
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: "the settings in \(path) are not valid JSON. Correct or remove the file")
    }
  }

  private func stores(_ root: [String: Any]) throws -> [String: Any] {
    try root["stores"].map { try object($0, "stores") } ?? [:]
  }

  private func object(_ value: Any, _ name: String) throws -> [String: Any] {
    if let object = value as? [String: Any] { return object }
    throw Failure(description: "\(name) in \(path) is not a JSON object. Correct or remove the file")
  }

  /// Returns a JSON value in the form of an option; nil for other types.
  private static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text
    case let list as [String]: list.joined(separator: ",")
    case let isOn as Bool: isOn ? "on" : "off"
    case let number as Int: "\(number)"
    default: nil
    }
  }
}

extension [String: String] {
  /// Returns the folder that a variable names, or the default one (XDG Base Directory Specification).
  ///
  /// - Parameter path: The path of the default folder within the home directory.
  /// - Returns: nil without a home directory.
  func folder(_ variable: String, inHome path: String) -> URL? {
    (self[variable] ?? self["HOME"].map { "\($0)/\(path)" }).map { URL(filePath: $0, directoryHint: .isDirectory) }
  }
}
