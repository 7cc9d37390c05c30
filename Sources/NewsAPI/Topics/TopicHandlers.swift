import Hummingbird

/// The handlers of `/v1/topics`: the sections of the app.
struct TopicHandlers: Sendable {
  let reads: PublicReads

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await reads.response(.topics, to: request)
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await reads.response(.topic(try context.topicSlug()), to: request)
  }
}
