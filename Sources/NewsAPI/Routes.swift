import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import News
import NewsFeeds
import NewsStore

/// The paths of the API, as the router matches them. `NewsItem` has the path of a file, which items contain.
enum APIPath {
  static let items = "/v1/items"
  static let item = "/v1/items/{id}"
  static let changes = "/v1/changes"
  static let state = "/v1/state"
  static let events = "/v1/events"
  static let topics = "/v1/topics"
  static let topic = "/v1/topics/{slug}"
  static let media = "/v1/media/{id}"
  static let contract = "/openapi.yaml"
  /// The callbacks of hubs. `Subscription.WebSub` has the same path without the token.
  static let hubCallback = "/v1/websub/{token}"

  static let push = "/v1/push"
  static let devices = "/v1/devices"
  static let device = "/v1/devices/{id}"
  static let deviceConfirmation = "/v1/devices/{id}/confirmation"
  static let deviceState = "/v1/devices/{id}/state"

  static let frontPage = "/"
  static let topicPage = "/topics/{slug}"
  static let itemPage = "/items/{id}"
  static let asset = "/assets/{name}"
  /// The service worker of the pages. Its folder is that of all pages, which it may serve.
  static let worker = "/worker.js"

  /// The feed of all items in a format.
  static func feed(_ format: PublishedFormat) -> String {
    switch format {
    case .json: "/feed.json"
    case .atom: "/feed.atom"
    case .rss: "/feed.rss"
    }
  }

  /// The feed of a topic in a format.
  static func topicFeed(_ format: PublishedFormat) -> String {
    switch format {
    case .json: "/topics/{slug}/feed.json"
    case .atom: "/topics/{slug}/feed.atom"
    case .rss: "/topics/{slug}/feed.rss"
    }
  }

  static let health = "/healthz"
  static let readiness = "/readyz"
  static let metrics = "/metrics"
  /// The paths for monitoring, which are never rate limited.
  static let monitoring = [health, readiness, metrics]

  static let editorial = "/v1/editorial"
  static let editorialItems = "/v1/editorial/items"
  static let editorialItem = "/v1/editorial/items/{id}"
  static let batch = "/v1/editorial/items/batch"
  static let editorialHistory = "/v1/editorial/history"
  static let itemHistory = "/v1/editorial/items/{id}/history"
  static let restoration = "/v1/editorial/items/{id}/history/{revision}/restore"
  static let erasure = "/v1/editorial/items/{id}/erase"
  static let editorialTopics = "/v1/editorial/topics"
  static let editorialTopic = "/v1/editorial/topics/{slug}"
  static let uploads = "/v1/editorial/media"
  static let upload = "/v1/editorial/media/{id}"
  /// An upload that continues over several requests.
  static let unfinishedUpload = "/v1/editorial/media/uploads/{id}"
  static let subscriptions = "/v1/editorial/subscriptions"
  static let subscription = "/v1/editorial/subscriptions/{id}"
  static let subscriptionPoll = "/v1/editorial/subscriptions/{id}/poll"
  static let pushes = "/v1/editorial/pushes"
  static let editorialPush = "/v1/editorial/pushes/{id}"
  static let webhooks = "/v1/editorial/webhooks"
  static let webhook = "/v1/editorial/webhooks/{id}"
  static let webhookRotation = "/v1/editorial/webhooks/{id}/rotate"
  static let webhookTest = "/v1/editorial/webhooks/{id}/test"
  static let webhookDeliveries = "/v1/editorial/webhooks/{id}/deliveries"
  static let webhookReplay = "/v1/editorial/webhooks/{id}/deliveries/{delivery}/replay"

  /// The routes that clients ask again and again for news.
  static let polled: Set<String> = Set(
    [items, changes, state] + PublishedFormat.allCases.flatMap { [feed($0), topicFeed($0)] })
  /// The routes of readers and their apps: all that need no key, besides those of hubs and of monitoring.
  static let publicReads: Set<String> = polled.union([
    item, events, topics, topic, media, contract, frontPage, topicPage, itemPage, asset, worker,
  ])

