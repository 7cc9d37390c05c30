import Foundation
import News
import NewsPages
import NewsStore

/// A page that is rendered from the fragments of its items.
struct PageDocument: Sendable {
  /// The lower bound for the length of a page in bytes: all are worth compressing.
  static let minimumBytes = Representation.minimumCompressedBytes

  /// The `Content-Type` of all pages.
  static let contentType = "text/html; charset=utf-8"

  private enum Content: Sendable {
    case item
    /// A list without its items.
    case list(PageRenderer.List)
  }

  private let content: Content
  private let topics: [PageTopic]
  private let renderer: PageRenderer

  /// Creates the page of an item.
  init(_ topics: [PageTopic], _ renderer: PageRenderer) {
    (content, self.topics, self.renderer) = (.item, topics, renderer)
  }

  /// Creates a page of a list.
  init(_ query: ItemQuery, _ page: ListPage, _ topics: [PageTopic], _ renderer: PageRenderer) {
    var (list, cursor) = (PageRenderer.List(topic: query.scope.topics.first, items: []), PageCursor(query))
    list.older = page.next.map(cursor.text)
    list.newer = page.previous.map(cursor.text)
    list.isContinued = query.after != nil || query.before != nil
    list.query =
      query.after.map { "\(PageRenderer.olderParameter)=\(cursor.text($0))" }
      ?? query.before.map { "\(PageRenderer.newerParameter)=\(cursor.text($0))" }
    (content, self.topics, self.renderer) = (.list(list), topics, renderer)
  }

  /// Appends all that determines the page besides its items.
  func appendIdentity(to bytes: inout [UInt8]) {
    bytes += renderer.identity
    func append(_ text: String?) { bytes += (text.map { "\($0.utf8.count):\($0)" } ?? "-").utf8 }
    for topic in topics {
      append(topic.slug)
      for (language, title) in topic.titles.sorted(by: { $0.key < $1.key }) {
        append(language)
        append(title)
      }
      append(nil)
    }
    guard case .list(let list) = content else { return }
    for text in [list.topic, list.older, list.newer, list.query] { append(text) }
  }

  /// Renders the page.
  ///
  /// - Parameter fragments: The JSON of the items, in order.
  /// - Throws: `DecodingError` for a malformed fragment.
  func html(_ fragments: [[UInt8]]) throws -> [UInt8] {
    let items = try fragments.map { try NewsJSON.decode(NewsItem.self, from: Data($0)) }
    switch content {
    case .item: return items.first.map { Array(renderer.page(of: $0, topics: topics).utf8) } ?? []
    case .list(var list):
      list.items = items
      return Array(renderer.page(of: list, topics: topics).utf8)
    }
  }
}
