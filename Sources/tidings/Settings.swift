import ArgumentParser
import Configuration
import Foundation
import Logging
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient

/// The settings of an installation, from the environment or a file; the environment wins.
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

  /// Names in the environment that look like settings and are none.
  var unknownNames: [SettingName.Unknown] = []

  /// Reads the settings from the environment and a file; the environment wins.
  ///
  /// Other names of the file are put into the environment, where libpq looks for its own (`PGPASSFILE`).
  ///
  /// - Parameter file: A file of `NAME=value` lines (`SettingsFile`), or nil.
  /// - Throws: `SettingError` and `UnusableSettings`, which name the settings.
  static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Settings {
    var values: [String: String] = [:]
    var problems: [String] = []
    if let file {
      let contents = try SettingsFile(path: file)
      values = contents.values
      let unknown = values.keys.sorted().compactMap(SettingName.unknown(inFile:)).map(\.description)
      problems = (contents.problems + unknown).map { "\(file): \($0)" }
    }
    var environment = environment
    // Kubernetes tells the address of a service called "tidings" by this name, among others.
    if environment[SettingName.port.rawValue]?.hasPrefix("tcp://") == true {
      environment[SettingName.port.rawValue] = nil
    }
    let unknown = environment.keys.sorted().compactMap(SettingName.unknown(inEnvironment:))
    problems += unknown.filter(\.isMisspelt).map(\.description)
    guard problems.isEmpty else { throw UnusableSettings(problems: problems) }
    for (name, value) in values where SettingName(rawValue: name) == nil { setenv(name, value, 0) }
    let reader = ConfigReader(
      provider: EnvironmentVariablesProvider(environmentVariables: values.merging(environment) { $1 }))
    var settings = try Settings(reader, credentials: environment["CREDENTIALS_DIRECTORY"])
    settings.unknownNames = unknown
    return settings
  }

  /// - Parameter credentials: The folder of systemd's credentials (systemd.exec(5), "LoadCredential="); nil for none.
  private init(_ reader: ConfigReader, credentials: String?) throws {
    let source = SettingReader(reader: reader)
    databaseURL = try source.secret(.databaseURL, file: .databaseURLFile, credential: "database-url", in: credentials)
    databaseReadURL = try source.secret(
      .databaseReadURL, file: .databaseReadURLFile, credential: "database-read-url", in: credentials)
    host = source.text(.host, default: "127.0.0.1")
    port = try source.integer(.port, in: 0...65535, default: 8080)
    migrations = source.text(.migrations, default: "")
    openAPI = source.text(.openAPI, default: "")
    sharedMaxAge = try source.integer(.sharedMaxAge, in: 1...3600, default: 1)
    staleLimit = try source.integer(.staleLimit, in: 0...86400, default: 60)
    cacheSize = try source.integer(.cacheSize, in: 0...65536, default: 64)
    purgeAfter = try source.integer(.purgeAfter, in: 0...36_500, default: 90)
    mediaDirectory = source.text(.mediaDirectory, default: "")
    mediaLimit = try source.integer(.mediaLimit, in: 1...1_048_576, default: 2048)
    mediaUnusedAfter = try source.integer(.mediaUnusedAfter, in: 1...36_500, default: 7)
    publicURL = try source.link(.publicURL)
    trustedProxies = TrustedProxies(
      try source.networks(.trustedProxies), field: try source.choice(.forwardedField, default: .xForwardedFor))
    requestsPerAddress = try source.integer(.addressRate, in: 0...1_000_000_000, default: 0)
    requestsPerKey = try source.integer(.keyRate, in: 0...1_000_000_000, default: 0)
    slowRequest = try source.integer(.slowRequest, in: 0...3_600_000, default: 1000)
    poolSize = try source.integer(.poolSize, in: 2...1000, default: 8)
    preparesStatements = try source.flag(.preparedStatements, default: true)
    logLevel = try source.choice(.logLevel, default: .info)
    logFormat = try source.choice(.logFormat, default: .standard)
    allowsUnsafeDurability = try source.flag(.allowUnsafeDurability, default: false)
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
        name: SettingName.mediaDirectory.rawValue,
        rule: "must be a folder that \(ServerUser.current) can write to, or make; not \(mediaDirectory)")
    }
  }

  func mediaLibrary(over store: NewsStore) throws -> MediaLibrary? {
    try mediaStorage().map { MediaLibrary(store: store, storage: $0) }
  }
}
