import Foundation
import Hummingbird
import News
import NewsStore

/// `/v1/topics`: the sections of the app.
struct TopicHandlers: Sendable {
  let store: NewsStore
  let caching: CachePolicy

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let topics = try await store.topics().map(\.forReaders)
    return try Representation(try NewsJSON.encode(TopicList(topics: topics))).response(
      to: request, caching, context.metrics)
  }

  @Sendable func topic(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let topic = try await store.topic(try context.topicSlug()).forReaders
    return try Representation(try NewsJSON.encode(topic)).response(to: request, caching, context.metrics)
  }
}

extension Topic {
  /// Without what only editors need.
  fileprivate var forReaders: Topic {
    var topic = self
    topic.revision = nil
    return topic
  }
}
