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
  case page(ReaderPage)
  case feed(FeedRequest)

  /// The number of recent versions whose changes are likely to be requested by several clients.
  private static let recentVersions = 1000

  /// The scope of the request, whose topics must exist.
  var scope: Scope {
    switch self {
    case .items(let query): query.scope
    case .changes(let query): query.scope
    case .state(let scope): scope
    case .page(let page): page.scope
    case .feed(let feed): feed.scope
    case .item, .topics, .topic: .feed
    }
  }

  /// The token whose later changes are requested. It is nil for a snapshot and for its continuation, which is checked
  /// with its rows.
  var since: SyncToken? {
    if case .feed(let feed) = self { return feed.since }
    guard case .changes(let query) = self, query.since?.position == nil else { return nil }
    return query.since
  }

  /// Whether a read of the database for the view is costly, or most likely serves a single client: a search, a further
  /// page, a snapshot or old changes.
  ///
  /// - Parameter snapshot: The state from which the request is answered.
  func isUncommon(in snapshot: FeedSnapshot) -> Bool {
    switch self {
    case .items(let query): query.after != nil || query.search != nil
    case .page(let page): !page.isFirst
    case .item, .topics, .topic, .state: false
    case .feed(let feed):
      switch feed.part {
      case .current: false
      case .archive: true
      case .changes: isOld(in: snapshot)
      }
    case .changes: isOld(in: snapshot)
    }
  }

  /// Whether the changes after `since` are likely to be requested by a single client.
  private func isOld(in snapshot: FeedSnapshot) -> Bool {
    guard let since, let current = snapshot.token(of: scope) else { return true }
    return since.version < current.version - Self.recentVersions
  }

  /// Whether the view is a document of a feed for feed readers.
  var isFeed: Bool { if case .feed = self { true } else { false } }

  /// Whether clients poll the view.
  var isFollowed: Bool {
    switch self {
    case .items, .changes, .state: true
    case .feed(let feed): if case .archive = feed.part { false } else { true }
    case .item, .topics, .topic, .page: false
    }
  }

  /// Whether an outdated view may be served while the database does not respond. An outdated item is never served: it may
  /// have been retracted or corrected.
  var mayBeStale: Bool { itemID == nil }

  /// The id of the item that the view is about; nil for other views.
  var itemID: UUID? {
    switch self {
    case .item(let id, _), .page(.item(let id)): id
    default: nil
    }
  }

  /// The query of a list of items; nil for other views.
  var itemQuery: ItemQuery? {
    switch self {
    case .items(let query), .page(.list(let query)): query
    default: nil
    }
  }

  /// Whether the view is a page for readers.
  var isPage: Bool { if case .page = self { true } else { false } }

  /// The path pattern of the route.
  var route: String {
    switch self {
    case .items: APIPath.items
    case .item: APIPath.item
    case .changes: APIPath.changes
    case .state: APIPath.state
    case .topics: APIPath.topics
    case .topic: APIPath.topic
    case .page(let page): page.route
    case .feed(let feed):
      feed.topic == nil ? APIPath.feed(feed.format) : APIPath.topicFeed(feed.format)
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
    case .page(let page): page.dependency
    case .feed(let feed): feed.dependency
    }
  }
}

extension ViewKey {
  /// Returns the view from the state in memory; nil if the database must be read.
  ///
  /// - Parameter pages: The views of pages; nil if there are no pages.
  func view(in snapshot: FeedSnapshot, _ pages: PageViews?) -> View? {
    switch self {
    case .items(let query): snapshot.page(query).map { View($0, query) }
    case .changes(let query): snapshot.changes(query).map { View($0, query) }
    case .state(let scope):
      (try? snapshot.state(of: scope)).map {
        View(Representation($0, write: { $0.write($1) }), snapshot.feedVersion)
      }
    case .item(let id, let html): snapshot.item(id).map { View($0, html: html) }
    case .page(let page): pages?.view(page, in: snapshot)
    case .topics, .topic, .feed: nil
    }
  }

