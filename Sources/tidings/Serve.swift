import ArgumentParser
import CoreMetrics
import Foundation
import HTTPEdge
import Hummingbird
import Logging
import News
import NewsAPI
import NewsConsole
import NewsDelivery
import NewsFollower
import NewsStore
import OutgoingHTTP
import ServiceLifecycle
import Synchronization
import UnixSignals

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves requests until SIGTERM or SIGINT.",
    discussion: """
      After the signal, the server finishes the active requests, for at most 25 seconds. SIGHUP is ignored, because \
      settings are read only at startup and the log goes to standard error.
      """)

  @OptionGroup var common: CommonOptions

  @Option(help: "The address to listen on. (default: TIDINGS_HOST, or 127.0.0.1)")
  var host: String?

  @Option(help: "The port to listen on; 0 selects a free one. (default: TIDINGS_PORT, or 8080)")
  var port: Int?

  func validate() throws {
    if let port, !(0...65535).contains(port) { throw ValidationError("--port must be from 0 to 65535, not \(port).") }
  }

  func run() async throws {
    signal(SIGHUP, SIG_IGN)
    FreeDescriptors.raiseLimit()
    try await reporting {
      var (settings, logger) = try common.load()
      settings.host = host ?? settings.host
      settings.port = port ?? settings.port
      logger.notice("starting", metadata: ["version": "\(TidingsVersion.current)"])
      let deliveries = try settings.deliveryConfiguration()
      try await settings.checkSetUp(logger)
      try await settings.withStore(logger) { [settings] store in
        try await settings.checkDurability(of: store, logger)
        try await settings.prepareMedia(over: store, logger)
        var apiSettings = try settings.api()
        apiSettings.logLevel = logger.logLevel
        apiSettings.push = settings.pushSettings(deliveries)
        apiSettings.addressPolicy = settings.addressPolicy
        let api = NewsAPI(store: store, settings: apiSettings)
        MetricsSystem.bootstrap(api.metricsFactory)
        // Requests of the console use the client until the server has stopped.
        try await settings.withOutgoingClient { client in
          try await settings.withOutgoingClient(limits: WebhookService.limits) { webhookClient in
            let webhooks = WebhookService(store: store, client: webhookClient, logger: logger)
            let pushes = deliveries.service(
              store: store, policy: settings.addressPolicy, publicURL: settings.publicURL, logger: logger)
            try await Self.serve(api, store, client, [webhooks.run, pushes.run], settings, logger)
          }
        }
      }
    }
  }

  /// Runs the server until a signal arrives, the active requests are answered and all connections are closed.
  private static func serve(
    _ api: NewsAPI, _ store: NewsStore, _ client: OutgoingClient, _ deliveries: [@Sendable () async -> Void],
    _ settings: Settings, _ logger: Logger
  ) async throws {
    var requestLogger = logger
    // The framework logs its start at `info`. The line about listening is logged here instead.
    if logger.logLevel == .info { requestLogger.logLevel = .notice }
    let modules: [any RouteModule] = settings.servesConsole ? [settings.console(over: api, client)] : []
    let isListening = Mutex(false)
    let manager = ServiceManager()
    let application = api.application(
      address: .hostname(settings.host, port: settings.port), logger: requestLogger, modules: modules
    ) { [settings] channel in
      isListening.withLock { $0 = true }
      let address = channel.localAddress.map { "\($0.ipAddress ?? settings.host):\($0.port ?? settings.port)" }
      logger.notice("listening", metadata: ["address": "\(address ?? settings.host)"])
      manager.notify("READY=1\nSTATUS=Listening on \(address ?? settings.host)")
    }
    let group = ServiceGroup(
      configuration: try settings.services(
        application, store, client, deliveries, manager, logger: logger, groupLogger: requestLogger))
    do {
      // The group does not run on the threads of `PostgresExecutor`. A handler that computes there would delay all
      // responses of the database.
      try await group.run()
    } catch  where !isListening.withLock({ $0 }) {
      throw ListenError(host: settings.host, port: settings.port, cause: error)
    }
    logger.notice("stopped")
  }
}

extension Settings {
  /// Returns the console, which reads feeds with a client before it subscribes to them.
  fileprivate func console(over api: NewsAPI, _ client: OutgoingClient) -> NewsConsole {
    var console = NewsConsole.Settings()
    console.feedPreviewer = FeedPreviewer(client: client)
    return NewsConsole(api: api, settings: console)
  }

