import News
package import NewsStore

/// `/v1/topics`: the sections of the app.
struct TopicListView: PublicView {
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ query: String?) throws -> PublicRead {
    try QueryParameters(query, known: []).check()
    return PublicRead(TopicListView())
  }

  var route: String { APIPath.topics }
  var dependency: ResponseDependency { .topics }

  func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    let (topics, feedVersion) = try await sources.store.topics()
    return try View(encoding: TopicList(topics: topics.map(\.forReaders)), feedVersion)
  }
}

/// `/v1/topics/{slug}`: a section of the app.
package struct TopicView: PublicView {
  let slug: String

  package init(_ slug: String) { self.slug = slug }

  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ slug: String, _ query: String?) throws -> PublicRead {
    try QueryParameters(query, known: []).check()
    return PublicRead(TopicView(slug))
  }

  package var route: String { APIPath.topic }
  package var dependency: ResponseDependency { .topics }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    let (topic, feedVersion) = try await sources.store.topic(slug)
    return try View(encoding: topic.forReaders, feedVersion)
  }
}

extension View {
  fileprivate init(encoding value: some Encodable, _ feedVersion: FeedVersion) throws {
    self.init(representation: Representation(Array(try NewsJSON.encode(value))), feedVersion: feedVersion)
  }
}

extension Topic {
  /// The topic without the fields for editors.
  fileprivate var forReaders: Topic {
    var topic = self
    topic.revision = nil
    return topic
  }
}
