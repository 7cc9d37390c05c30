import Foundation
import News
import Synchronization

/// Published items as bytes, written once for each version of an item in a form, and shared by all responses that contain
/// it.
package final class Fragments: Sendable {
  /// Identifies a fragment. A version belongs to an epoch: a restored database gives it to another change.
  private struct Key: Hashable, Sendable {
    let epoch: String
    let id: UUID
    let version: Int
    /// The name of the form.
    let form: String

    init(_ epoch: String, _ id: UUID, _ version: Int, _ form: String) {
      (self.epoch, self.id, self.version, self.form) = (epoch, id, version, form)
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
  func find(_ items: [ItemVersion], as forms: FragmentForms, epoch: String) -> [[UInt8]?] {
    cache.withLock { cache in
      items.enumerated().map { index, item in
        cache.use(Key(epoch, item.id, item.version, forms[index].name(for: item)))
      }
    }
  }

  /// Adds fragments, each in the form of an item.
  func insert(_ fragments: [(item: ItemVersion, form: FragmentForm, bytes: [UInt8])], epoch: String) {
    insert(
      fragments.map { item, form, bytes in
        (Key(epoch, item.id, item.version, form.name(for: item)), bytes)
      })
  }

  /// Adds the JSON of items that this process has committed.
  func insert(committed items: [NewsItem], epoch: String) {
    guard items.reduce(0, { $0 + $1.textBytes }) <= Self.maximumCommitBytes else { return }
    insert(items, epoch: epoch)
  }

  /// Adds the JSON of items: without `html`, and with it for those that have it.
  func insert(_ items: [NewsItem], epoch: String) {
    insert(
      items.flatMap { item in
        var plain = item
        plain.html = nil
        return (item.html == nil ? [plain] : [item, plain]).map { item in
          let form: FragmentForm = item.html == nil ? .json : .jsonWithHTML
          return (Key(epoch, item.id, item.version, form.name), form.write(item))
        }
      })
  }

  private func insert(_ fragments: @autoclosure () -> [(key: Key, bytes: [UInt8])]) {
    guard isEnabled else { return }
    let fragments = fragments()
    cache.withLock { cache in
      for (key, bytes) in fragments { cache.insert(bytes, for: key, cost: bytes.count + Self.overhead) }
    }
  }
}

extension NewsItem {
  /// The size of the long texts, in bytes.
  var textBytes: Int { text.utf8.count + (html?.utf8.count ?? 0) }

  /// The JSON of the item.
  var fragment: [UInt8] {
    var json = JSONWriter(capacity: 512 + text.utf8.count + (html?.utf8.count ?? 0))
    json.write(self)
    return json.bytes
  }
}
