import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/topics`: topics with their revision as an optimistic lock.
struct EditorialTopicHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let list = TopicList(topics: try await store.topics().topics)
    return try .json { try $0.encode(list) }
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let topic = try await store.topic(try context.topicSlug()).topic
    return try .locked(revision: topic.revision, to: request) { try $0.encode(topic) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context)
    let (topic, created) = try await editorial.createTopic(fields, context)
    return try Self.answer(topic, created: created).response
  }

  @Sendable func replace(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let slug = try context.topicSlug()
    let fields = try await JSONBody.object(of: request, context: context)
    return try Self.answer(await editorial.replaceTopic(slug, fields, headers: request.headers, context)).response
  }

  @Sendable func remove(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["mergeInto"])
    let slug = try context.topicSlug()
    let other = parameters.value("mergeInto", rule: .otherTopic) {
      TopicSlug.isValid($0) && $0 != slug ? $0 : nil
    }
    try parameters.check()
    try await editorial.removeTopic(slug, mergingInto: other, if: try WritePrecondition(request.headers), context)
    return Response(status: .noContent)
  }

  /// Returns the answer to a write.
  static func answer(_ topic: Topic, created: Bool = false) throws -> EditorialAnswer {
    let location = created ? "\(APIPath.editorialTopics)/\(topic.slug)" : nil
    return try .locked(revision: topic.revision, createdAt: location) { try $0.encode(topic) }
  }
}
