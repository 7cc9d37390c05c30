import Crypto
import Foundation
import HTTPConditions
import NIOCore
import News
import NewsStore

/// The bytes of a body around the fragments of its items: JSON, the document of a feed, or a page for readers.
protocol BodyFrame: Sendable {
  /// The forms of the items.
  var forms: FragmentForms { get }

  var contentType: String { get }

  /// Whether assembling the body takes so long that it must not be done on an event loop.
  var isCostly: Bool { get }

  /// Returns a lower bound for the length of the body in bytes. It is the same on every replica.
  func minimumBytes(_ items: [ItemVersion]) -> Int

  /// Appends all that determines the body, with the identities of its items. It begins with a letter that no other frame
  /// has.
  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8])

  /// Assembles the body.
  ///
  /// - Parameter fragments: The items in their forms, in order.
  func body(_ fragments: [[UInt8]]) -> [UInt8]
}

extension BodyFrame {
  var contentType: String { "application/json" }
  var isCostly: Bool { false }

  func minimumBytes(_ items: [ItemVersion]) -> Int {
    items.reduce(0) { $0 + $1.minimumBytes(html: forms.others.html) }
  }
}

/// A body that is made from the fragments of items. Its entity tag and a 304 need none of them.
struct PageBody: Sendable {
  /// The version of all that this build writes. It changes with the JSON of equal items, so that no client keeps an
  /// answer of an earlier build.
  private static let format: UInt8 = 1

  /// The items whose fragments the body contains, in order.
  let items: [ItemVersion]
  /// The epoch of the items' versions.
  private let epoch: String
  private let frame: any BodyFrame

  init(_ items: [ItemVersion], in frame: any BodyFrame, epoch: String) {
    self.items = items
    self.frame = frame
    self.epoch = epoch
  }

  /// A lower bound for the length in bytes. It is the same on every replica.
  var minimumBytes: Int { frame.minimumBytes(items) }

  /// Whether assembling the body takes so long that it must not be done on an event loop.
  var isCostly: Bool { frame.isCostly }

  var contentType: String { frame.contentType }

  /// Returns the size of the body's fragments, as it counts for `ComputePool`: most bodies only copy them.
  func computedBytes(_ fragments: [[UInt8]]) -> Int {
    fragments.reduce(0) { $0 + $1.count } / (isCostly ? 1 : 64)
  }

  /// Returns the items in the form in which the body contains them, in order; nil unless all of them are in memory.
  func fragmentsInMemory(of store: NewsStore) -> [[UInt8]]? {
    store.fragmentsInMemory(of: items, as: frame.forms, epoch: epoch)
  }

  /// Returns the items in the form in which the body contains them, in order.
  ///
  /// - Returns: nil if an item has been changed or removed since.
  func fragments(from store: NewsStore) async throws -> [[UInt8]]? {
    try await store.fragments(of: items, as: frame.forms, epoch: epoch)
  }

  /// Returns a strong tag: 128 bits of SHA-256 in base64url (RFC 4648 section 5) over the identities of all items, and all
  /// else that the response says.
  ///
  /// - Parameter link: The field `Link`. A cache keeps its stored fields after a 304, and would never learn of a next
  ///   page.
  func tag(link: String?) -> EntityTag {
    var bytes: [UInt8] = [Self.format, frame.forms.others.html ? 1 : 0]
    bytes.reserveCapacity(items.count * 50 + 128)
    frame.appendIdentity(items, to: &bytes)
    if let link { bytes.append(contentsOf: "\n\(link)".utf8) }
    return EntityTag(strong: String(base64URL: SHA256.hash(data: bytes).prefix(16)))
  }

  /// Assembles the body.
  ///
  /// - Parameter fragments: The fragments of `items`, in order.
  func assembled(_ fragments: [[UInt8]]) -> ByteBuffer { ByteBuffer(bytes: frame.body(fragments)) }
}

extension [UInt8] {
  /// Appends the identities of items.
  mutating func append(identitiesOf items: some Sequence<ItemVersion>) {
    for item in items {
      append(UInt8(ascii: "+"))
      item.appendIdentity(to: &self)
    }
  }
}