  /// Whether a path is that of a page for readers, whose errors are pages too.
  static func isPage(_ path: String) -> Bool {
    let path = path[...]
    return path == frontPage
      || [topicPage, itemPage].contains { path.parameter(of: $0).map { !$0.utf8.contains(UInt8(ascii: "/")) } ?? false }
  }
}

/// The public reads: each path, and the type of its response.
extension PublicRoute {
  static let api: [PublicRoute] = [
    PublicRoute(APIPath.items, .plain(ItemListView.read)),
    PublicRoute(APIPath.item, .item(ItemView.read)),
    PublicRoute(APIPath.changes, .plain { PublicRead(try ChangeRequest($0)) }),
    PublicRoute(APIPath.state, .plain(StateView.read)),
    PublicRoute(APIPath.topics, .plain(TopicListView.read)),
    PublicRoute(APIPath.topic, .topic(TopicView.read)),
  ]

  static let pages: [PublicRoute] = [
    PublicRoute(APIPath.frontPage, .plain { try ListPageView.read(topic: nil, $0) }),
    PublicRoute(APIPath.topicPage, .topic { try ListPageView.read(topic: $0, $1) }),
    PublicRoute(APIPath.itemPage, .item { id, _ in PublicRead(ItemPageView(id: id)) }),
  ]

  static let feeds: [PublicRoute] = PublishedFormat.allCases.flatMap { format in
    [
      PublicRoute(APIPath.feed(format), .plain { try FeedView.read(format, topic: nil, $0) }),
      PublicRoute(APIPath.topicFeed(format), .topic { try FeedView.read(format, topic: $0, $1) }),
    ]
  }
}

extension NewsAPI {
  /// The requests that are answered before the router: repeated reads, long polls and event streams.
  var earlyRoutes: EarlyRoutes {
    EarlyRoutes(
      reads: publicReads,
      deferrals: [
        .init(path: APIPath.changes, deferral: polls.deferral),
        .init(path: APIPath.events, deferral: streams.deferral),
      ],
      onShutdown: polls.beginShutdown)
  }

  /// Whether a request is a write of a small item. Its handler mostly waits for the database.
  static func isBrief(_ request: HTTPRequest) -> Bool {
    guard let length = request.headerFields[.contentLength].flatMap({ Int($0) }), length <= 16_384 else { return false }
    // Bytes are compared: a comparison of characters takes quadratic time in their combining characters.
    let path = (request.path ?? "").utf8.prefix { $0 != UInt8(ascii: "?") }
    return switch request.method {
    case .post: path.elementsEqual(APIPath.editorialItems.utf8)
    case .put, .patch: path.starts(with: APIPath.editorialItems.utf8)
    default: false
    }
  }

  /// Registers the method, path and handler of every route. `openapi.yaml` describes the same routes.
  func addRoutes(to router: Router<APIContext>) {
    let service = ServiceHandlers(
      store: store, caching: caching, openAPI: settings.openAPI, metrics: counted)
    let metrics = MetricsHandlers(
      store: store, metrics: counted, reads: publicReads, polls: polls, streams: streams)

    let media = MediaHandlers(library: editorial.library, reads: reads, caching: caching)

    for route in PublicRoute.api {
      router.publicRead(route.path) { [publicReads] in
        try await publicReads.response(to: $0, of: route.read($0, $1))
      }
    }
    let feeds = FeedHandlers(reads: publicReads, proxies: settings.trustedProxies)
    for route in PublicRoute.feeds { router.publicRead(route.path) { try await feeds.feed(route, $0, $1) } }
    router.on(.get, APIPath.events, ChangeHandlers(store: store).events)
    router.preflight(APIPath.events)
    router.publicRead(APIPath.media, media.media)
    router.publicRead(APIPath.contract, service.openAPI)
    let callbacks = HubCallbackHandlers(store: store)
    router.on(.get, APIPath.hubCallback, callbacks.verify)
    router.on(.post, APIPath.hubCallback, callbacks.receive)

    addDevices(to: router)
    addPages(to: router)
    router.read(APIPath.health, service.health)
    router.read(APIPath.readiness, service.readiness)
    router.read(APIPath.metrics, metrics.collect)
    addEditorialRoutes(to: router)
  }

