import Configuration
import Foundation
import News
import PostgresClient

/// The settings of an installation, from the environment or a file. The environment takes precedence.
///
/// Each entry of `SettingTable` is a member: `settings.port` is the value of `SettingTable.port`.
@dynamicMemberLookup
struct Settings: Sendable {
  typealias Source = (text: String, place: String)

  private var values: [String: any Sendable] = [:]
  /// The texts of the settings that are not empty, and the places where they were found, by name.
  private(set) var sources: [String: Source] = [:]
  /// Names in the environment that resemble settings but are not known.
  private(set) var unknownNames: [UnknownSetting] = []

  subscript<Value>(dynamicMember member: KeyPath<SettingTable, Setting<Value>>) -> Value {
    get {
      let setting = SettingTable.shared[keyPath: member]
      return values[setting.name] as? Value ?? setting.standard
    }
    set { values[SettingTable.shared[keyPath: member].name] = newValue }
  }

  /// Reads the settings from the environment and a file. The environment takes precedence.
  ///
  /// Other names in the file are added to the environment, where libpq looks for its own (`PGPASSFILE`).
  ///
  /// - Parameter file: A file of `NAME=value` lines (`SettingsFile`), or nil.
  /// - Throws: `SettingError` and `InvalidSettings`, which name the settings.
  static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Settings {
    var values: [String: String] = [:]
    var problems: [String] = []
    if let file {
      let contents = try SettingsFile(path: file)
      values = contents.values
      let unknown = values.keys.sorted().compactMap(UnknownSetting.init(inFile:)).map(\.description)
      problems = (contents.problems + unknown).map { "\(file): \($0)" }
    }
    var environment = environment
    // Kubernetes sets this variable, among others, to the address of a service called "tidings".
    let port = SettingTable.shared.port.name
    if environment[port]?.hasPrefix("tcp://") == true { environment[port] = nil }
    let unknown = environment.keys.sorted().compactMap(UnknownSetting.init(inEnvironment:))
    problems += unknown.filter(\.isMisspelt).map(\.description)
    guard problems.isEmpty else { throw InvalidSettings(problems: problems) }
    for (name, value) in values where !SettingTable.names.contains(name) { setenv(name, value, 0) }
    var settings = try Settings(
      SettingReader(environment: environment, file: values, credentials: environment["CREDENTIALS_DIRECTORY"]))
    settings.unknownNames = unknown
    return settings
  }

  private init(_ reader: SettingReader) throws {
    for entry in SettingTable.entries {
      guard let source = try reader.read(entry) else { continue }
      values[entry.name] = try entry.value(source.text)
      sources[entry.name] = source
    }
  }

  /// The connection settings of the database.
  var connection: PostgresConfiguration { connection(to: self.databaseURL) }

  /// The connection settings of the standbys; nil for none.
  var standby: PostgresConfiguration? { self.databaseReadURL.isEmpty ? nil : connection(to: self.databaseReadURL) }

  private func connection(to url: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(connectionString: url)
    configuration.preparesStatements = self.preparesStatements
    return configuration
  }
}

/// Finds the texts of settings.
private struct SettingReader {
  private static let maximumSecretBytes = 65_536

  private let environment: [String: String]
  private let reader: ConfigReader
  /// The folder of systemd's credentials (systemd.exec(5), "LoadCredential="); nil for none.
  private let credentials: String?

  init(environment: [String: String], file: [String: String], credentials: String?) {
    self.environment = environment
    self.credentials = credentials
    reader = ConfigReader(
      provider: EnvironmentVariablesProvider(environmentVariables: file.merging(environment) { $1 }))
  }

  /// Returns the text of a setting; nil for none, or an empty one. A secret may be in a file of its own: the file that a
  /// setting names, or else a credential of systemd.
  func read(_ entry: SettingEntry) throws -> Settings.Source? {
    let source = source(entry.name)
    guard let credential = entry.credential, let file = entry.file else { return source }
    if let path = self.source(file.name)?.text {
      _ = try file.value(path)
      guard source == nil else {
        throw SettingError(name: file.name, rule: "must not be set together with \(entry.name): remove one of them")
      }
      return (try line(of: path, for: file.name), "file \(path)")
    }
    guard source == nil, let credentials, !credentials.isEmpty else { return source }
    let path = "\(credentials)/\(credential)"
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    return (try line(of: path, for: "The credential \(credential)"), "credential \(credential)")
  }

  private func source(_ name: String) -> Settings.Source? {
    let key = name.lowercased().replacing("_", with: ".")
    guard let text = reader.string(forKey: ConfigKey(key)), !text.isEmpty else { return nil }
    return (text, environment[name] == nil ? "settings file" : "environment")
  }

  private func line(of path: String, for subject: String) throws -> String {
    do {
      let text = try SettingsFile.text(of: path, maximumBytes: Self.maximumSecretBytes)
      let lines = text.split(whereSeparator: \.isNewline)
      if lines.count == 1, let line = lines.first, !line.allSatisfy(\.isWhitespace) { return String(line) }
    } catch {
      throw SettingError(name: subject, rule: "must name a readable file; \(error)")
    }
    throw SettingError(name: subject, rule: "must name a file with the value on a single line, not \(path)")
  }
}
