import HTTPEdge
import HTTPTypes
import Hummingbird
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

  static let health = "/healthz"
  static let readiness = "/readyz"
  static let metrics = "/metrics"
  /// The paths for monitoring, which are never rate limited.
  static let monitoring = [health, readiness, metrics]

  static let editorial = "/v1/editorial"
  static let editorialItems = "/v1/editorial/items"
  static let editorialItem = "/v1/editorial/items/{id}"
  static let erasure = "/v1/editorial/items/{id}/erase"
  static let editorialTopics = "/v1/editorial/topics"
  static let editorialTopic = "/v1/editorial/topics/{slug}"
  static let uploads = "/v1/editorial/media"
  static let upload = "/v1/editorial/media/{id}"
}

extension NewsAPI {
  /// The requests that are answered before the router: repeated reads, long polls and event streams.
  var earlyRoutes: EarlyRoutes {
    EarlyRoutes(
      repeatedReads: repeatedReads,
      deferrals: [
        .init(path: APIPath.changes, deferral: polls.deferral),
        .init(path: APIPath.events, deferral: streams.deferral),
      ],
      onShutdown: polls.beginShutdown)
  }

  /// Registers the method, path and handler of every route. `openapi.yaml` describes the same routes.
  func addRoutes(to router: Router<APIContext>) {
    let items = ItemHandlers(views: views, caching: caching, polled: polled)
    let changes = ChangeHandlers(views: views, caching: polled, longPoll: longPoll)
    let topics = TopicHandlers(views: views, caching: caching)
    let service = ServiceHandlers(store: store, caching: caching, openAPI: settings.openAPI)
    let metrics = MetricsHandlers(store: store, metrics: counted, polls: polls, streams: streams)

    let library = settings.media.map { MediaLibrary(store: store, storage: $0) }
    let media = MediaHandlers(library: library, reads: reads, caching: caching)

    let reads = router.group().add(middleware: CORSMiddleware())
    reads.publicRead(APIPath.items, items.list)
    reads.publicRead(APIPath.item, items.item)
    reads.publicRead(APIPath.changes, changes.changes)
    reads.publicRead(APIPath.state, changes.state)
    reads.on(.get, APIPath.events, changes.events)
    reads.preflight(APIPath.events)
    reads.publicRead(APIPath.topics, topics.list)
    reads.publicRead(APIPath.topic, topics.topic)
    reads.publicRead(APIPath.media, media.media)
    reads.publicRead(APIPath.contract, service.openAPI)

    router.read(APIPath.health, service.health)
    router.read(APIPath.readiness, service.readiness)
    router.read(APIPath.metrics, metrics.collect)

    let drafts = EditorialItemHandlers(
      store: store, library: library, sanitizer: MarkupSanitizer(), now: settings.now)
    let sections = EditorialTopicHandlers(store: store)
    let editorial = router.group().add(
      middleware: AuthorizationMiddleware(store: store, permission: .itemsWrite, limits: keyLimits))
    editorial.on(.get, APIPath.editorialItems, drafts.list)
    editorial.on(.post, APIPath.editorialItems, drafts.create)
    editorial.on(.get, APIPath.editorialItem, drafts.item)
    editorial.on(.put, APIPath.editorialItem, drafts.replace)
    editorial.on(.patch, APIPath.editorialItem, drafts.modify)
    editorial.on(.delete, APIPath.editorialItem, drafts.retract)
    editorial.on(.post, APIPath.erasure, drafts.erase)
    editorial.on(.get, APIPath.editorialTopics, sections.list)
    editorial.on(.post, APIPath.editorialTopics, sections.create)
    editorial.on(.get, APIPath.editorialTopic, sections.topic)
    editorial.on(.put, APIPath.editorialTopic, sections.replace)

    let uploads = EditorialMediaHandlers(
      store: store, library: library, largest: settings.largestMedia, publicURL: settings.publicURL, now: settings.now)
    let files = router.group().add(
      middleware: AuthorizationMiddleware(store: store, permission: .mediaWrite, limits: keyLimits))
    files.on(.post, APIPath.uploads, uploads.upload)
    files.on(.delete, APIPath.upload, uploads.remove)
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

  /// Registers the answer to the request that a browser sends before a page of another origin reads.
  func preflight(_ path: String) {
    on(.options, path) { _, _ in CORS.preflight }
  }
}
