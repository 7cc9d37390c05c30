public import CoreMetrics
public import Foundation
import HTTPConditions
public import Hummingbird
public import Logging
public import MediaFiles
package import NIOCore
import News
public import NewsStore

/// The REST API over a store.
public struct NewsAPI: Sendable {
  /// What an installation decides.
  public struct Settings: Sendable {
    /// How long a shared cache may answer without asking, in seconds, at least 1: with 0, nginx and Varnish would not
    /// store anything.
    public var sharedMaxAge = 1
    /// The document that `/openapi.yaml` serves.
    public var openAPI = Data(embeddedOpenAPI.utf8)
    /// Bytes of memory for answers that are kept until they change.
    public var viewBudget = 64 << 20
    /// Whether answers are kept at all.
    package var keepsAnswers = true
    /// The maximum number of public reads of the database at a time: fewer than there are connections in the pool, so that
    /// readers leave some to writes and key look-ups.
    public var concurrentReads = 6
    /// The same for searches, further pages and other reads that serve one request only: no more than `concurrentReads`.
    public var singleAnswers = 4
    /// Where files are kept; nil for nowhere.
    public var media: (any MediaStorage)?
    /// Bytes that a file may have at most.
    public var largestMedia = 2 << 30
    /// What the addresses of uploaded files begin with: scheme, host and whatever else is in front of `/v1`. nil for
    /// addresses without all that, which are good on any server.
    public var publicURL: String?
    /// Whose word counts when they say for whom they ask.
    public var trustedProxies = TrustedProxies()
    /// Requests a minute that a client's address may send, 1 or more; nil for any number. One whose answer is 304 counts
    /// for a tenth.
    public var requestsPerAddress: Int?
    /// The same for requests with one key.
    public var requestsPerKey: Int?
    /// How long a request may take before the log says so, 0 or more; nil for never.
    public var slowRequest: Duration? = .seconds(1)
    /// The level from which on the lines of editorial writes and refused keys are written; nil for that of the
    /// application's logger.
    public var logLevel: Logger.Level?
    /// Whether each request of the router becomes a span of the process's tracer (swift-distributed-tracing), which costs
    /// something even where there is none.
    public var makesSpans = false
    /// The clock by which a date is in the future.
    public var now: @Sendable () -> Date = { Date() }
    /// How often an event stream says something though nothing is new.
    package var heartbeat: Duration = .seconds(15)
    /// How patient connections are.
    package var limits = ConnectionLimits()
    /// Called with each new connection on its event loop, once its handlers are in place.
    package var onConnection: (@Sendable (any Channel) -> Void)?

    /// Settings with the usual values.
    public init() {}

    /// Leaves a quarter of the connections of a pool, and at least one, to writes and key look-ups.
    ///
    /// - Parameter size: The number of connections, 2 or more.
    public mutating func limitReads(ofPool size: Int) {
      concurrentReads = size - max(1, size / 4)
      singleAnswers = size / 2
    }
  }

  let store: NewsStore
  let settings: Settings
  let caching: CachePolicy
  /// Of what clients follow.
  let polled: CachePolicy
  /// Of what somebody has waited for.
  let longPoll: CachePolicy
  let views: Views
  /// Limits the public reads of the database.
  let reads: ConcurrencyLimiter
  let hotAnswers: HotAnswers
  let polls: LongPolls
  let streams: EventStreams
  let counted = APIMetrics()
  let keyLimits: RateLimiter<String>?

  /// What `/metrics` shows, for other parts of the process to report to as well.
  public var metricsFactory: any MetricsFactory { counted.registry }

  /// An API over a store, which outlives it.
  public init(store: NewsStore, settings: Settings) {
    self.store = store
    self.settings = settings
    caching = CachePolicy(sharedMaxAge: settings.sharedMaxAge)
    var polled = caching
    polled.pollInterval = { store.pollInterval }
    self.polled = polled
    let reads = ConcurrencyLimiter(limit: settings.concurrentReads)
    self.reads = reads
    views = Views(
      store: store, budget: settings.keepsAnswers ? settings.viewBudget : nil, reads: reads,
      singles: settings.singleAnswers)
    keyLimits = settings.requestsPerKey.map { RateLimiter(RequestRate(perMinute: $0)) }
    let polls = LongPolls(views: views)
    self.polls = polls
    longPoll = .longPoll { polls.hint }
    hotAnswers = HotAnswers(views: views, caching: caching, polled: polled, longPoll: longPoll, metrics: counted)
    streams = EventStreams(store: store, heartbeat: settings.heartbeat, metrics: counted)
  }

  /// All routes with their middleware.
  public func router() -> Router<APIContext> {
    let router = Router(context: APIContext.self)
    let paths = KnownPaths()
    router.add(middleware: RequestMetrics(metrics: counted))
    if settings.makesSpans { router.add(middleware: TracingMiddleware()) }
    router.add(middleware: RequestLog(proxies: settings.trustedProxies, slow: settings.slowRequest))
    router.add(
      middleware:
        ProblemResponses(paths: paths, proxies: settings.trustedProxies, logLevel: settings.logLevel))
    router.add(middleware: HeaderLimit())
    router.add(middleware: ExactPath())
    addRoutes(to: router)
    paths.learn(router)
    return router
  }
}
