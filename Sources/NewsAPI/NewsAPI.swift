public import CoreMetrics
public import Foundation
import HTTPConditions
public import HTTPEdge
public import Hummingbird
public import Logging
public import MediaFiles
package import NIOCore
import News
public import NewsFeeds
public import NewsPages
public import NewsStore
public import OutgoingHTTP

/// The REST API over a store.
public struct NewsAPI: Sendable {
  /// The settings of an installation.
  public struct Settings: Sendable {
    /// The time for which a shared cache may answer without revalidation, in seconds, at least 1. With 0, nginx and
    /// Varnish would not store anything.
    public var sharedMaxAge = 1
    /// The document that `/openapi.yaml` serves.
    public var openAPI = Data(embeddedContract[0].text.utf8)
    /// The memory budget for answers that are cached until they change, in bytes.
    public var viewBudget = 64 << 20
    /// Whether answers are cached.
    package var cachesViews = true
    /// The maximum number of public reads of the database at a time. It is lower than the number of connections in the
    /// pool, so that readers leave some to writes and key look-ups.
    public var concurrentReads = 6
    /// The maximum number of searches, further pages and other reads that serve one request only, at a time: at most
    /// `concurrentReads`.
    public var concurrentSingleReads = 4
    /// The storage of media files; nil if the server keeps none.
    public var media: (any MediaStorage)?
    /// The maximum size of a media file, in bytes.
    public var maximumMediaBytes = 2 << 30
    /// The maximum number of unfinished uploads of a key. Together they may have four times as many bytes as a file.
    package var unfinishedUploadsPerKey = 20
    /// The time in seconds after the last progress at which an unfinished upload expires.
    package var uploadLifetime = 86_400.0
    /// The maximum size of the body of a batch, in bytes.
    public var maximumBatchBytes = 16 << 20
    /// The maximum number of batches that are written at a time. Further ones wait.
    package var concurrentBatches = 2
    /// The maximum size of the stored items that a batch changes, in bytes of JSON, if twice `maximumBatchBytes` is less.
    package var maximumStoredBatchBytes = 32 << 20
    /// The prefix of the addresses of uploaded files: scheme, host and everything else in front of `/v1`. nil for
    /// addresses without a prefix, which are valid on any server.
    public var publicURL: String?
    /// Whether there are pages for readers: the feed, topics and items as HTML.
    public var servesReaderPages = true
    /// The language of the pages' own texts.
    public var language = InterfaceLanguage.english
    /// The title of the feed of all items; nil for the host of `publicURL`. Without `publicURL`, there are no feeds.
    public var feedTitle: String?
    /// The content of the entries of feeds.
    public var feedContent = FeedSite.Content.full
    /// The number of items with the latest changes in a feed, 1 or more. Items that no archive has are always in it.
    public var feedItems = 50
    /// The URLs of the WebSub hubs that feeds name.
    public var feedHubs: [String] = []
    /// The push services that devices can register for.
    public var push = PushSettings()
    /// The rule for the addresses that the server sends requests to, such as those of webhooks.
    public var addressPolicy = AddressPolicy()
    /// The proxies that are trusted to name the client of a request.
    public var trustedProxies = TrustedProxies()
    /// The maximum number of requests per minute from a client's address, 1 or more; nil for no limit. A request
    /// that is answered with 304 counts as a tenth.
    public var requestsPerAddress: Int?
    /// The maximum number of requests per minute with one key, 1 or more; nil for no limit. A 304 counts in full.
    public var requestsPerKey: Int?
    /// The duration from which a request is logged as slow, 0 or more; nil for never.
    public var slowRequest: Duration? = .seconds(1)
    /// The minimum level of the log lines of requests, such as editorial writes and refused keys; nil for the level of
    /// the application's logger.
    public var logLevel: Logger.Level?
    /// Whether each request of the router becomes a span of the process's tracer (swift-distributed-tracing). Spans
    /// have a cost even without a tracer.
    public var makesSpans = false
    /// The interval between the heartbeats of an event stream.
    package var heartbeatInterval: Duration = .seconds(15)
    /// The interval between two readings of the counters of requests.
    package var trafficInterval: Duration = .seconds(2)
    /// The timeouts and byte limits of connections.
    package var limits = ConnectionLimits()
    /// Called with each new connection on its event loop, once its handlers are in place.
    package var onConnection: (@Sendable (any Channel) -> Void)?

    /// Creates settings with default values.
    public init() {}

    /// Derives `concurrentReads` and `concurrentSingleReads` from the size of a connection pool. A quarter of its connections,
    /// and at least one, is left to writes and key look-ups.
    ///
    /// - Parameter size: The number of connections, 2 or more.
    public mutating func limitReads(ofPool size: Int) {
      concurrentReads = size - max(1, size / 4)
      concurrentSingleReads = size / 2
    }
  }

