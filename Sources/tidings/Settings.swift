import ArgumentParser
import Configuration
import Foundation
import HTTPEdge
import Logging
import MediaFiles
import NetworkAddresses
import News
import NewsAPI
import NewsDelivery
import NewsFeeds
import NewsPages
import NewsStore
import PostgresClient

/// The settings of an installation, from the environment or a file. The environment takes precedence.
struct Settings: Sendable {
  var databaseURL: String
  /// The connection string of the standbys; empty for none.
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
  var batchLimit: Int
  var purgeAfter: Int
  /// The rule by which the history is kept; nil to keep all of it.
  var historyKeep: HistoryRetention?
  /// The folder of media files; empty for none.
  var mediaDirectory: String
  var mediaLimit: Int
  var mediaUnusedAfter: Int
  var publicURL: String?
  var servesReaderPages: Bool
  var servesConsole: Bool
  /// The language of the texts of pages.
  var language: InterfaceLanguage
  /// The title of the feed of all items; empty for the host of `publicURL`.
  var feedTitle: String
  var feedContent: FeedSite.Content
  var feedItems: Int
  /// The WebSub hub that feeds name and that changed feeds are announced to; nil for none.
  var hubURL: String?
  /// The push services, and the limits of pushes.
  var delivery: DeliverySettings
  /// The maximum number of registered devices.
  var deviceLimit: Int
  /// The maximum number of registrations per minute from one client address; 0 for no limit.
  var registrationsPerAddress: Int
  var trustedProxies: TrustedProxies
  /// The maximum number of requests per minute; 0 for no limit.
  var requestsPerAddress: Int
  var requestsPerKey: Int
  /// The duration from which a request is logged as slow, in milliseconds; 0 for never.
  var slowRequest: Int
  var poolSize: Int
  var preparesStatements: Bool
  var logLevel: Logger.Level
  var logFormat: LogFormat
  /// The networks that requests to foreign addresses may reach although they are not public.
  var allowedNetworks: [IPNetwork]
  var allowsPlainHTTP: Bool
  var allowsUnsafeDurability: Bool
  /// The key with which the passwords of feeds are stored; nil if there is none.
  var feedPasswordKey: FeedPasswordKey?

