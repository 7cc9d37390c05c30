import Hummingbird
import NewsStore

/// The handler of events.
struct ChangeHandlers: Sendable {
  let store: NewsStore

  /// Refuses a request for a stream. Streams are opened before the router (`EventStreams`), unless a request is invalid or
  /// the state is unknown.
  @Sendable func events(_ request: Request, context: APIContext) async throws -> Response {
    _ = try await store.snapshot(in: try EventRequest(request.uri.query).scope)
    throw StoreError.unavailable
  }
}
