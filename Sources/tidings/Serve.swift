import ArgumentParser
import CoreMetrics
import Foundation
import Hummingbird
import Logging
import NewsAPI
import NewsStore
import PostgresClient
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Answers requests until SIGTERM or SIGINT.")

  @OptionGroup var common: CommonOptions

  @Option(help: "The address to listen on (TIDINGS_HOST, 127.0.0.1).")
  var host: String?

  @Option(help: "The port to listen on, 0 for a free one (TIDINGS_PORT, 8080).")
  var port: Int?

  func validate() throws {
    if let port, !(0...65535).contains(port) { throw ValidationError("--port must be from 0 to 65535, not \(port).") }
  }

  func run() async throws {
    var (settings, logger) = try await common.load()
    settings.host = host ?? settings.host
    settings.port = port ?? settings.port
    try await reporting { [settings] in
      try await settings.withStore(logger) { store in
        try await settings.refuseUnsafeDurability(of: store, logger)
        var apiSettings = try settings.api()
        apiSettings.logLevel = logger.logLevel
        let api = NewsAPI(store: store, settings: apiSettings)
        MetricsSystem.bootstrap(api.metricsFactory)
        try await Self.serve(api, store, settings, logger)
      }
    }
  }

  /// Returns once a signal has come, requests under way are answered and connections closed.
  private static func serve(_ api: NewsAPI, _ store: NewsStore, _ settings: Settings, _ logger: Logger) async throws {
    var requestLogger = logger
    // The framework announces itself at `info`; the one line that tells of listening is ours.
    if logger.logLevel == .info { requestLogger.logLevel = .notice }
    let address = BindAddress.hostname(settings.host, port: settings.port)
    let application = api.application(address: address, logger: requestLogger) { channel in
      let address = channel.localAddress.map { "\($0.ipAddress ?? settings.host):\($0.port ?? settings.port)" }
      logger.notice("listening", metadata: ["address": "\(address ?? settings.host)"])
    }
    var configuration = ServiceGroupConfiguration(
      services: [Background { await store.follow() }, application], gracefulShutdownSignals: [.sigterm, .sigint],
      logger: requestLogger)
    configuration.maximumGracefulShutdownDuration = .seconds(25)
    if settings.purgeAfter > 0 {
      let age = Duration.seconds(settings.purgeAfter * 86_400)
      let purger = Background { await store.purgeRegularly(olderThan: age) }
      configuration.services.append(ServiceGroupConfiguration.ServiceConfiguration(service: purger))
    }
    if let library = try settings.mediaLibrary(over: store) {
      let age = Duration.seconds(settings.mediaUnusedAfter * 86_400)
      let collector = Background { await library.collectRegularly(unusedFor: age, logger: logger) }
      configuration.services.append(ServiceGroupConfiguration.ServiceConfiguration(service: collector))
    }
    // Most of what a request costs is waiting for PostgreSQL.
    try await withTaskExecutorPreference(PostgresExecutor.shared) { [configuration] in
      try await ServiceGroup(configuration: configuration).run()
    }
    logger.notice("stopped")
  }
}

/// Work beside the requests, which ends with the server.
private struct Background: Service {
  let work: @Sendable () async -> Void

  func run() async { await cancelWhenGracefulShutdown(work) }
}

extension Settings {
  func api() throws -> NewsAPI.Settings {
    var api = NewsAPI.Settings()
    if !openAPI.isEmpty {
      guard let description = try? Data(contentsOf: URL(filePath: openAPI)) else {
        throw SettingError(name: "TIDINGS_OPENAPI", rule: "must name a readable file, or be left out, not \(openAPI)")
      }
      api.openAPI = description
    }
    api.sharedMaxAge = sharedMaxAge
    api.viewBudget = cacheSize << 20
    api.keepsAnswers = cacheSize > 0
    api.media = try mediaStorage()
    api.largestMedia = mediaLimit << 20
    api.publicURL = publicURL
    api.trustedProxies = trustedProxies
    api.requestsPerAddress = requestsPerAddress > 0 ? requestsPerAddress : nil
    api.requestsPerKey = requestsPerKey > 0 ? requestsPerKey : nil
    api.slowRequest = slowRequest > 0 ? .milliseconds(slowRequest) : nil
    api.singleAnswers = max(1, poolSize / 2)
    return api
  }

  /// An acknowledged write must survive a crash; tests may give that up for speed.
  func refuseUnsafeDurability(of store: NewsStore, _ logger: Logger) async throws {
    guard let setting = try await store.unsafeDurabilitySetting() else { return }
    guard allowsUnsafeDurability else {
      throw SettingError(
        name: "TIDINGS_ALLOW_UNSAFE_DURABILITY",
        rule: "must be true to serve from a database with \(setting), which loses acknowledged writes in a crash")
    }
    logger.warning("acknowledged writes can be lost", metadata: ["setting": "\(setting)"])
  }
}
