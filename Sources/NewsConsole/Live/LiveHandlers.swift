import HTTPTypes
import Hummingbird
import NIOCore
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the live page: the newsroom's traffic, versions, clients and database at a glance.
struct LiveHandlers: ConsoleHandlers {
  let services: ConsoleServices

  private var live: LiveStreams { services.live }

  /// Shows the present state. A script keeps it up to date with the events.
  @Sendable func page(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try QueryParameters(request.uri.query, known: []).check()
    let versions = try await live.source.versions(for: visit)
    let facts = await live.source.facts(for: visit, versions: versions, viewers: live.count)
    var values = LivePage(facts, for: visit, pages).values
    values.set("events", pages.link(ConsolePath.liveEvents))
    values.set("reload", pages.link(ConsolePath.live))
    return pages.page("live", title: pages.texts.text("section-live"), for: visit, in: .live, values)
  }

  /// Sends the main part of the page again and again, as server-sent events (HTML standard, section 9.2).
  ///
  /// - Throws: `ProblemError`, 503, if too many pages are refreshed, in all or for the key.
  @Sendable func events(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try QueryParameters(request.uri.query, known: []).check()
    var fields = ConsoleHeaders.common
    fields[.contentType] = "text/event-stream"
    fields[.accelBuffering] = "no"
    guard request.method == .get else { return Response(status: .ok, headers: fields) }
    guard let place = live.take(for: visit.key.id) else { throw ProblemError.tooManyLivePages }
    let stream = LiveStream(services: services, place: place, client: context)
    return Response(
      status: .ok, headers: fields,
      body: ResponseBody { writer in try await stream.write(to: &writer, for: visit) })
  }
}

extension ProblemError {
  static let tooManyLivePages = ProblemError(
    .serviceUnavailable, "too-many-live-pages", "Too many live pages are open",
    detail: "The page itself can be loaded again.", headers: [.retryAfter: "30"])
}

extension HTTPField.Name {
  // The name is a token (RFC 9110 section 5.6.2), so the initializer does not return nil.
  /// The field that makes nginx forward each part of a response at once, with the value `no`.
  fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}
