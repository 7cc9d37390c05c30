package import Foundation
import HTTPConditions
import HTTPTypes
package import News
package import NewsStore

/// The key of a view: all that determines the content of a public response.
package enum ViewKey: Hashable, Sendable {
  case items(ItemQuery)
  case item(UUID, html: Bool)
  case changes(ChangeQuery)
  case state(Scope)
  case topics
  case topic(String)

  /// How a view is loaded, and from when it is kept in memory.
  enum Handling {
    /// Loaded without a read of the database, kept from its first use.
    case computed
    /// Kept from its first use.
    case common
    /// Kept from its second use, so that requests without a repetition use no memory.
    case repeated
    /// Never kept: it serves a single request.
    case single
  }

  /// The lengths of first pages that are kept from their first use.
  private static let commonLimits: Set<Int> = [20, 50, 100, 200]
  /// The number of recent versions from which changes are kept.
  private static let recentVersions = 1000

  /// The scope of the request, whose topics must exist.
  var scope: Scope {
    switch self {
    case .items(let query): query.scope
    case .changes(let query): query.scope
    case .state(let scope): scope
    case .item, .topics, .topic: .feed
    }
  }

  /// The token whose later changes are requested. It is nil for a snapshot and for its continuation, which is checked
  /// with its rows.
  var since: SyncToken? {
    guard case .changes(let query) = self, query.since?.position == nil else { return nil }
    return query.since
  }

  /// Returns how the view is loaded and kept.
  ///
  /// - Parameter snapshot: The state from which the request is answered.
  func handling(in snapshot: FeedSnapshot) -> Handling {
    switch self {
    case .items(let query): Self.isCommon(query) ? .common : .repeated
    case .item, .topics, .topic: .common
    case .state: .computed
    case .changes(let query):
      if let since, let current = snapshot.token(of: query.scope),
        since.version >= current.version - Self.recentVersions
      {
        snapshot.isNewest(since, in: query.scope) ? .computed : .common
      } else {
        .single
      }
    }
  }

  private static func isCommon(_ query: ItemQuery) -> Bool {
    let isFiltered =
      query.language != nil || query.author != nil || query.from != nil || query.to != nil || query.search != nil
    return commonLimits.contains(query.limit) && query.scope.topics.count <= 1 && query.after == nil && !isFiltered
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
    case .changes(let query): .changes(query.scope, since: query.since?.version ?? 0)
    case .state: .feed
    case .topics, .topic: .topics
    }
  }
}

extension ViewKey {
  /// Reads the content of the view and makes its response.
  ///
  /// - Parameter snapshot: The state that the content must have at least.
  /// - Throws: The errors of the store's queries.
  func load(from store: NewsStore, in snapshot: FeedSnapshot) async throws -> View {
    switch self {
    case .items(let query):
      let page = try await store.items(query)
      var fields: HTTPFields = [.syncToken: page.token.description]
      fields[.link] = page.next.map { "<\(query.target(of: $0))>; rel=\"next\"" }
      return View(
        representation: Representation(
          try NewsJSON.encode(ItemList(items: page.items)),
          lastModified: page.modified.map { LastModified($0, now: page.now) }, fields: fields),
        feedVersion: page.feedVersion)
    case .item(let id, let html):
      let answer = try await store.item(id, includesHTML: html)
      return View(
        representation: Representation(
          try NewsJSON.encode(answer.item), lastModified: LastModified(answer.item.updated, now: answer.now)),
        feedVersion: answer.feedVersion)
    case .changes(let query):
      let (list, feedVersion) = try await store.changes(query, in: snapshot)
      // The tag of a complete response is the token, so a client can revalidate with any token that it has. An incomplete
      // page can have the same token with different content.
      let token = list.token.description
      return View(
        representation: Representation(
          try NewsJSON.encode(list), tag: list.more ? nil : EntityTag(strong: token), fields: [.syncToken: token]),
        feedVersion: feedVersion)
    case .state(let scope):
      return View(
        representation: Representation(try NewsJSON.encode(snapshot.state(of: scope))),
        feedVersion: snapshot.feedVersion)
    case .topics:
      let (topics, feedVersion) = try await store.topics()
      return View(
        representation: Representation(try NewsJSON.encode(TopicList(topics: topics.map(\.forReaders)))),
        feedVersion: feedVersion)
    case .topic(let slug):
      let (topic, feedVersion) = try await store.topic(slug)
      return View(representation: Representation(try NewsJSON.encode(topic.forReaders)), feedVersion: feedVersion)
    }
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

extension ItemQuery {
  /// The target of another page of the list. It is relative, so it is valid under any public name of the server. It
  /// omits `at`, which concerns the first page only.
  ///
  /// - Parameter start: The position after which the page begins.
  fileprivate func target(of start: Keyset) -> String {
    var parameters = ["limit=\(limit)"]
    if !scope.topics.isEmpty { parameters.append("topics=\(scope.topics.joined(separator: ","))") }
    let texts = [
      ("language", language), ("author", author), ("from", from.map(RFC3339.string)), ("to", to.map(RFC3339.string)),
      ("q", search?.text), ("include", includesHTML ? "html" : nil),
    ]
    for case (let name, let text?) in texts {
      parameters.append("\(name)=\(text.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? "")")
    }
    parameters.append("cursor=\(PageCursor(self).text(start))")
    return "\(APIPath.items)?\(parameters.joined(separator: "&"))"
  }
}

extension CharacterSet {
  /// The unreserved characters (RFC 3986 section 2.3).
  fileprivate static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
