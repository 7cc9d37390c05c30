import Hummingbird
import NewsStore

/// The handlers of changes, state and events.
struct ChangeHandlers: Sendable {
  let store: NewsStore
  let reads: PublicReads

  @Sendable func changes(_ request: Request, context: APIContext) async throws -> Response {
    let read = try PublicRead.changes(request.uri.query)
    // No cache stores the response to a long poll, so a 410 replaces none.
    return try await ProblemError.adjusting({ $0.replacesStored = $0.replacesStored && !read.isLongPoll }) {
      try await reads.response(to: request) { read }
    }
  }

  /// Refuses a request for a stream. Streams are opened before the router (`EventStreams`), unless a request is invalid or
  /// the state is unknown.
  @Sendable func events(_ request: Request, context: APIContext) async throws -> Response {
    _ = try await store.snapshot(in: try EventRequest(request.uri.query).scope)
    throw StoreError.unavailable
  }

  @Sendable func state(_ request: Request, context: APIContext) async throws -> Response {
    try await reads.response(to: request) { try .state(request.uri.query) }
  }
}
