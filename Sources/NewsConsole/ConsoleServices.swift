import HTTPEdge
import NetworkAddresses
import NewsAPI
import NewsFollower
import NewsPages
import NewsStore

/// Handlers of pages of the console.
protocol ConsoleHandlers: Sendable {
  var services: ConsoleServices { get }
}

extension ConsoleHandlers {
  var pages: ConsolePages { services.pages }
}

/// The parts of the console that handlers share.
struct ConsoleServices: Sendable {
  let api: NewsAPI
  let pages: ConsolePages
  let cookie: SessionCookie
  let policy: RequestPolicy
  /// The attempts to sign in, by the address of the client.
  let signIns: RateLimiter<IPAddress>
  /// The streams of the live page.
  let live: LiveStreams
  /// Reads the feed of a new subscription; nil to subscribe without a preview.
  let feedPreviewer: FeedPreviewer?

  var store: NewsStore { api.store }
  var editorial: EditorialAPI { api.editorial }

  init(_ api: NewsAPI, _ settings: NewsConsole.Settings) {
    self.api = api
    pages = ConsolePages(api.settings.site, hasReaderPages: api.settings.servesReaderPages)
    policy = RequestPolicy(publicURL: api.settings.publicURL, proxies: api.settings.trustedProxies)
    cookie = SessionCookie(isSecure: policy.isSecure)
    feedPreviewer = settings.feedPreviewer
    signIns = RateLimiter(RequestRate(perMinute: settings.signInsPerMinute))
    live = LiveStreams(
      api, interval: settings.liveInterval, limit: settings.maximumLiveStreams,
      limitPerKey: settings.maximumLiveStreamsPerKey, stall: settings.maximumLiveStall)
  }

  /// Makes a page with the texts of items on the threads of `ComputePool`, because rendering and comparing them may take
  /// long.
  ///
  /// - Parameter bytes: The size of the texts, if it may be that of a long job.
  /// - Throws: The errors of `ComputePool.run` and of the function.
  func compute<Value: Sendable>(
    for visit: ConsoleVisit, bytes: Int = 0, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    // A small text may have a large page.
    try await ComputePool.shared.run(.editing, for: visit.key.id, bytes: max(bytes, ComputePool.smallBytes + 1), work)
  }
}
