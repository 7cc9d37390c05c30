import Crypto
import Foundation
import HTTPConditions
import NIOCore
import News
import NewsStore

/// A JSON body that consists of the fragments of items. Its entity tag and a 304 need none of them.
struct PageBody: Sendable {
  /// The JSON around the items.
  private enum Form: Sendable {
    case item
    case list
    case changes(ChangePage)
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

  private init(_ form: Form, _ items: [ItemVersion], _ html: Bool, _ epoch: String) {
    self.form = form
    self.items = items
    self.html = html
    self.epoch = epoch
  }

  /// A lower bound for the length in bytes. It is the same on every replica.
  var minimumBytes: Int { items.reduce(0) { $0 + $1.minimumBytes(html: html) } }

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
  func assembled(_ fragments: [[UInt8]]) -> ByteBuffer {
    var json = JSONWriter(capacity: fragments.reduce(256) { $0 + $1.count + 32 } + changeCount * 96)
    switch form {
    case .item: for fragment in fragments { json.write(json: fragment) }
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
