import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsPages
import NewsStore
import Synchronization

/// Makes the views of pages, and keeps the titles of topics that all of them show.
final class PageViews: Sendable {
  let renderer: PageRenderer
  private let store: NewsStore
  private let titles = Mutex<TopicTitles?>(nil)

  init(store: NewsStore, _ renderer: PageRenderer) {
    self.store = store
    self.renderer = renderer
  }

  /// Returns the view from the state in memory; nil if the database must be read.
  func view(_ page: ReaderPage, in snapshot: FeedSnapshot) -> View? {
    guard let titles = titlesInMemory(in: snapshot), titles.includes(page.scope) else { return nil }
    switch page {
    case .list(let query): return snapshot.page(query).map { view($0, query, titles) }
    case .item(let id): return snapshot.item(id).map { view($0, titles) }
    }
  }

  /// Reads what the view consists of, besides the fragments of its items.
  ///
  /// - Throws: `StoreError.notFound` for a topic that was deleted, whose scope remains; `Representation.OutOfDate` if a
  ///   restore of the database came in between; the errors of the store.
  func load(_ page: ReaderPage, in snapshot: FeedSnapshot) async throws -> View {
    let titles: TopicTitles
    if let known = titlesInMemory(in: snapshot) {
      titles = known
    } else {
      titles = try await store.topicTitles()
      self.titles.withLock { $0 = titles }
    }
    guard titles.includes(page.scope) else { throw StoreError.notFound }
    let view: View
    switch page {
    case .list(let query):
      if let page = snapshot.page(query) {
        view = self.view(page, query, titles)
      } else {
        view = self.view(try await store.page(query), query, titles)
      }
    case .item(let id):
      if let item = snapshot.item(id) {
        view = self.view(item, titles)
      } else {
        view = self.view(try await store.item(id), titles)
      }
    }
    guard view.feedVersion.epoch == titles.feedVersion.epoch else { throw Representation.OutOfDate() }
    return view
  }

  private func titlesInMemory(in snapshot: FeedSnapshot) -> TopicTitles? {
    titles.withLock { $0 }.flatMap { $0.areCurrent(in: snapshot) ? $0 : nil }
  }

  private func view(_ page: ListPage, _ query: ItemQuery, _ titles: TopicTitles) -> View {
    let document = PageDocument(query, page, titles.pageTopics, renderer)
    return View(
      representation: Representation(
        PageBody(page, document), contentType: PageDocument.contentType,
        lastModified: page.modified.map { LastModified(max($0, titles.changed), page.read) }, fields: listFields),
      feedVersion: page.feedVersion.with(titles))
  }

  private func view(_ current: CurrentItem, _ titles: TopicTitles) -> View {
    let document = PageDocument(titles.pageTopics, renderer)
    return View(
      representation: Representation(
        PageBody(item: current.item, document, epoch: current.feedVersion.epoch), contentType: PageDocument.contentType,
        lastModified: LastModified(max(current.item.updatedDate, titles.changed), current.read), fields: Self.fields),
      feedVersion: current.feedVersion.with(titles))
  }

  /// The header fields of lists. Those with a button for notifications run its script.
  private var listFields: HTTPFields {
    var fields = Self.fields
    if renderer.offersNotifications { fields[.contentSecurityPolicy] = Self.policy + "; " + Self.scriptPolicy }
    return fields
  }

  /// Nothing is loaded from elsewhere but pictures and recordings of items, and nothing runs.
  private static let policy =
    "default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"

  /// The further rights of a list with a button for notifications: scripts of this server, and requests to it.
  private static let scriptPolicy = "script-src 'self'; connect-src 'self'; worker-src 'self'"

  /// The policy of the service worker, which only sends requests to this server.
  static let workerPolicy = "default-src 'none'; connect-src 'self'"

  /// The header fields of pages without scripts.
  static let fields: HTTPFields = [
    .contentSecurityPolicy: policy,
    .referrerPolicy: "no-referrer",
    .xContentTypeOptions: "nosniff",
  ]
}

extension TopicTitles {
  /// Whether all topics of a scope exist.
  fileprivate func includes(_ scope: Scope) -> Bool {
    scope.topics.allSatisfy { slug in topics.contains { $0.slug == slug } }
  }

  fileprivate var pageTopics: [PageTopic] { topics.map { PageTopic(slug: $0.slug, titles: $0.titles) } }
}

extension FeedVersion {
  /// The version of a page that also shows titles.
  fileprivate func with(_ titles: TopicTitles) -> FeedVersion {
    FeedVersion(epoch: epoch, version: version, topicsRevision: titles.feedVersion.topicsRevision)
  }
}
