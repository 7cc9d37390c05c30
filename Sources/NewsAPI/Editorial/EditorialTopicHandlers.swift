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
    return .json { $0.write(list) }
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let topic = try await store.topic(try context.topicSlug()).topic
    return try .locked(revision: topic.revision, to: request) { $0.write(topic) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context)
    let (topic, created) = try await editorial.createTopic(fields, context)
    return Self.answer(topic, created: created).response
  }

  @Sendable func replace(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let slug = try context.topicSlug()
    let fields = try await JSONBody.object(of: request, context: context)
    return Self.answer(try await editorial.replaceTopic(slug, fields, headers: request.headers, context)).response
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
  static func answer(_ topic: Topic, created: Bool = false) -> EditorialAnswer {
    let location = created ? "\(APIPath.editorialTopics)/\(topic.slug)" : nil
    return .locked(revision: topic.revision, createdAt: location) { $0.write(topic) }
  }
}
