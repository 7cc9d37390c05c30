package import Foundation
package import News
package import NewsStore

/// The key of an answer in memory.
package enum ViewKey: Hashable, Sendable {
  case items(ItemQuery)
  case item(UUID, html: Bool)
  /// The changes after a version of the recent past.
  case changes(Scope, since: Int, limit: Int, html: Bool)
  case state(Scope)
  case topics
  case topic(String)

  /// The lengths of first pages that are kept from their first use.
  private static let commonLimits: Set<Int> = [20, 50, 100, 200]

  /// Whether the answer is kept from its first use. Lists with uncommon parameters are kept from their second use, so that
  /// requests that nobody repeats take no memory from others.
  var isCommon: Bool {
    guard case .items(let query) = self else { return true }
    return Self.commonLimits.contains(query.limit) && query.scope.topics.count <= 1 && query.isFirstPage
      && !query.isFiltered
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
    case .items: APIPath.items
    case .item: APIPath.item
    case .changes: APIPath.changes
    case .state: APIPath.state
    case .topics: APIPath.topics
    case .topic: APIPath.topic
    }
  }

  /// What an answer changes with.
  var subject: FeedSubject {
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
