import Hummingbird
import NewsStore

/// The handlers of changes, state and events.
struct ChangeHandlers: Sendable {
  let views: Views
  let caching: CachePolicy
  /// The policy of responses to long polls.
  let longPoll: CachePolicy

  @Sendable func changes(_ request: Request, context: APIContext) async throws -> Response {
    let wanted = try ChangeRequest(request.uri.query)
    // The request has waited before the router (`LongPolls`).
    let isLongPoll = wanted.wait != nil
    // No cache stores the response to a long poll, so a 410 replaces none.
    return try await ProblemError.adjusting({ $0.replacesStored = $0.replacesStored && !isLongPoll }) {
      try await views.changes(wanted, for: request.uri.string)
        .response(to: request, isLongPoll ? longPoll : caching, context.metrics)
    }
  }

  /// Refuses a request for a stream. Streams are opened before the router (`EventStreams`), unless a request is invalid or
  /// the state is unknown.
  @Sendable func events(_ request: Request, context: APIContext) async throws -> Response {
    _ = try await views.store.snapshot(in: try EventRequest(request.uri.query).scope)
    throw StoreError.unavailable
  }

  @Sendable func state(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return try await views.state(scope, for: request.uri.string).response(to: request, caching, context.metrics)
  }
}
