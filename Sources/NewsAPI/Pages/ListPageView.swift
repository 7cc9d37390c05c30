package import News
import NewsPages
package import NewsStore

/// `/` and `/topics/{slug}`: a page for readers with a list of items.
package struct ListPageView: PublicView {
  /// The number of items on a page.
  package static let limit = 24
  /// The names of the query parameters, with a cursor as value.
  private static let olderParameter = PageRenderer.olderParameter
  private static let newerParameter = PageRenderer.newerParameter

  let query: ItemQuery

  /// - Parameter topic: The slug of a topic; nil for the feed.
  /// - Throws: `ProblemError` that names the parameters and rules.
  static func read(topic: String?, _ query: String?) throws -> PublicRead {
    var parameters = QueryParameters(own(query), known: [olderParameter, newerParameter])
    var items = ItemQuery(scope: Scope(topics: topic.map { [$0] } ?? []), limit: limit)
    let cursor = PageCursor(items)
    // A reader's next page is the older one.
    items.after = parameters.cursor(cursor, named: olderParameter)
    items.before = parameters.cursor(cursor, named: newerParameter)
    if items.after != nil, items.before != nil {
      parameters.refuse(newerParameter, "must not be used together with \(olderParameter)")
    }
    try parameters.check()
    return PublicRead(ListPageView(query: items))
  }

  /// The parameters of a page in a query. Others are ignored: social networks and newsletters add theirs to the links that
  /// readers share.
  private static func own(_ query: String?) -> String {
    let names = [olderParameter, newerParameter]
    let own = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).filter { pair in
      names.contains { pair.starts(with: "\($0)=".utf8) }
    }
    return own.map { String(Substring($0)) }.joined(separator: "&")
  }

  package var route: String { query.scope == .feed ? APIPath.frontPage : APIPath.topicPage }
  package var scope: Scope { query.scope }
  package var hasTopicInPath: Bool { true }
  package var dependency: ResponseDependency { .titled(.scope(query.scope)) }
  package var windowScope: Scope? { query.scope }
  package var isPage: Bool { true }

  package func isUncommon(in snapshot: FeedSnapshot) -> Bool { query.after != nil || query.before != nil }

  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? {
    guard let pages = sources.pages, let topics = pages.topicsInMemory(in: snapshot), topics.include(scope) else {
      return nil
    }
    return snapshot.page(query).map { view($0, topics, pages) }
  }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    let pages = try sources.requirePages()
    let topics = try await pages.topics(in: snapshot)
    guard topics.include(scope) else { throw StoreError.notFound }
    if let page = snapshot.page(query) { return try topics.checked(view(page, topics, pages)) }
    return try topics.checked(view(try await sources.store.page(query), topics, pages))
  }

  private func view(_ page: ListPage, _ topics: PageTopics, _ pages: PageViews) -> View {
    let cursor = PageCursor(query)
    var list = PageRenderer.List(topic: scope.topics.first)
    list.older = page.next.map(cursor.text)
    list.newer = page.previous.map(cursor.text)
    list.isContinued = query.after != nil || query.before != nil
    list.query =
      query.after.map { "\(Self.olderParameter)=\(cursor.text($0))" }
      ?? query.before.map { "\(Self.newerParameter)=\(cursor.text($0))" }
    let frame = ListPageFrame(list: list, topics: topics, renderer: pages.renderer)
    return View(
      representation: Representation(
        PageBody(page.items, in: frame, epoch: page.feedVersion.epoch),
        lastModified: page.modified.map { LastModified(max($0, topics.changed), page.read) }, fields: pages.listFields),
      feedVersion: topics.version(of: page.feedVersion))
  }
}

/// A page around the stories of a list.
private struct ListPageFrame: BodyFrame {
  let list: PageRenderer.List
  let topics: PageTopics
  let renderer: PageRenderer

  var forms: FragmentForms { topics.stories }
  var contentType: String { Representation.pageContentType }
  var isCostly: Bool { true }

  func minimumBytes(_ items: [ItemVersion]) -> Int { PageViews.minimumBytes }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "d"))
    bytes.append(identitiesOf: items)
    bytes += topics.identity
    for text in [list.topic, list.older, list.newer, list.query] { bytes.append(counted: text) }
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] {
    Array(renderer.page(of: list, stories: fragments, topics: topics.all).utf8)
  }
}
