import ArgumentParser
import Configuration
import Foundation
import Logging
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import SystemPackage

/// What an installation decides, from the environment or a file; the environment wins.
struct Settings: Sendable {
  var databaseURL: String
  /// Empty for none.
  var databaseReadURL: String
  var host: String
  var port: Int
  /// The folder of the migrations that `tidings migrate` applies; empty for those in the executable.
  var migrations: String
  /// The file that is served as `/openapi.yaml`; empty for the one in the executable.
  var openAPI: String
  var sharedMaxAge: Int
  var staleLimit: Int
  var cacheSize: Int
  var purgeAfter: Int
  /// Empty for none.
  var mediaDirectory: String
  var mediaLimit: Int
  var mediaUnusedAfter: Int
  var publicURL: String?
  var trustedProxies: TrustedProxies
  /// Requests a minute; 0 for any number.
  var requestsPerAddress: Int
  var requestsPerKey: Int
  /// Milliseconds; 0 for none.
  var slowRequest: Int
  var poolSize: Int
  var preparesStatements: Bool
  var logLevel: Logger.Level
  var logFormat: LogFormat
  var allowsUnsafeDurability: Bool

  /// - Parameter file: Lines of `NAME=value`, or nil.
  /// - Throws: `SettingError` that names the setting.
  static func load(file: String?) async throws -> Settings {
    var providers: [any ConfigProvider] = [EnvironmentVariablesProvider()]
    if let file {
      do {
        providers.append(try await EnvironmentVariablesProvider(environmentFilePath: FilePath(file)))
      } catch {
        throw SettingError(name: "--settings", rule: "must name a readable file of NAME=value lines")
      }
    }
    return try Settings(ConfigReader(providers: providers))
  }

  init(_ reader: ConfigReader) throws {
    let source = SettingReader(reader: reader)
    databaseURL = source.text("database.url", default: "")
    databaseReadURL = source.text("database.read.url", default: "")
    host = source.text("tidings.host", default: "127.0.0.1")
    port = try source.integer("tidings.port", in: 0...65535, default: 8080)
    migrations = source.text("tidings.migrations", default: "")
    openAPI = source.text("tidings.openapi", default: "")
    sharedMaxAge = try source.integer("tidings.shared.max.age", in: 1...3600, default: 1)
    staleLimit = try source.integer("tidings.stale.limit", in: 0...86400, default: 60)
    cacheSize = try source.integer("tidings.cache.size", in: 0...65536, default: 64)
    purgeAfter = try source.integer("tidings.purge.after", in: 0...36_500, default: 90)
    mediaDirectory = source.text("tidings.media.directory", default: "")
    mediaLimit = try source.integer("tidings.media.limit", in: 1...1_048_576, default: 2048)
    mediaUnusedAfter = try source.integer("tidings.media.unused.after", in: 1...36_500, default: 7)
    publicURL = try source.link("tidings.public.url")
    trustedProxies = TrustedProxies(
      try source.networks("tidings.trusted.proxies"),
      field: try source.choice("tidings.forwarded.field", default: .xForwardedFor))
    requestsPerAddress = try source.integer("tidings.address.rate", in: 0...1_000_000_000, default: 0)
    requestsPerKey = try source.integer("tidings.key.rate", in: 0...1_000_000_000, default: 0)
    slowRequest = try source.integer("tidings.slow.request", in: 0...3_600_000, default: 1000)
    poolSize = try source.integer("tidings.pool.size", in: 1...1000, default: 8)
    preparesStatements = try source.flag("tidings.prepared.statements", default: true)
    logLevel = try source.choice("tidings.log.level", default: .info)
    logFormat = try source.choice("tidings.log.format", default: .standard)
    allowsUnsafeDurability = try source.flag("tidings.allow.unsafe.durability", default: false)
  }

  /// How to reach the database.
  var connection: PostgresConfiguration {
    connection(to: databaseURL)
  }

  /// How to reach its standbys; nil for none.
  var standby: PostgresConfiguration? { databaseReadURL.isEmpty ? nil : connection(to: databaseReadURL) }

  private func connection(to url: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(connectionString: url)
    configuration.preparesStatements = preparesStatements
    return configuration
  }
}

extension Settings {
  /// Where files are kept; nil for nowhere.
  func mediaStorage() throws -> (any MediaStorage)? {
    if mediaDirectory.isEmpty { return nil }
    do {
      return try MediaDirectory(URL(filePath: mediaDirectory))
    } catch {
      throw SettingError(
        name: "TIDINGS_MEDIA_DIRECTORY", rule: "must be a folder that can be written to, not \(mediaDirectory)")
    }
  }

  func mediaLibrary(over store: NewsStore) throws -> MediaLibrary? {
    try mediaStorage().map { MediaLibrary(store: store, storage: $0) }
  }
}

/// A setting that cannot be used.
struct SettingError: Error, CustomStringConvertible {
  /// As it is written in the environment.
  let name: String
  let rule: String

  var description: String { "\(name) \(rule)" }
}

/// Reads settings by key; the name in the environment is the key in capitals with underscores.
private struct SettingReader {
  let reader: ConfigReader

  func text(_ key: String, default standard: String) -> String {
    let value = reader.string(forKey: ConfigKey(key)) ?? ""
    return value.isEmpty ? standard : value
  }

  func integer(_ key: String, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
    let text = text(key, default: String(standard))
    guard let number = Int(text), range ~= number else {
      throw error(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(text)")
    }
    return number
  }

  func flag(_ key: String, default standard: Bool) throws -> Bool {
    switch text(key, default: String(standard)) {
    case "true": return true
    case "false": return false
    case let text: throw error(key, "must be true or false, not \(text)")
    }
  }

  /// - Returns: Without a slash at the end; nil where there is none.
  func link(_ key: String) throws -> String? {
    let text = text(key, default: "")
    if text.isEmpty { return nil }
    guard let link = WebLink.normalised(text), !link.contains(where: { "?#".contains($0) }) else {
      throw error(key, "must be an absolute http or https URL without a query, not \(text)")
    }
    return link.hasSuffix("/") ? String(link.dropLast()) : link
  }

  /// - Returns: None where there are none.
  func networks(_ key: String) throws -> [IPNetwork] {
    try text(key, default: "").split(whereSeparator: { $0 == "," || $0 == " " }).map { text in
      guard let network = IPNetwork(text) else {
        throw error(key, "must be addresses and networks such as 10.0.0.0/8, separated by commas, not \(text)")
      }
      return network
    }
  }

  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: String, default standard: Value
  ) throws -> Value where Value.RawValue == String {
    let text = text(key, default: standard.rawValue)
    guard let value = Value(rawValue: text) else {
      throw error(key, "must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", ")), not \(text)")
    }
    return value
  }

  private func error(_ key: String, _ rule: String) -> SettingError {
    SettingError(name: key.uppercased().replacing(".", with: "_"), rule: rule)
  }
}