  private func addEditorialRoutes(to router: Router<APIContext>) {
    func editors(_ permissions: APIKey.Permission..., requiresAllTopics: Bool = false) -> RouterGroup<APIContext> {
      router.group().add(
        middleware: AuthorizationMiddleware(
          store: store, permissions: permissions, requiresAllTopics: requiresAllTopics, limits: keyLimits,
          metrics: counted))
    }
    let drafts = EditorialItemHandlers(
      editorial: self.editorial, largestBatchBytes: settings.maximumBatchBytes,
      largestStoredBatchBytes: max(settings.maximumStoredBatchBytes, 2 * settings.maximumBatchBytes),
      batches: ConcurrencyLimiter(limit: settings.concurrentBatches))
    let sections = EditorialTopicHandlers(editorial: self.editorial)
    let editorial = editors(.itemsWrite)
    let publishers = editors(.itemsPublish)
    let organizers = editors(.itemsPublish, requiresAllTopics: true)
    editorial.on(.get, APIPath.editorialItems, drafts.list)
    editorial.on(.post, APIPath.editorialItems, drafts.create)
    editorial.on(.post, APIPath.batch, drafts.batch)
    editorial.on(.get, APIPath.editorialItem, drafts.item)
    editorial.on(.put, APIPath.editorialItem, drafts.replace)
    editorial.on(.patch, APIPath.editorialItem, drafts.modify)
    editorial.on(.delete, APIPath.editorialItem, drafts.retract)
    publishers.on(.post, APIPath.erasure, drafts.erase)
    editorial.on(.get, APIPath.editorialHistory, drafts.history)
    editorial.on(.get, APIPath.itemHistory, drafts.itemHistory)
    editorial.on(.post, APIPath.restoration, drafts.restore)
    editorial.on(.get, APIPath.editorialTopics, sections.list)
    organizers.on(.post, APIPath.editorialTopics, sections.create)
    editorial.on(.get, APIPath.editorialTopic, sections.topic)
    organizers.on(.put, APIPath.editorialTopic, sections.replace)
    organizers.on(.delete, APIPath.editorialTopic, sections.remove)

    let uploads = EditorialMediaHandlers(editorial: self.editorial)
    let files = editors(.mediaWrite)
    files.on(.post, APIPath.uploads, uploads.upload)
    files.on(.delete, APIPath.upload, uploads.remove)
    let parts = UploadPartHandlers(editorial: self.editorial)
    files.on(.options, APIPath.uploads, parts.options)
    files.on(.head, APIPath.unfinishedUpload, parts.offset)
    files.on(.patch, APIPath.unfinishedUpload, parts.append)
    files.on(.delete, APIPath.unfinishedUpload, parts.cancel)
    let previews = editors(.itemsWrite, .mediaWrite)
    previews.on(.get, APIPath.uploads, uploads.list)
    previews.on(.get, APIPath.upload, uploads.media)
    addSubscriptions(to: editors(.admin))
    addWebhooks(to: editors(.admin))
    let pushes = PushHandlers(editorial: self.editorial)
    let senders = editors(.pushSend)
    senders.on(.get, APIPath.pushes, pushes.list)
    senders.on(.post, APIPath.pushes, pushes.send)
    senders.on(.get, APIPath.editorialPush, pushes.push)
  }

  private func addDevices(to router: Router<APIContext>) {
    let devices = DeviceHandlers(store: store, push: settings.push, proxies: settings.trustedProxies)
    router.publicRead(APIPath.push, devices.offer)
    router.on(.post, APIPath.devices, devices.register)
    router.preflight(APIPath.devices, CORS.preflight(methods: "POST"))
    router.on(.put, APIPath.device, devices.update)
    router.on(.delete, APIPath.device, devices.remove)
    router.preflight(APIPath.device, CORS.preflight(methods: "PUT, DELETE"))
    router.on(.put, APIPath.deviceConfirmation, devices.confirm)
    router.preflight(APIPath.deviceConfirmation, CORS.preflight(methods: "PUT"))
    router.on(.put, APIPath.deviceState, devices.report)
    router.preflight(APIPath.deviceState, CORS.preflight(methods: "PUT"))
  }

