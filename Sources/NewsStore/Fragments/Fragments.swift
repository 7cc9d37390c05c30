import Foundation
import News
import Synchronization

/// The JSON of published items, written once for each version of an item and shared by all responses that contain it.
package final class Fragments: Sendable {
  /// Identifies a fragment. A version belongs to an epoch: a restored database gives it to another change.
  struct Key: Hashable, Sendable {
    let epoch: String
    let id: UUID
    let version: Int
    /// Whether the fragment contains `html`. An item without `html` has one fragment only.
    let html: Bool
    /// The name of a `FragmentForm`; nil for the JSON of the API.
    let form: String?

    init(_ epoch: String, _ id: UUID, _ version: Int, html: Bool, form: String? = nil) {
      (self.epoch, self.id, self.version, self.html, self.form) = (epoch, id, version, html, form)
    }
  }

  /// The maximum size of the texts of a commit whose fragments are made at once. Those of a larger one are made when a
  /// reader asks for them, so that the writer does not wait for them.
  private static let maximumCommitBytes = 2 << 20
  /// The memory of a fragment besides its bytes.
  private static let overhead = 256

  private let cache: Mutex<BudgetedCache<Key, [UInt8]>>
  /// Whether fragments are kept at all.
  let isEnabled: Bool

  /// - Parameter budget: The approximate memory for fragments in bytes; 0 to keep none.
  package init(budget: Int) {
    cache = Mutex(BudgetedCache(budget: budget))
    isEnabled = budget > 0
  }

  package var usage: CacheUsage { cache.withLock { $0.usage } }

  /// Returns the fragments of items, in order; nil for those that are not in memory.
  func find(_ items: [ItemVersion], html: Bool, epoch: String) -> [[UInt8]?] {
    cache.withLock { cache in
      items.map { cache.use(Key(epoch, $0.id, $0.version, html: html && $0.hasHTML)) }
    }
  }

  /// Returns items in another form, in order; nil for those that are not in memory.
  func find(_ items: [ItemVersion], as form: FragmentForm, epoch: String) -> [[UInt8]?] {
    cache.withLock { cache in
      items.map { cache.use(Key(epoch, $0.id, $0.version, html: true, form: form.name)) }
    }
  }

  /// Adds an item in another form.
  func insert(_ bytes: [UInt8], of item: ItemVersion, as form: FragmentForm, epoch: String) {
    guard isEnabled else { return }
    let key = Key(epoch, item.id, item.version, html: true, form: form.name)
    cache.withLock { $0.insert(bytes, for: key, cost: bytes.count + Self.overhead) }
  }

  /// Adds the fragments of items that this process has committed.
  func insert(committed items: [NewsItem], epoch: String) {
    guard items.reduce(0, { $0 + $1.textBytes }) <= Self.maximumCommitBytes else { return }
    insert(items, epoch: epoch)
  }

  /// Adds the fragments of items: without `html`, and with it for those that have it.
  func insert(_ items: [NewsItem], epoch: String) {
    guard isEnabled else { return }
    for item in items where item.html != nil { insert([(item, item.fragment)], epoch: epoch) }
    let plain = items.map { item in
      var plain = item
      plain.html = nil
      return (item: plain, json: plain.fragment)
    }
    insert(plain, epoch: epoch)
  }

  /// Adds fragments.
  func insert(_ fragments: [(item: NewsItem, json: [UInt8])], epoch: String) {
    cache.withLock { cache in
      for (item, json) in fragments {
        let key = Key(epoch, item.id, item.version, html: item.html != nil)
        cache.insert(json, for: key, cost: json.count + Self.overhead)
      }
    }
  }
}

extension NewsItem {
  /// The size of the long texts, in bytes.
  var textBytes: Int { text.utf8.count + (html?.utf8.count ?? 0) }

  /// The fragment of the item.
  var fragment: [UInt8] {
    var json = JSONWriter(capacity: 512 + text.utf8.count + (html?.utf8.count ?? 0))
    json.write(self)
    return json.bytes
  }
}
