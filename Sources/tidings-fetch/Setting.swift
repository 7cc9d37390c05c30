import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient

/// A setting of a store. Its value comes from an option, or else from a variable, or else from the configuration file.
enum Setting: String, CaseIterable, ExpressibleByArgument {
  case server, topics, interval, media, notify, exec, proxy, caFile

  /// The names of all settings.
  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The variables of the environment, the preferred one first.
  var variables: [String] {
    switch self {
    case .server: ["TIDINGS_FETCH_SERVER", "TIDINGS_SERVER"]
    case .media: ["TIDINGS_FETCH_MEDIA", "TIDINGS_MEDIA"]
    case .caFile: ["TIDINGS_FETCH_CA_FILE"]
    default: ["TIDINGS_FETCH_\(rawValue.uppercased())"]
    }
  }

  /// The rule for its values.
  var rule: String {
    switch self {
    case .server: "an http or https URL without a query"
    case .topics: "slugs separated by commas; empty for the whole feed"
    case .interval: "never, minimum, or a time such as 30m, 2h or 1d"
    case .media: "none, thumbnails or all"
    case .notify: "on or off"
    case .exec: "an executable program, or none"
    case .proxy: "an address with http or socks5 such as http://proxy.example:3128, or none"
    case .caFile: "a file with certificates in PEM, or none"
    }
  }

  /// Whether a text has the form of a value. Programs and files may be missing, because they matter only where they are used.
  func isValid(_ text: String) -> Bool {
    switch self {
    case .server: HTTPLocation(argument: text) != nil
    case .topics: TopicList(argument: text) != nil
    case .interval: FetchInterval(text) != nil
    case .media: MediaSelection(rawValue: text) != nil
    case .notify: Self.isOn(text) != nil
    case .exec, .caFile: !text.isEmpty
    case .proxy: text == "none" || (try? ProxySettings(address: text)) != nil
    }
  }

  /// Whether a text can be stored as a value.
  func isUsable(_ text: String) -> Bool {
    if text == "none" { return isValid(text) }
    switch self {
    case .exec: return URL(programNamed: text) != nil
    case .caFile:
      var options = ConnectionOptions()
      return (try? options.trust(certificatesIn: URL(filePath: text))) != nil
    default: return isValid(text)
    }
  }

  /// Returns whether a text turns something on; nil for other texts.
  static func isOn(_ text: String) -> Bool? {
    switch text {
    case "on", "true": true
    case "off", "false": false
    default: nil
    }
  }

  /// Returns the form of a valid value in the configuration file. Paths are absolute, because commands run in any folder.
  func json(_ text: String) -> Any {
    switch self {
    case .topics: text.commaSeparated
    case .notify: Self.isOn(text) ?? false
    case .exec: URL(programNamed: text)?.path(percentEncoded: false) ?? text
    case .caFile where text != "none":
      URL(filePath: text).absoluteURL.standardizedFileURL.path(percentEncoded: false)
    default: text
    }
  }
}

/// The settings of a store from all sources except the options.
struct StoreSettings {
  /// The place of a value.
  enum Source: Equatable {
    case variable(String)
    case file

    /// The name for users.
    var name: String {
      switch self {
      case .variable(let name): name
      case .file: "config"
      }
    }
  }

  /// The store to which the settings belong.
  let location: StoreLocation
  private let values: [Setting: (text: String, source: Source)]

  /// Reads the settings.
  ///
  /// - Parameters:
  ///   - file: The configuration file; nil without a home directory.
  ///   - location: The store. One without a name has no settings in the file.
  /// - Throws: `ConfigFile.Failure` for a value that is not valid.
  init(_ file: ConfigFile?, of location: StoreLocation, environment: [String: String]) throws {
    self.location = location
    let store = location.name
    let stored = try store.flatMap { try file?.settings(of: $0) } ?? [:]
    var values: [Setting: (text: String, source: Source)] = [:]
    for setting in Setting.allCases {
      let variable = setting.variables.first { environment[$0] != nil }
      if let variable, let text = environment[variable] {
        guard setting.isValid(text) else {
          throw ConfigFile.Failure(description: "\(variable) must be \(setting.rule)")
        }
        values[setting] = (text, .variable(variable))
      } else if let text = stored[setting] {
        guard setting.isValid(text) else {
          let place = "the setting '\(setting.rawValue)' of the store '\(store ?? "")' in \(file?.path ?? "")"
          throw ConfigFile.Failure(description: "\(place) must be \(setting.rule)")
        }
        values[setting] = (text, .file)
      }
    }
    self.values = values
  }

  /// The value of a setting; nil if there is none.
  subscript(setting: Setting) -> String? { values[setting]?.text }

  /// Returns the place of the value of a setting; nil if there is none.
  func source(of setting: Setting) -> Source? { values[setting]?.source }

  /// The value of a setting for which `none` stands for no value; nil if there is none.
  func path(_ setting: Setting) -> String? { self[setting].flatMap { $0 == "none" ? nil : $0 } }
}

extension URL {
  /// The absolute URL of an executable program. A name without a slash is looked up in the search path.
  init?(programNamed name: String) {
    let path = TidingsFetch.environment["PATH"] ?? "/usr/bin:/bin"
    let folders = name.contains("/") ? [""] : path.split(separator: ":").map { "\($0)/" }
    guard let file = folders.lazy.compactMap({ URL(program: $0 + name) }).first else { return nil }
    self = file
  }
}
