package import Foundation
import News
import NewsPages
package import NewsStore

/// A page for readers.
package enum ReaderPage: Hashable, Sendable {
  /// The feed, or a topic.
  case list(ItemQuery)
  case item(UUID)

  /// The number of items on a page of a list.
  package static let listLimit = 24

  /// The names of the query parameters of lists, with a cursor as value.
  static let olderParameter = PageRenderer.olderParameter
  static let newerParameter = PageRenderer.newerParameter

  var scope: Scope { if case .list(let query) = self { query.scope } else { .feed } }

  var isFirst: Bool { if case .list(let query) = self { query.after == nil && query.before == nil } else { true } }

  /// The path pattern of the route.
  var route: String {
    switch self {
    case .list(let query): query.scope == .feed ? APIPath.frontPage : APIPath.topicPage
    case .item: APIPath.itemPage
    }
  }

  /// The part of the feed on which the page depends. All pages show the titles of topics.
  var dependency: ResponseDependency {
    switch self {
    case .list(let query): .titled(.scope(query.scope))
    case .item(let id): .titled(.item(id))
    }
  }
}

/// The reads of pages. Each is made from the query of a target.
extension PublicRead {
  /// - Parameter topic: The slug of a topic; nil for the feed.
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func listPage(topic: String? = nil, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(pageQuery: query)
    var items = ItemQuery(scope: Scope(topics: topic.map { [$0] } ?? []), limit: ReaderPage.listLimit)
    let cursor = PageCursor(items)
    // A reader's next page is the older one.
    items.after = parameters.cursor(cursor, named: ReaderPage.olderParameter)
    items.before = parameters.cursor(cursor, named: ReaderPage.newerParameter)
    if items.after != nil, items.before != nil {
      parameters.refuse(ReaderPage.newerParameter, "must not be used together with \(ReaderPage.olderParameter)")
    }
    try parameters.check()
    return PublicRead(key: .page(.list(items)))
  }

  static func itemPage(_ id: UUID) -> PublicRead { PublicRead(key: .page(.item(id))) }
}

extension QueryParameters {
  /// Reads the query of a page. Other parameters are ignored: social networks and newsletters add theirs to the links
  /// that readers share.
  fileprivate init(pageQuery query: String?) {
    let names = [ReaderPage.olderParameter, ReaderPage.newerParameter]
    let own = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).filter { pair in
      names.contains { pair.starts(with: "\($0)=".utf8) }
    }
    self.init(own.map { String(Substring($0)) }.joined(separator: "&"), known: Set(names))
  }
}
