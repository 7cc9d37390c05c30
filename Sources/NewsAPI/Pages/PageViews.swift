import Foundation
import HTTPTypes
import NewsPages
import NewsStore
import Synchronization

/// The common parts of all pages for readers: the renderer, the titles of topics, and header fields.
final class PageViews: Sendable {
  /// The lower bound for the length of a page in bytes: all are worth compressing.
  static let minimumBytes = Representation.minimumCompressedBytes

  let renderer: PageRenderer
  private let store: NewsStore
  private let topics = Mutex<PageTopics?>(nil)

  init(store: NewsStore, _ renderer: PageRenderer) {
    self.store = store
    self.renderer = renderer
  }

  /// Returns the topics of a state; nil if they have to be read.
  func topicsInMemory(in snapshot: FeedSnapshot) -> PageTopics? {
    topics.withLock { $0 }.flatMap { $0.areCurrent(in: snapshot) ? $0 : nil }
  }

  /// Returns the topics of a state, or of a later one.
  ///
  /// - Throws: The errors of the store.
  func topics(in snapshot: FeedSnapshot) async throws -> PageTopics {
    if let known = topicsInMemory(in: snapshot) { return known }
    let read = PageTopics(try await store.topicTitles(), renderer)
    topics.withLock { $0 = read }
    return read
  }

  /// The header fields of lists. Those with a button for notifications run its script.
  var listFields: HTTPFields {
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

extension ViewSources {
  /// Returns what pages have in common.
  ///
  /// - Throws: `StoreError.notFound` if there are no pages.
  func requirePages() throws -> PageViews {
    guard let pages else { throw StoreError.notFound }
    return pages
  }
}