  /// Returns the services to run: the server and its background work.
  fileprivate func services(
    _ application: some Service, _ store: NewsStore, _ client: OutgoingClient,
    _ deliveries: [@Sendable () async -> Void], _ manager: ServiceManager,
    logger: Logger, groupLogger: Logger
  ) throws -> ServiceGroupConfiguration {
    let follower = FeedFollower(store: store, client: client, logger: logger)
    let hubs = hubServices(store, client, logger)
    var services: [any Service] = [
      Background { await store.follow() }, Background { await store.keepSchedule() }, application,
      Background {
        await withDiscardingTaskGroup { group in
          group.addTask { await follower.run() }
          for work in hubs + deliveries { group.addTask(operation: work) }
        }
      },
    ]
    let age: Duration? = self.purgeAfter > 0 ? .seconds(self.purgeAfter * 86_400) : nil
    services.append(Background { await store.purgeRegularly(olderThan: age, keeping: self.historyKeep) })
    if let library = try mediaLibrary(over: store) {
      let age = Duration.seconds(self.mediaUnusedAfter * 86_400)
      services.append(Background { await library.collectRegularly(unusedFor: age, logger: logger) })
    }
    // The group shuts the last service down first.
    services.append(StopNotice(manager: manager))
    var configuration = ServiceGroupConfiguration(
      services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: groupLogger)
    configuration.maximumGracefulShutdownDuration = .seconds(25)
    return configuration
  }
}

extension Settings {
  /// Returns the work for WebSub hubs: leases for the feeds that the server follows, and announcements of its own feeds.
  fileprivate func hubServices(
    _ store: NewsStore, _ client: OutgoingClient, _ logger: Logger
  ) -> [@Sendable () async -> Void] {
    let subscriber = HubSubscriber(store: store, client: client, publicURL: self.publicURL, logger: logger)
    guard let hubURL = self.hubURL else { return [subscriber.run] }
    guard let publicURL = self.publicURL else {
      logger.warning("feeds are not announced to TIDINGS_HUB_URL, because TIDINGS_PUBLIC_URL is not set")
      return [subscriber.run]
    }
    let announcer = HubAnnouncer(store: store, client: client, hub: hubURL, publicURL: publicURL, logger: logger)
    return [subscriber.run, announcer.run]
  }
}

/// Notifies the service manager that the server has begun to stop.
private struct StopNotice: Service {
  let manager: ServiceManager

  func run() async throws {
    try? await gracefulShutdown()
    manager.notify("STOPPING=1\nSTATUS=Finishing active requests")
  }
}

/// Background work, which is cancelled when the server shuts down.
private struct Background: Service {
  let work: @Sendable () async -> Void

  func run() async { await cancelWhenGracefulShutdown(work) }
}

extension Settings {
  func api() throws -> NewsAPI.Settings {
    var api = NewsAPI.Settings()
    if !self.openAPI.isEmpty {
      guard let description = try? Data(contentsOf: URL(filePath: self.openAPI)) else {
        let name = SettingTable.shared.openAPI.name
        throw SettingError(name: name, rule: "must name a readable file, not \(self.openAPI)")
      }
      api.openAPI = description
    }
    api.sharedMaxAge = self.sharedMaxAge
    // Half of the memory is for views, the other half for fragments.
    api.viewBudget = self.cacheSize << 19
    api.cachesViews = self.cacheSize > 0
    api.media = try mediaStorage()
    api.maximumMediaBytes = self.mediaLimit << 20
    api.maximumBatchBytes = self.batchLimit << 20
    api.publicURL = self.publicURL
    api.servesReaderPages = self.servesReaderPages
    api.language = self.language
    api.feedTitle = self.feedTitle.isEmpty ? nil : self.feedTitle
    api.feedContent = self.feedContent
    api.feedItems = self.feedItems
    api.feedHubs = self.hubURL.map { [$0] } ?? []
    api.trustedProxies = trustedProxies
    api.requestsPerAddress = self.requestsPerAddress > 0 ? self.requestsPerAddress : nil
    api.requestsPerKey = self.requestsPerKey > 0 ? self.requestsPerKey : nil
    api.slowRequest = self.slowRequest > 0 ? .milliseconds(self.slowRequest) : nil
    api.limitReads(ofPool: self.poolSize)
    return api
  }

  /// Logs a warning if searches fail in the database.
  ///
  /// - Throws: `CommandError` if the role cannot read or write.
  func checkSetUp(_ logger: Logger) async throws {
    // A store needs the rights for its first connection.
    let (locale, rights) = try await DatabaseFacts.setUp(connection, logger: logger)
    if let problem = rights.problem { throw CommandError(problem) }
    guard let problem = locale.problem else { return }
    logger.warning(
      "searches do not find all words",
      metadata: ["reason": "\(problem)", "remedy": "a database made with \(locale.creation)"])
  }

  /// Logs a warning if the database can lose acknowledged writes in a crash. If that is not allowed, the store refuses
  /// the database.
  func checkDurability(of store: NewsStore, _ logger: Logger) async throws {
    let settings = try await store.unsafeDurabilitySettings()
    guard !settings.isEmpty else { return }
    logger.warning("acknowledged writes can be lost", metadata: ["settings": "\(settings.joined(separator: ", "))"])
  }
}
