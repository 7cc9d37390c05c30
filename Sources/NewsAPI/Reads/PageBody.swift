import Crypto
import Foundation
import HTTPConditions
import NIOCore
import News
import NewsFeeds
import NewsStore

/// A body that is made from the fragments of items: JSON, a feed, or a page for readers. Its entity tag and a 304 need
/// none of them.
struct PageBody: Sendable {
  /// The JSON around the items, or the page that shows them.
  private enum Form: Sendable {
    case item
    case list
    case changes(ChangePage)
    case document(PageDocument)
    case feed(FeedBody)
  }

  /// The version of all that this build writes. It changes with the JSON of equal items, so that no client keeps an
  /// answer of an earlier build.
  private static let format: UInt8 = 1

  private let form: Form
  /// The items whose fragments the body contains, in order.
  let items: [ItemVersion]
  let html: Bool
  /// The epoch of the items' versions.
  let epoch: String

  /// Creates the body of one item.
  init(item: ItemVersion, html: Bool, epoch: String) {
    self.init(.item, [item], html, epoch)
  }

  /// Creates the body of a list.
  init(_ page: ListPage, html: Bool) {
    self.init(.list, page.items, html, page.feedVersion.epoch)
  }

  /// Creates the body of a page of changes.
  init(_ page: ChangePage, html: Bool) {
    let items = page.changes.compactMap { change -> ItemVersion? in
      if case .put(let item) = change { item } else { nil }
    }
    self.init(.changes(page), items, html, page.feedVersion.epoch)
  }

  /// Creates a page for readers with the items of a list. It shows no `html`.
  init(_ page: ListPage, _ document: PageDocument) {
    self.init(.document(document), page.items, false, page.feedVersion.epoch)
  }

  /// Creates a page for readers of one item.
  init(item: ItemVersion, _ document: PageDocument, epoch: String) {
    self.init(.document(document), [item], true, epoch)
  }

  /// Creates the document of a feed.
  init(_ page: FeedPage, _ feed: FeedBody) {
    self.init(.feed(feed), page.items, true, page.feedVersion.epoch)
  }

  private init(_ form: Form, _ items: [ItemVersion], _ html: Bool, _ epoch: String) {
    self.form = form
    self.items = items
    self.html = html
    self.epoch = epoch
  }

  /// A lower bound for the length in bytes. It is the same on every replica.
  var minimumBytes: Int {
    if case .document = form { return PageDocument.minimumBytes }
    if case .feed(let feed) = form { return feed.minimumBytes(entries: items.count) }
    return items.reduce(0) { $0 + $1.minimumBytes(html: html) }
  }

  /// Whether assembling the body takes so long that it must not be done on an event loop.
  var isCostly: Bool { if case .document = form { true } else { false } }

  /// The size of the body's fragments, as it counts for `ComputePool`: a page decodes and sanitises them, any other body
  /// copies them.
  func computedBytes(_ fragments: [[UInt8]]) -> Int {
    fragments.reduce(0) { $0 + $1.count } / (isCostly ? 1 : 64)
  }

  var contentType: String {
    if case .feed(let feed) = form { feed.writer.format.mediaType } else { "application/json" }
  }

  /// Returns the items in the form in which the body contains them, in order; nil unless all of them are in memory.
  func fragmentsInMemory(of store: NewsStore) -> [[UInt8]]? {
    guard case .feed(let feed) = form else { return store.fragmentsInMemory(of: items, html: html, epoch: epoch) }
    return store.fragmentsInMemory(of: items, as: feed.form, epoch: epoch)
  }

  /// Returns the items in the form in which the body contains them, in order.
  ///
  /// - Returns: nil if an item has been changed or removed since.
  func fragments(from store: NewsStore) async throws -> [[UInt8]]? {
    guard case .feed(let feed) = form else { return try await store.fragments(of: items, html: html, epoch: epoch) }
    return try await store.fragments(of: items, as: feed.form, epoch: epoch)
  }

  /// A strong tag: 128 bits of SHA-256 in base64url (RFC 4648 section 5) over the identities of all items, and all else
  /// that the response says.
  ///
  /// - Parameter link: The field `Link`. A cache keeps its stored fields after a 304, and would never learn of a next
  ///   page.
  func tag(link: String?) -> EntityTag {
    var bytes: [UInt8] = [Self.format, html ? 1 : 0]
    bytes.reserveCapacity(items.count * 50 + 128)
    func append(_ item: ItemVersion) {
      bytes.append(UInt8(ascii: "+"))
      item.appendIdentity(to: &bytes)
    }
    switch form {
    case .item, .list:
      bytes.append(UInt8(ascii: "i"))
      for item in items { append(item) }
    case .document(let document):
      bytes.append(UInt8(ascii: "d"))
      for item in items { append(item) }
      document.appendIdentity(to: &bytes)
    case .feed(let feed):
      bytes.append(UInt8(ascii: "f"))
      for item in items { append(item) }
      // The document without entries has its links and its settings.
      bytes += feed.writer.document(feed.head, entries: [])
    case .changes(let page):
      bytes.append(UInt8(ascii: "c"))
      for change in page.changes {
        switch change {
        case .put(let item): append(item)
        case .remove(let id, let reason): bytes.append(contentsOf: "-\(id) \(reason.rawValue)\n".utf8)
        }
      }
      bytes.append(contentsOf: "=\(page.token) \(page.more) \(page.isSnapshot)".utf8)
    }
    if let link { bytes.append(contentsOf: "\n\(link)".utf8) }
    return EntityTag(strong: String(base64URL: SHA256.hash(data: bytes).prefix(16)))
  }

  /// Assembles the body.
  ///
  /// - Parameter fragments: The fragments of `items`, in order.
  /// - Throws: `DecodingError` for a malformed fragment, which only a page for readers decodes.
  func assembled(_ fragments: [[UInt8]]) throws -> ByteBuffer {
    if case .document(let document) = form { return ByteBuffer(bytes: try document.html(fragments)) }
    if case .feed(let feed) = form {
      return ByteBuffer(bytes: feed.writer.document(feed.head, entries: fragments))
    }
    var json = JSONWriter(capacity: fragments.reduce(256) { $0 + $1.count + 32 } + changeCount * 96)
    switch form {
    case .item, .feed, .document: for fragment in fragments { json.write(json: fragment) }
    case .list:
      json.object { json in
        json.field("items") { $0.array(fragments) { $0.write(json: $1) } }
      }
    case .changes(let page):
      var rest = fragments[...]
      json.object { json in
        json.field("changes") {
          $0.array(page.changes) { json, change in
            json.write(change, fragment: { rest.removeFirst() })
          }
        }
        json.field("more", page.more)
        if page.isSnapshot { json.field("snapshot", true) }
        json.field("token", page.token.description)
      }
    }
    return ByteBuffer(bytes: json.bytes)
  }

  private var changeCount: Int { if case .changes(let page) = form { page.changes.count } else { 0 } }
}

extension JSONWriter {
  /// Writes a change.
  ///
  /// - Parameter fragment: Returns the JSON of the item of a put.
  fileprivate mutating func write(_ change: ChangePage.Change, fragment: () -> [UInt8]) {
    object { json in
      switch change {
      case .put:
        let item = fragment()
        json.field("item") { $0.write(json: item) }
        json.field("op", "put")
      case .remove(let id, let reason):
        json.field("id", id)
        json.field("op", "remove")
        json.field("reason", reason.rawValue)
      }
    }
  }
}
