import Hummingbird

/// The handlers of `/v1/topics`: the sections of the app.
struct TopicHandlers: Sendable {
  let views: Views
  let caching: CachePolicy

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await views.topics(for: request.uri.string).response(to: request, caching, context.metrics)
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await views.topic(try context.topicSlug(), for: request.uri.string).response(
      to: request, caching, context.metrics)
  }
}
