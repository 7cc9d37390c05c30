import Hummingbird
import NewsStore

/// The handlers of changes, state and events.
struct ChangeHandlers: Sendable {
  let store: NewsStore
  let reads: PublicReads

  @Sendable func changes(_ request: Request, context: APIContext) async throws -> Response {
    let wanted = try ChangeRequest(request.uri.query)
    // The request has waited before the router (`LongPolls`).
    let isLongPoll = wanted.wait != nil
    // No cache stores the response to a long poll, so a 410 replaces none.
    return try await ProblemError.adjusting({ $0.replacesStored = $0.replacesStored && !isLongPoll }) {
      try await reads.response(.changes(wanted.query), at: wanted.at, isLongPoll: isLongPoll, to: request)
    }
  }

  /// Refuses a request for a stream. Streams are opened before the router (`EventStreams`), unless a request is invalid or
  /// the state is unknown.
  @Sendable func events(_ request: Request, context: APIContext) async throws -> Response {
    _ = try await store.snapshot(in: try EventRequest(request.uri.query).scope)
    throw StoreError.unavailable
  }

  @Sendable func state(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return try await reads.response(.state(scope), to: request)
  }
}
