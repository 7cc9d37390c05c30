import Foundation
import News
import PostgresClient

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