  package let store: NewsStore
  package let settings: Settings
  /// The writes of editors.
  package let editorial: EditorialAPI
  let caching: CachePolicy
  /// Limits the public reads of the database.
  let reads: ConcurrencyLimiter
  let slowRequests: SlowRequests
  let publicReads: PublicReads
  /// The views of pages for readers; nil if there are no pages.
  let pages: PageViews?
  let polls: LongPolls
  let streams: EventStreams
  let counted = APIMetrics()
  /// The requests of the last minutes and hours.
  package let traffic: TrafficHistory
  let connections = ConnectionCount()
  let keyLimits: RateLimiter<String>?

  /// The metrics that `/metrics` shows. Other parts of the process can report to them too.
  public var metricsFactory: any MetricsFactory { counted.registry }

  /// Creates an API over a store, which must outlive it.
  public init(store: NewsStore, settings: Settings) {
    self.store = store
    self.settings = settings
    editorial = EditorialAPI(
      store: store, library: settings.media.map { MediaLibrary(store: store, storage: $0) },
      maximumMediaBytes: settings.maximumMediaBytes, publicURL: settings.publicURL,
      addressPolicy: settings.addressPolicy, uploadLimits: settings.uploadLimits)
    caching = CachePolicy(sharedMaxAge: settings.sharedMaxAge)
    let shutdownDelay = LongPolls.ShutdownDelay()
    reads = ConcurrencyLimiter(limit: settings.concurrentReads)
    slowRequests = SlowRequests(limit: settings.slowRequest, proxies: settings.trustedProxies)
    pages = settings.servesReaderPages ? PageViews(store: store, PageRenderer(settings.site)) : nil
    publicReads = PublicReads(
      store: store, budget: settings.cachesViews ? settings.viewBudget : nil, reads: reads,
      singles: settings.concurrentSingleReads,
      policies: .init(caching, store, shutdownDelay),
      slow: slowRequests, metrics: counted, pages: pages, feeds: settings.feeds)
    polls = LongPolls(reads: publicReads, shutdownDelay: shutdownDelay)
    keyLimits = settings.requestsPerKey.map { RateLimiter(RequestRate(perMinute: $0)) }
    streams = EventStreams(store: store, heartbeatInterval: settings.heartbeatInterval, metrics: counted)
    traffic = TrafficHistory(interval: settings.trafficInterval) { [counted] in counted.traffic }
  }

  /// The clients that are connected to this process.
  package var clients: ConnectedClients {
    ConnectedClients(connections: connections.count, longPolls: polls.count, eventStreams: streams.count)
  }

  /// Charges a request to the rate limit of a key.
  ///
  /// - Throws: `ProblemError`, 429.
  package func charge(_ key: APIKey) throws {
    guard let keyLimits, let wait = keyLimits.charge(keyLimits.bucket(of: key.id)) else { return }
    counted.keyLimited()
    throw ProblemError.tooManyRequests(in: wait)
  }

  /// Creates a router with all routes and their middleware.
  ///
  /// - Parameter modules: Further modules that add routes.
  public func router(with modules: [any RouteModule] = []) -> Router<APIContext> {
    let router = Router(context: APIContext.self)
    let routes = RouteTable()
    if settings.makesSpans { router.add(middleware: TracingMiddleware()) }
    router.add(
      middleware: RequestRecorder(
        metrics: counted, slow: slowRequests, logLevel: settings.logLevel))
    router.add(
      middleware: ProblemResponses(
        routes: routes, proxies: settings.trustedProxies, renderer: pages?.renderer, modules: modules))
    addRoutes(to: router)
    for module in modules { module.addRoutes(to: router) }
    routes.add(router)
    return router
  }
}

extension NewsAPI.Settings {
  /// The facts that pages show.
  package var site: PageSite {
    let formats: [PublishedFormat] = publicURL == nil ? [] : [.atom, .rss, .json]
    return PageSite(
      language: language, publicURL: publicURL,
      feeds: formats.map { PageFeed(name: $0.name, mediaType: $0.mediaType, fileName: $0.fileName) },
      offersNotifications: push.offer.webPush != nil)
  }

  fileprivate var uploadLimits: MediaUploadLimits {
    MediaUploadLimits(
      uploads: unfinishedUploadsPerKey, bytes: 4 * maximumMediaBytes, undeclaredBytes: maximumMediaBytes,
      lifetime: uploadLifetime)
  }

  /// The publisher of feeds; nil without a public URL.
  fileprivate var feeds: FeedPublisher? {
    publicURL.map { url in
      let site = FeedSite(
        url: url, title: feedTitle ?? URL(string: url)?.host() ?? url, content: feedContent, hubs: feedHubs)
      return FeedPublisher(site: site, count: feedItems)
    }
  }
}
