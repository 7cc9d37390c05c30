import Hummingbird

/// The handlers of `/v1/topics`: the sections of the app.
struct TopicHandlers: Sendable {
  let reads: PublicReads

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try await reads.response(to: request) { try .topics(request.uri.query) }
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    let slug = try context.topicSlug()
    return try await reads.response(to: request) { try .topic(slug, request.uri.query) }
  }
}
