import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/topics`: topics with their revision as an optimistic lock.
struct EditorialTopicHandlers: Sendable {
  let store: NewsStore

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let list = TopicList(topics: try await store.topics().topics)
    return .json { $0.write(list) }
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let topic = try await store.topic(try context.topicSlug()).topic
    return try .locked(revision: topic.revision, to: request) { $0.write(topic) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let body = try TopicBody(try await JSONBody.object(of: request, context: context), needsSlug: true)
    guard let slug = body.slug else { throw ProblemError.internal }
    context.record.setSubject("topic", slug)
    let (topic, created) = try await store.createTopic(
      slug, body.content, once: context.once { Self.answer($0.topic, created: $0.created) })
    return Self.answer(topic, created: created).response
  }

  @Sendable func replace(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let slug = try context.topicSlug()
    let body = try TopicBody(try await JSONBody.object(of: request, context: context), needsSlug: false)
    guard body.slug == nil || body.slug == slug else {
      throw ProblemError.invalidFields([FieldError(field: "slug", rule: "must equal the slug in the path")])
    }
    let precondition = try WritePrecondition(request.headers, revision: body.revision)
    return Self.answer(try await store.replaceTopic(slug, body.content, if: precondition)).response
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["mergeInto"])
    let rule = "must be the slug of another topic"
    let slug = try context.topicSlug()
    let other = parameters.value("mergeInto", rule: rule) { TopicSlug.isValid($0) && $0 != slug ? $0 : nil }
    try parameters.check()
    let precondition = try WritePrecondition(request.headers)
    do {
      try await store.removeTopic(slug, mergingInto: other, if: precondition, by: context.editor)
    } catch StoreError.unknownTopics {
      throw ProblemError.invalidParameters([FieldError(field: "mergeInto", rule: rule)])
    }
    return Response(status: .noContent)
  }

  private static func answer(_ topic: Topic, created: Bool = false) -> EditorialAnswer {
    let location = created ? "\(APIPath.editorialTopics)/\(topic.slug)" : nil
    return .locked(revision: topic.revision, createdAt: location) { $0.write(topic) }
  }
}
