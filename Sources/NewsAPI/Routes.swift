import Hummingbird
import NewsStore

extension NewsAPI {
  /// Registers the method, path and handler of every route. `openapi.yaml` describes the same routes.
  func addRoutes(to router: Router<APIContext>) {
    let items = ItemHandlers(views: views, caching: caching, polled: polled)
    let changes = ChangeHandlers(views: views, caching: polled, longPoll: longPoll)
    let topics = TopicHandlers(views: views, caching: caching)
    let service = ServiceHandlers(store: store, caching: caching, openAPI: settings.openAPI)

    let library = settings.media.map { MediaLibrary(store: store, storage: $0) }
    let media = MediaHandlers(library: library, reads: reads, caching: caching)

    let reads = router.group().add(middleware: CrossOrigin())
    reads.publicRead("/v1/items", items.list)
    reads.publicRead("/v1/items/{id}", items.item)
    reads.publicRead("/v1/changes", changes.changes)
    reads.publicRead("/v1/state", changes.state)
    reads.get("/v1/events", use: changes.events)
    reads.on("/v1/events", method: .options) { _, _ in CrossOrigin.preflight }
    reads.publicRead("/v1/topics", topics.list)
    reads.publicRead("/v1/topics/{slug}", topics.topic)
    reads.publicRead("/v1/media/{id}", media.media)
    reads.publicRead("/openapi.yaml", service.openAPI)

    router.read("/healthz", service.health)
    router.read("/readyz", service.readiness)
    router.read("/metrics", MetricsHandlers(store: store, metrics: counted, polls: polls, streams: streams).collect)

    let drafts = EditorialItemHandlers(
      store: store, library: library, sanitizer: MarkupSanitizer(), now: settings.now)
    let sections = EditorialTopicHandlers(store: store)
    let editorial = router.group("/v1/editorial").add(
      middleware: Authorization(store: store, scope: .itemsWrite, limits: keyLimits))
    editorial.get("items", use: drafts.list)
    editorial.post("items", use: drafts.create)
    editorial.get("items/{id}", use: drafts.item)
    editorial.put("items/{id}", use: drafts.replace)
    editorial.patch("items/{id}", use: drafts.modify)
    editorial.delete("items/{id}", use: drafts.retract)
    editorial.post("items/{id}/erase", use: drafts.erase)
    editorial.get("topics", use: sections.list)
    editorial.post("topics", use: sections.create)
    editorial.get("topics/{slug}", use: sections.topic)
    editorial.put("topics/{slug}", use: sections.replace)

    let uploads = EditorialMediaHandlers(
      store: store, library: library, largest: settings.largestMedia, publicURL: settings.publicURL, now: settings.now)
    let files = router.group("/v1/editorial").add(
      middleware: Authorization(store: store, scope: .mediaWrite, limits: keyLimits))
    files.post("media", use: uploads.upload)
    files.delete("media/{id}", use: uploads.remove)
  }
}

extension RouterMethods {
  typealias Handler = @Sendable (Request, Context) async throws -> Response

  /// Registers a handler for GET and HEAD. `ProblemResponses` removes the body of a response to HEAD.
  func read(_ path: RouterPath, _ handler: @escaping Handler) {
    get(path, use: handler)
    head(path, use: handler)
  }

  /// Registers a handler for GET and HEAD, and OPTIONS for the preflight request of a browser, which it sends before a
  /// page of another origin reads.
  func publicRead(_ path: RouterPath, _ handler: @escaping Handler) {
    read(path, handler)
    on(path, method: .options) { _, _ in CrossOrigin.preflight }
  }
}