  /// Reads the content of the view, without the fragments that its body consists of.
  ///
  /// - Parameters:
  ///   - snapshot: The state that the content must have at least.
  ///   - pages: The views of pages; nil if there are no pages.
  ///   - feeds: The publisher of feeds; nil if there are none.
  /// - Throws: The errors of the store's queries; `ProblemError`, 404, for a feed without a publisher.
  func load(
    from store: NewsStore, in snapshot: FeedSnapshot, _ pages: PageViews?, _ feeds: FeedPublisher?
  ) async throws -> View {
    switch self {
    case .items(let query): return View(try await store.page(query), query)
    case .item(let id, let html): return View(try await store.item(id), html: html)
    case .changes(let query):
      if let page = snapshot.changes(query) { return View(page, query) }
      return View(try await store.changes(query), query)
    case .state(let scope):
      return View(
        Representation(try snapshot.state(of: scope), write: { $0.write($1) }), snapshot.feedVersion)
    case .topics:
      let (topics, feedVersion) = try await store.topics()
      let list = TopicList(topics: topics.map(\.forReaders))
      return View(try Representation(encoding: list), feedVersion)
    case .topic(let slug):
      let (topic, feedVersion) = try await store.topic(slug)
      return View(try Representation(encoding: topic.forReaders), feedVersion)
    case .page(let page):
      guard let pages else { throw StoreError.notFound }
      return try await pages.load(page, in: snapshot)
    case .feed(let request):
      guard let feeds else { throw ProblemError.feedsNotConfigured }
      return try await feeds.view(of: request, from: store)
    }
  }
}

extension View {
  fileprivate init(_ representation: Representation, _ feedVersion: FeedVersion) {
    self.init(representation: representation, feedVersion: feedVersion)
  }

  fileprivate init(_ page: ListPage, _ query: ItemQuery) {
    var fields: HTTPFields = [.syncToken: page.token.description]
    fields[.link] = page.next.map { "<\(query.target(of: $0))>; rel=\"next\"" }
    self.init(
      Representation(
        PageBody(page, html: query.includesHTML), lastModified: page.modified.map { LastModified($0, page.read) },
        fields: fields),
      page.feedVersion)
  }

  fileprivate init(_ page: ChangePage, _ query: ChangeQuery) {
    // The tag of a complete response is the token, so a client can revalidate with any token that it has. An incomplete
    // page can have the same token with different content.
    let token = page.token.description
    self.init(
      Representation(
        PageBody(page, html: query.includesHTML), tag: page.more ? nil : EntityTag(strong: token),
        fields: [.syncToken: token]),
      page.feedVersion)
  }

  fileprivate init(_ current: CurrentItem, html: Bool) {
    self.init(
      Representation(
        PageBody(item: current.item, html: html, epoch: current.feedVersion.epoch),
        lastModified: LastModified(current.item.updatedDate, current.read)),
      current.feedVersion)
  }
}

extension Representation {
  fileprivate convenience init(encoding value: some Encodable) throws {
    self.init(Array(try NewsJSON.encode(value)))
  }

  fileprivate convenience init<Value>(_ value: Value, write: (inout JSONWriter, Value) -> Void) {
    var json = JSONWriter()
    write(&json, value)
    self.init(json.bytes)
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
      ("breaking", isBreaking.map { "\($0)" }), ("q", search?.text), ("include", includesHTML ? "html" : nil),
    ]
    for case (let name, let text?) in texts { parameters.append("\(name)=\(text.percentEncoded)") }
    parameters.append("cursor=\(PageCursor(self).text(start))")
    return "\(APIPath.items)?\(parameters.joined(separator: "&"))"
  }
}

extension String {
  /// The text with all characters but the unreserved ones (RFC 3986 section 2.3) encoded.
  fileprivate var percentEncoded: String {
    var encoded = ""
    for byte in utf8 {
      let isUnreserved =
        byte.isASCIIDigit || byte.isASCIILetter || [UInt8(ascii: "-"), 0x2E, 0x5F, 0x7E].contains(byte)
      if isUnreserved {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