  private func addPages(to router: Router<APIContext>) {
    guard let views = pages else {
      // The responses replace the pages that caches have from before.
      let missing: @Sendable (Request, APIContext) async throws -> Response = { _, _ in throw StoreError.notFound }
      for route in PublicRoute.pages { router.read(route.path, missing) }
      for path in [APIPath.asset, APIPath.worker] { router.publicRead(path, missing) }
      return
    }
    for route in PublicRoute.pages {
      router.read(route.path) { [publicReads] in try await publicReads.response(to: $0, of: route.read($0, $1)) }
    }
    let files = PageFileHandlers(views: views, metrics: counted)
    router.publicRead(APIPath.asset, files.asset)
    router.publicRead(APIPath.worker, files.worker)
  }

  private func addSubscriptions(to administrators: RouterGroup<APIContext>) {
    let subscriptions = SubscriptionHandlers(editorial: editorial)
    administrators.on(.get, APIPath.subscriptions, subscriptions.list)
    administrators.on(.post, APIPath.subscriptions, subscriptions.create)
    administrators.on(.get, APIPath.subscription, subscriptions.subscription)
    administrators.on(.patch, APIPath.subscription, subscriptions.modify)
    administrators.on(.delete, APIPath.subscription, subscriptions.remove)
    administrators.on(.post, APIPath.subscriptionPoll, subscriptions.poll)
  }

  private func addWebhooks(to administrators: RouterGroup<APIContext>) {
    let webhooks = WebhookHandlers(editorial: editorial)
    administrators.on(.get, APIPath.webhooks, webhooks.list)
    administrators.on(.post, APIPath.webhooks, webhooks.create)
    administrators.on(.get, APIPath.webhook, webhooks.webhook)
    administrators.on(.patch, APIPath.webhook, webhooks.modify)
    administrators.on(.delete, APIPath.webhook, webhooks.remove)
    administrators.on(.post, APIPath.webhookRotation, webhooks.rotate)
    administrators.on(.post, APIPath.webhookTest, webhooks.test)
    administrators.on(.get, APIPath.webhookDeliveries, webhooks.deliveries)
    administrators.on(.post, APIPath.webhookReplay, webhooks.replay)
  }
}

extension RouterMethods {
  typealias Handler = @Sendable (Request, Context) async throws -> Response

  func on(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
    on(RouterPath(path), method: method, use: handler)
  }

  /// Registers a handler for GET and HEAD. `ProblemResponses` removes the body of a response to HEAD.
  func read(_ path: String, _ handler: @escaping Handler) {
    on(.get, path, handler)
    on(.head, path, handler)
  }

  /// Registers a handler for GET and HEAD, and OPTIONS for the preflight request of a browser.
  func publicRead(_ path: String, _ handler: @escaping Handler) {
    read(path, handler)
    preflight(path)
  }

  /// Registers the answer to the request that a browser sends before a page of another origin reads, or before it sends
  /// another request.
  func preflight(_ path: String, _ response: @escaping @autoclosure @Sendable () -> Response = CORS.preflight) {
    on(.options, path) { _, _ in response() }
  }
}

/// Answers requests before the router: repeated reads from memory, and by path those that wait or become streams.
struct EarlyRoutes: EarlyResponder {
  /// A path whose requests may be held.
  struct Route: Sendable {
    let path: String
    /// Returns why a request is held; nil to answer it like any other.
    let deferral: @Sendable (HTTPRequestHead) -> EarlyDeferral?
  }

  let reads: PublicReads
  let deferrals: [Route]
  let onShutdown: @Sendable () -> Void

  var generation: Int { reads.store.generation }

  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup? { reads.lookUp(request, isNew: isNew) }

  func deferral(of head: HTTPRequestHead) -> EarlyDeferral? {
    deferrals.first { head.uri.hasPath($0.path) }.flatMap { $0.deferral(head) }
  }

  func beginShutdown() { onShutdown() }
}

extension String {
  /// Whether a target in origin form has a path.
  fileprivate func hasPath(_ path: String) -> Bool {
    guard utf8.starts(with: path.utf8) else { return false }
    let rest = utf8.dropFirst(path.utf8.count).first
    return rest == nil || rest == UInt8(ascii: "?")
  }
}
