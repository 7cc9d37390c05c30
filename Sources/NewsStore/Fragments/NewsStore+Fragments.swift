import Foundation
import News
import PostgresClient

extension NewsStore {
  /// Returns the JSON of items from memory, in order; nil unless all of them are there.
  ///
  /// - Parameters:
  ///   - html: Whether the JSON contains `html`.
  ///   - epoch: The epoch of the versions.
  package func fragmentsInMemory(of items: [ItemVersion], html: Bool, epoch: String) -> [[UInt8]]? {
    let found = fragments.find(items, html: html, epoch: epoch).compactMap(\.self)
    return found.count == items.count ? found : nil
  }

  /// Returns the JSON of items, in order. Those that are not in memory are read with one statement.
  ///
  /// - Parameters:
  ///   - html: Whether the JSON contains `html`.
  ///   - epoch: The epoch of the versions.
  /// - Returns: nil if an item has been changed or removed since, so that the page is out of date.
  package func fragments(of items: [ItemVersion], html: Bool, epoch: String) async throws -> [[UInt8]]? {
    var found = fragments.find(items, html: html, epoch: epoch)
    let missing = found.indices.filter { found[$0] == nil }
    if !missing.isEmpty {
      guard let read = try await contents(of: missing.map { items[$0] }, html: html, epoch: epoch) else { return nil }
      // A megabyte takes a few milliseconds.
      let bytes = read.reduce(0) { $0 + $1.textBytes } / 64
      let made = try await ComputePool.shared.slices(.reading, bytes: bytes, read) { (item: $0, json: $0.fragment) }
      fragments.insert(made, epoch: epoch)
      for (index, fragment) in zip(missing, made) { found[index] = fragment.json }
    }
    return found.compactMap(\.self)
  }

  /// Returns items in another form from memory, in order; nil unless all of them are there.
  ///
  /// - Parameter epoch: The epoch of the versions.
  package func fragmentsInMemory(of items: [ItemVersion], as form: FragmentForm, epoch: String) -> [[UInt8]]? {
    let found = fragments.find(items, as: form, epoch: epoch).compactMap(\.self)
    return found.count == items.count ? found : nil
  }

  /// Returns items in another form, in order. Those that are not in memory are made from the JSON of the items.
  ///
  /// - Parameter epoch: The epoch of the versions.
  /// - Returns: nil if an item has been changed or removed since, so that the page is out of date.
  package func fragments(of items: [ItemVersion], as form: FragmentForm, epoch: String) async throws -> [[UInt8]]? {
    var found = fragments.find(items, as: form, epoch: epoch)
    let missing = found.indices.filter { found[$0] == nil }
    guard let json = try await fragments(of: missing.map { items[$0] }, html: true, epoch: epoch) else { return nil }
    let made = try await ComputePool.shared.slices(.reading, bytes: json.reduce(0) { $0 + $1.count }, json) {
      form.write(try NewsJSON.decode(NewsItem.self, from: Data($0)))
    }
    for (index, made) in zip(missing, made) {
      fragments.insert(made, of: items[index], as: form, epoch: epoch)
      found[index] = made
    }
    return found.compactMap(\.self)
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
    let known = find(Array(latest), html: true, epoch: answer.state.epoch)
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
