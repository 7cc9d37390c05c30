package import News
package import NewsFeeds
package import NewsStore

/// `/feed.json` and the feeds of other formats and of topics: a document for feed readers.
package struct FeedView: PublicView {
  /// The part of a feed.
  package enum Part: Sendable, Hashable {
    case current
    /// An archive, from 1.
    case archive(Int)
    /// The changes after a token (RFC 3229).
    case changes(since: SyncToken)
  }

  package let format: PublishedFormat
  /// The feed, or one topic.
  package let scope: Scope
  package var part: Part

  /// Reads the query of the target of a feed.
  ///
  /// - Parameter topic: The slug of a topic; nil for the feed of all items.
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(_ format: PublishedFormat, topic: String?, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["archive"])
    let archive = parameters.integer("archive", in: 1...1_000_000_000)
    try parameters.check()
    return PublicRead(
      FeedView(
        format: format, scope: topic.map { Scope(topics: [$0]) } ?? .feed, part: archive.map(Part.archive) ?? .current))
  }

  /// The slug of the topic; nil for the feed of all items.
  var topic: String? { scope.topics.first }

  /// The number of the archive; nil for another part.
  var archive: Int? { if case .archive(let number) = part { number } else { nil } }

  package var route: String { topic == nil ? APIPath.feed(format) : APIPath.topicFeed(format) }
  package var hasTopicInPath: Bool { true }
  package var since: SyncToken? { if case .changes(let since) = part { since } else { nil } }
  package var dependency: ResponseDependency { since.map { .changes(scope, since: $0.version) } ?? .scope(scope) }
  package var isPolled: Bool { archive == nil }

  package func isUncommon(in snapshot: FeedSnapshot) -> Bool {
    switch part {
    case .current: false
    case .archive: true
    case .changes(let since): snapshot.isOld(since, in: scope)
    }
  }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    guard let feeds = sources.feeds else { throw ProblemError.feedsNotConfigured }
    return try await feeds.view(of: self, from: sources.store)
  }

  /// Returns the query for the items of the document.
  ///
  /// - Parameter count: The number of items in the current document.
  func query(count: Int) -> FeedQuery {
    switch part {
    case .current: FeedQuery(scope: scope, part: .current(count))
    case .archive(let number): FeedQuery(scope: scope, part: .archive(number))
    case .changes(let since): FeedQuery(scope: scope, part: .changes(since: since))
    }
  }
}
