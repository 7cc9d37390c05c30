import Foundation
public import News
import PostgresClient
import Synchronization

/// Published items as bytes, written once for each version of an item in a form, and shared by all responses that contain
/// it.
package final class Fragments: Sendable {
  /// Identifies a fragment. A version belongs to an epoch: a restored database gives it to another change.
  private struct Key: Hashable, Sendable {
    let epoch: String
    let id: UUID
    let version: Int
    let form: FragmentForm.Name

    init(_ epoch: String, _ id: UUID, _ version: Int, _ form: FragmentForm.Name) {
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

/// A form of items, such as their JSON or the entries of a feed. It is written once for each version of an item, and kept
/// in memory under one budget with all other forms.
public struct FragmentForm: Sendable {
  /// The JSON of the API without `html`.
  static let json = FragmentForm(.json, html: false) { $0.fragment }
  /// The JSON of the API with `html`.
  static let jsonWithHTML = FragmentForm(.jsonWithHTML, html: true) { $0.fragment }

  /// The name. Forms that write the same item differently have different names. That of the JSON of the API, which most
  /// items have only, is no text, because each look into memory hashes it.
  enum Name: Hashable {
    case json, jsonWithHTML
    case other(String)
  }

  let name: Name
  /// Whether an item has its `html` when it is written.
  package let html: Bool
  let write: @Sendable (NewsItem) -> [UInt8]

  /// Creates a form.
  ///
  /// - Parameters:
  ///   - name: The name, which includes all that the bytes depend on besides the item.
  ///   - html: Whether an item has its `html` when it is written.
  ///   - write: Writes an item.
  public init(name: String, html: Bool, write: @escaping @Sendable (NewsItem) -> [UInt8]) {
    self.init(.other(name), html: html, write: write)
  }

  private init(_ name: Name, html: Bool, write: @escaping @Sendable (NewsItem) -> [UInt8]) {
    self.name = name
    self.html = html
    self.write = write
  }

  /// Whether the form is the JSON of the API.
  var isJSON: Bool { if case .other = name { false } else { true } }

  /// The name of the form in which a version of an item is kept. An item without `html` has one JSON only.
  func name(for item: ItemVersion) -> Name { isJSON && !item.hasHTML ? .json : name }
}

/// The forms of the items of a body. That of the first item may differ from that of all others.
package struct FragmentForms: Sendable {
  package let first: FragmentForm
  package let others: FragmentForm

  package init(first: FragmentForm, others: FragmentForm) {
    self.first = first
    self.others = others
  }

  /// Creates the forms of items of which each has the same one.
  package init(_ form: FragmentForm) { self.init(first: form, others: form) }

  /// The JSON of the API, with or without `html`.
  package static func json(html: Bool) -> FragmentForms { FragmentForms(html ? .jsonWithHTML : .json) }

  subscript(index: Int) -> FragmentForm { index == 0 ? first : others }
}

extension NewsStore {
  /// Returns items from memory in a form, in order; nil unless all of them are there.
  ///
  /// - Parameter epoch: The epoch of the versions.
  package func fragmentsInMemory(of items: [ItemVersion], as forms: FragmentForms, epoch: String) -> [[UInt8]]? {
    let found = fragments.find(items, as: forms, epoch: epoch).compactMap(\.self)
    return found.count == items.count ? found : nil
  }

  /// Returns items in a form, in order. Those that are not in memory are read with one statement.
  ///
  /// - Parameter epoch: The epoch of the versions.
  /// - Returns: nil if an item has been changed or removed since, so that the page is out of date.
  package func fragments(of items: [ItemVersion], as forms: FragmentForms, epoch: String) async throws -> [[UInt8]]? {
    var found = fragments.find(items, as: forms, epoch: epoch)
    let missing = found.indices.filter { found[$0] == nil }
    if !missing.isEmpty {
      let parts = missing.map { (item: items[$0], form: forms[$0]) }
      guard let made = try await written(parts, epoch: epoch) else { return nil }
      fragments.insert(zip(parts, made).map { ($0.item, $0.form, $1) }, epoch: epoch)
      for (index, bytes) in zip(missing, made) { found[index] = bytes }
    }
    return found.compactMap(\.self)
  }

  /// Writes items, each in a form, in order. All forms but the JSON itself are made from the JSON of an item, which most
  /// requests need and which is often in memory.
  ///
  /// - Returns: nil if an item has been changed or removed since.
  private func written(
    _ parts: [(item: ItemVersion, form: FragmentForm)], epoch: String
  ) async throws -> [[UInt8]]? {
    let (items, html) = (parts.map(\.item), parts.contains { $0.form.html })
    guard parts.allSatisfy(\.form.isJSON) else {
      guard let json = try await fragments(of: items, as: .json(html: html), epoch: epoch) else { return nil }
      let bytes = json.reduce(0) { $0 + $1.count }
      return try await ComputePool.shared.slices(.reading, bytes: bytes, Array(zip(parts, json))) { part, json in
        part.form.write(try NewsJSON.decode(NewsItem.self, from: Data(json)))
      }
    }
    guard let read = try await contents(of: items, html: html, epoch: epoch) else { return nil }
    // A megabyte takes a few milliseconds.
    let bytes = read.reduce(0) { $0 + $1.textBytes } / 64
    return try await ComputePool.shared.slices(.reading, bytes: bytes, read) { $0.fragment }
  }

  /// Reads items that are published at their versions, in order, on the standby if it has all of them.
  ///
  /// - Returns: nil if one of them is not.
  private func contents(of items: [ItemVersion], html: Bool, epoch: String) async throws -> [NewsItem]? {
    let query = ContentQuery(items: items, html: html, epoch: epoch)
    if let replica, replica.isAvailable, let rows = await replica.snapshot([query.sql])?.first,
      let read = try query.decode(rows)
    {
      replica.recordUse()
      return read
    }
    return try await database.contents(query)
  }
}

/// A query for the contents of items that are published at their versions. Within an epoch, a version of an item is the
/// same on all servers.
struct ContentQuery: Sendable {
  let items: [ItemVersion]
  let html: Bool
  let epoch: String

  var sql: PostgresQuery {
    """
    SELECT l.version, l.updated, \(query: Database.currentEpoch) AS epoch,
      \(query: NewsItem.columns(html: html))
    FROM unnest(\(items.map(\.id)), \(items.map(\.version))) WITH ORDINALITY AS w (id, version, number)
      JOIN change_log AS l ON l.item = w.id AND l.scope = '' AND l.version = w.version AND l.present
      JOIN items AS i ON i.id = w.id
    ORDER BY w.number
    """
  }

  /// - Returns: The items in order; nil if one of them is no longer published at its version.
  func decode(_ rows: PostgresRows) throws -> [NewsItem]? {
    guard rows.count == items.count, try rows.first?.decode("epoch") == epoch else { return nil }
    return try rows.map(NewsItem.init(row:))
  }
}

extension Database {
  func contents(_ query: ContentQuery) async throws -> [NewsItem]? {
    try query.decode(try await snapshot([query.sql])[0])
  }
}

extension Fragments {
  /// The limits of what is read ahead at each change: an import would read more than is asked for.
  private static let maximumItemsAhead = 64
  private static let maximumBytesAhead = 256 << 10
  /// The time for which a new state waits for its items. A reader that comes before them reads them itself.
  private static let maximumWait: Duration = .milliseconds(50)

  /// Reads items that have just changed, so that the readers of the new state find them in memory.
  ///
  /// - Returns: false if they could not be read in time.
  func readAhead(_ answer: StateAnswer, from database: Database) async -> Bool {
    var rest = Self.maximumBytesAhead
    let latest = answer.changed.suffix(Self.maximumItemsAhead)
    // Items that this process has written are there already.
    let known = find(Array(latest), as: .json(html: true), epoch: answer.state.epoch)
    let items = zip(latest, known).filter { $1 == nil }.map(\.0).reversed().prefix { item in
      rest -= item.maximumBytes(html: true)
      return rest >= 0
    }
    guard isEnabled, !items.isEmpty else { return true }
    let query = ContentQuery(items: Array(items), html: true, epoch: answer.state.epoch)
    let reading = SharedTask {
      if let read = try await database.contents(query) { self.insert(read, epoch: query.epoch) }
    }
    do { try await reading.value(waitingAtMost: Self.maximumWait) } catch { return false }
    return true
  }
}
