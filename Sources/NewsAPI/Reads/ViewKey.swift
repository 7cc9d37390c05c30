package import Foundation
package import News
package import NewsStore

/// The key of a view.
package enum ViewKey: Hashable, Sendable {
  case items(ItemQuery)
  case item(UUID, html: Bool)
  /// The changes after a recent version.
  case changes(Scope, since: Int, limit: Int, html: Bool)
  case state(Scope)
  case topics
  case topic(String)

  /// The lengths of first pages that are cached from their first use.
  private static let commonLimits: Set<Int> = [20, 50, 100, 200]

  /// Whether the view is cached from its first use. Lists with uncommon parameters are cached from their second use, so
  /// that requests without a repetition use no memory.
  var isCommon: Bool {
    guard case .items(let query) = self else { return true }
    return Self.commonLimits.contains(query.limit) && query.scope.topics.count <= 1 && query.isFirstPage
      && !query.isFiltered
  }

  /// Whether clients poll the view.
  var isFollowed: Bool {
    switch self {
    case .items, .changes, .state: true
    case .item, .topics, .topic: false
    }
  }

  /// Whether an outdated view may be served while the database does not respond. An outdated item is never served: it may
  /// have been retracted or corrected.
  var mayBeStale: Bool {
    if case .item = self { false } else { true }
  }

  /// The path pattern of the route.
  var route: String {
    switch self {
    case .items: APIPath.items
    case .item: APIPath.item
    case .changes: APIPath.changes
    case .state: APIPath.state
    case .topics: APIPath.topics
    case .topic: APIPath.topic
    }
  }

  /// The part of the feed on which the view depends.
  var dependency: ResponseDependency {
    switch self {
    case .items(let query): .scope(query.scope)
    case .item(let id, _): .item(id)
    case .changes(let scope, let since, _, _): .changes(scope, since: since)
    case .state: .feed
    case .topics, .topic: .topics
    }
  }
}

extension ItemQuery {
  fileprivate var isFirstPage: Bool { after == nil }

  fileprivate var isFiltered: Bool {
    language != nil || author != nil || from != nil || to != nil || search != nil
  }
}
