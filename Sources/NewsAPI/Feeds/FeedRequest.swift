package import News
package import NewsFeeds
import NewsStore

/// A request for a document of a feed.
package struct FeedRequest: Sendable, Hashable {
  /// The part of a feed.
  package enum Part: Sendable, Hashable {
    case current
    /// An archive, from 1.
    case archive(Int)
    /// The changes after a token (RFC 3229).
    case changes(since: SyncToken)
  }

  package var format: PublishedFormat
  /// The feed, or one topic.
  package var scope: Scope
  package var part: Part

  /// The slug of the topic; nil for the feed of all items.
  var topic: String? { scope.topics.first }

  /// The token after which changes are requested.
  var since: SyncToken? { if case .changes(let since) = part { since } else { nil } }

  /// The part of the feed on which the document depends.
  var dependency: ResponseDependency {
    since.map { .changes(scope, since: $0.version) } ?? .scope(scope)
  }

  /// The query for the items of the document.
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

extension PublicRead {
  /// - Parameter topic: The slug of a topic; nil for the feed of all items.
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func feed(_ format: PublishedFormat, topic: String?, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(query, known: ["archive"])
    let archive = parameters.integer("archive", in: 1...1_000_000_000)
    try parameters.check()
    return PublicRead(
      key: .feed(
        FeedRequest(
          format: format, scope: topic.map { Scope(topics: [$0]) } ?? .feed,
          part: archive.map(FeedRequest.Part.archive) ?? .current)))
  }
}