  /// Names in the environment that resemble settings but are not known.
  var unknownNames: [SettingName.Unknown] = []

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
      let unknown = values.keys.sorted().compactMap(SettingName.unknown(inFile:)).map(\.description)
      problems = (contents.problems + unknown).map { "\(file): \($0)" }
    }
    var environment = environment
    // Kubernetes sets this variable, among others, to the address of a service called "tidings".
    if environment[SettingName.port.rawValue]?.hasPrefix("tcp://") == true {
      environment[SettingName.port.rawValue] = nil
    }
    let unknown = environment.keys.sorted().compactMap(SettingName.unknown(inEnvironment:))
    problems += unknown.filter(\.isMisspelt).map(\.description)
    guard problems.isEmpty else { throw InvalidSettings(problems: problems) }
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
    let passwordKey = try source.secret(
      .feedPasswordKey, file: .feedPasswordKeyFile, credential: "feed-password-key", in: credentials)
    feedPasswordKey = FeedPasswordKey(passwordKey)
    guard passwordKey.isEmpty || feedPasswordKey != nil else {
      throw SettingError(
        name: SettingName.feedPasswordKey.rawValue,
        rule: "must be 32 bytes in Base64, as `openssl rand -base64 32` prints them")
    }
    host = source.text(.host, default: "127.0.0.1")
    port = try source.integer(.port, in: 0...65535, default: 8080)
    migrations = try source.path(.migrations)
    openAPI = try source.path(.openAPI)
    sharedMaxAge = try source.integer(.sharedMaxAge, in: 1...3600, default: 1)
    staleLimit = try source.integer(.staleLimit, in: 0...86400, default: 60)
    cacheSize = try source.integer(.cacheSize, in: 0...65536, default: 64)
    batchLimit = try source.integer(.batchLimit, in: 1...256, default: 16)
    purgeAfter = try source.integer(.purgeAfter, in: 0...36_500, default: 90)
    historyKeep = try source.retention(.historyKeep)
    mediaDirectory = try source.path(.mediaDirectory)
    mediaLimit = try source.integer(.mediaLimit, in: 1...1_048_576, default: 2048)
    mediaUnusedAfter = try source.integer(.mediaUnusedAfter, in: 1...36_500, default: 7)
    publicURL = try source.link(.publicURL)
    servesReaderPages = try source.flag(.readerPages, default: true)
    servesConsole = try source.flag(.console, default: true)
    language = try source.choice(.language, default: .english)
    feedTitle = try source.line(.feedTitle, maximumBytes: 200)
    feedContent = try source.choice(.feedContent, default: .full)
    feedItems = try source.integer(.feedItems, in: 1...500, default: 50)
    hubURL = try source.address(.hubURL)
    delivery = try DeliverySettings(source)
    deviceLimit = try source.integer(.deviceLimit, in: 0...100_000_000, default: 10_000_000)
    registrationsPerAddress = try source.integer(.deviceRate, in: 0...1_000_000, default: 60)
    trustedProxies = TrustedProxies(
      try source.networks(.trustedProxies), field: try source.choice(.forwardedField, default: .xForwardedFor))
    requestsPerAddress = try source.integer(.addressRate, in: 0...1_000_000_000, default: 0)
    requestsPerKey = try source.integer(.keyRate, in: 0...1_000_000_000, default: 0)
    slowRequest = try source.integer(.slowRequest, in: 0...3_600_000, default: 1000)
    poolSize = try source.integer(.poolSize, in: 2...1000, default: 8)
    preparesStatements = try source.flag(.preparedStatements, default: true)
    logLevel = try source.choice(.logLevel, default: .info)
    logFormat = try source.choice(.logFormat, default: .standard)
    allowedNetworks = try source.networks(.allowedNetworks)
    allowsPlainHTTP = try source.flag(.allowPlainHTTP, default: false)
    allowsUnsafeDurability = try source.flag(.allowUnsafeDurability, default: false)
  }

  /// The connection settings of the database.
  var connection: PostgresConfiguration {
    connection(to: databaseURL)
  }

  /// The connection settings of the standbys; nil for none.
  var standby: PostgresConfiguration? { databaseReadURL.isEmpty ? nil : connection(to: databaseReadURL) }

  private func connection(to url: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(connectionString: url)
    configuration.preparesStatements = preparesStatements
    return configuration
  }
}

extension Settings {
  /// The storage of media files; nil if none are stored. A missing folder is created once it is adopted.
  ///
  /// - Throws: `SettingError` if the folder cannot be used.
  func mediaStorage() throws -> (any MediaStorage)? {
    if mediaDirectory.isEmpty { return nil }
    do {
      return try MediaDirectory(URL(filePath: mediaDirectory), createsFolder: false)
    } catch {
      throw unusableMedia
    }
  }

  private var unusableMedia: SettingError {
    SettingError(
      name: SettingName.mediaDirectory.rawValue,
      rule: "must be a folder that \(ServerUser.current) can write to or create, not \(mediaDirectory)")
  }

  /// Adopts a new folder for files, and creates it if it is missing. The log has the reason if files are not accepted.
  ///
  /// - Throws: `SettingError` if the folder cannot be created; `StoreError`.
  func prepareMedia(over store: NewsStore, _ logger: Logger) async throws {
    guard let library = try mediaLibrary(over: store) else { return }
    let state = try await library.prepare(logger)
    if state == .unusable, !FileManager.default.fileExists(atPath: mediaDirectory) { throw unusableMedia }
  }

  func mediaLibrary(over store: NewsStore) throws -> MediaLibrary? {
    try mediaStorage().map { MediaLibrary(store: store, storage: $0) }
  }
}
