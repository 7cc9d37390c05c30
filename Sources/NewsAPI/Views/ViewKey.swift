package import Foundation
package import News
import NewsStore

/// What is kept in memory: answers that many ask for in the same words.
package enum ViewKey: Hashable, Sendable {
  /// The first page of the feed or of a topic.
  case items(Scope, limit: Int, html: Bool)
  case item(UUID, html: Bool)
  /// From a version of the recent past.
  case changes(Scope, since: Int, limit: Int, html: Bool)
  case state(Scope)
  case topics
  case topic(String)

  /// The lengths of first pages that are kept; others are too seldom asked for.
  private static let limits: Set<Int> = [20, 50, 100, 200]

  /// nil for a page that is not kept.
  init?(_ query: ItemQuery) {
    guard Self.limits.contains(query.limit), query.scope.topics.count <= 1, query.after == nil, query.language == nil,
      query.author == nil, query.from == nil, query.to == nil, query.search == nil
    else { return nil }
    self = .items(query.scope, limit: query.limit, html: query.includesHTML)
  }

  /// Whether clients ask for it again and again.
  var isFollowed: Bool {
    switch self {
    case .items, .changes, .state: true
    case .item, .topics, .topic: false
    }
  }

  /// Whether what it was before a change is better than nothing while the database does not answer. Of an item that was
  /// retracted or put right it is not.
  var mayBeStale: Bool {
    if case .item = self { false } else { true }
  }

  /// The pattern of the path.
  var route: String {
    switch self {
    case .items: "/v1/items"
    case .item: "/v1/items/{id}"
    case .changes: "/v1/changes"
    case .state: "/v1/state"
    case .topics: "/v1/topics"
    case .topic: "/v1/topics/{slug}"
    }
  }

  /// What an answer changes with.
  var subject: FeedSubject {
    switch self {
    case .items(let scope, _, _): .scope(scope)
    case .item(let id, _): .item(id)
    case .changes(let scope, let since, _, _): .changes(scope, since: since)
    case .state: .feed
    case .topics, .topic: .topics
    }
  }
}
