package import HTTPEdge
package import HTTPTypes
package import News
package import NewsStore

extension EditorialAPI {
  /// Creates a topic. A repeat with the same content has no effect.
  ///
  /// - Parameter fields: The members of a JSON object, as in the body of `POST /v1/editorial/topics`.
  /// - Returns: The topic, and whether this call has created it.
  /// - Throws: `ProblemError`, `StoreError`, `AnsweredBefore`.
  package func createTopic(
    _ fields: [String: JSONValue], _ context: APIContext
  ) async throws -> (topic: Topic, created: Bool) {
    try Self.requireTopicRights(context)
    let body = try TopicBody(fields, needsSlug: true)
    guard let slug = body.slug else { throw ProblemError.internal }
    context.record.setSubject("topic", slug)
    return try await store.createTopic(
      slug, body.content, once: context.once { try EditorialTopicHandlers.answer($0.topic, created: $0.created) })
  }

  /// Replaces the content of a topic.
  ///
  /// - Parameters:
  ///   - fields: The members of a JSON object, as in the body of `PUT /v1/editorial/topics/{slug}`. `revision` is the
  ///     precondition.
  ///   - headers: The header fields with further preconditions.
  /// - Throws: `ProblemError`, `StoreError`.
  package func replaceTopic(
    _ slug: String, _ fields: [String: JSONValue], headers: HTTPFields = [:], _ context: APIContext
  ) async throws -> Topic {
    try Self.requireTopicRights(context)
    let body = try TopicBody(fields, needsSlug: false)
    guard body.slug == nil || body.slug == slug else {
      throw ProblemError.invalidFields([FieldError(field: "slug", rule: "must equal the slug in the path")])
    }
    let precondition = try WritePrecondition(headers, revision: body.revision)
    return try await store.replaceTopic(slug, body.content, if: precondition)
  }

  /// Deletes a topic.
  ///
  /// - Parameter other: The topic that its items receive instead; nil for a topic without items.
  /// - Throws: `ProblemError`, 400, which names the parameter `mergeInto`; `StoreError`.
  package func removeTopic(
    _ slug: String, mergingInto other: String?, if precondition: WritePrecondition, _ context: APIContext
  ) async throws {
    try Self.requireTopicRights(context)
    let invalid = ProblemError.invalidParameters([FieldError(field: "mergeInto", breaks: .otherTopic)])
    guard other != slug else { throw invalid }
    do {
      try await store.removeTopic(slug, mergingInto: other, if: precondition, by: context.editor)
    } catch StoreError.unknownTopics {
      throw invalid
    }
  }

  /// Checks that the key of a request may change topics: it may publish, and is not restricted to topics.
  ///
  /// - Throws: `ProblemError`, 403.
  private static func requireTopicRights(_ context: APIContext) throws {
    guard context.access.mayPublish else { throw ProblemError.forbidden(.itemsPublish) }
    guard let topics = context.record.key?.topics else { return }
    throw ProblemError.topicNotAllowed(topicRightsConsequence, allowed: topics)
  }

  /// The consequence of a restriction to topics.
  static let topicRightsConsequence = "It may not create, change, delete or merge topics."
}
