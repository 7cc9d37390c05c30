import Foundation
import GRDB
import HTTPTransfer
import News

/// The items of a store, or those of a snapshot in progress, within a transaction.
struct ItemTable {
  enum Name: String {
    case items, staged

    /// The name of the full-text index of the table.
    var searchIndex: String { "\(rawValue)_text" }
  }

  /// An item in its stored form.
  struct StoredForm: Sendable {
    let id: String
    let version: Int
    let date: Int
    let json: Data

    init(_ item: NewsItem) throws {
      (id, version) = (item.id.key, item.version)
      (date, json) = (SyncState.Keyset(item).date, try NewsJSON.encode(item))
    }
  }

  let db: Database
  let name: Name

  init(_ db: Database, _ name: Name = .items) {
    self.db = db
    self.name = name
  }

  /// Returns the stored JSON of an item.
  func json(_ id: UUID) throws -> Data? {
    try Data.fetchOne(db, sql: "SELECT json FROM \(name.rawValue) WHERE id = ?", arguments: [id.key])
  }

  func item(_ id: UUID) throws -> NewsItem? {
    try json(id).map { try NewsJSON.decode(NewsItem.self, from: $0) }
  }

  /// Stores an item, and replaces the one with the same id.
  func put(_ item: NewsItem) throws { try put(try StoredForm(item)) }

  /// Stores an item, and replaces the one with the same id.
  func put(_ item: StoredForm) throws {
    try db.execute(
      // REPLACE would remove the row without the triggers that keep the search index.
      """
      INSERT INTO \(name.rawValue) (id, version, date, json) VALUES (?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET version = excluded.version, date = excluded.date, json = excluded.json
      """, item.id, item.version, item.date, item.json)
  }

  /// Whether the stored item is equal, or newer within the same epoch.
  func isUpToDate(_ item: NewsItem, _ storedJSON: Data, epochIsSame: Bool) throws -> Bool {
    let stored = try NewsJSON.decode(NewsItem.self, from: storedJSON)
    return stored == item || epochIsSame && stored.version > item.version
  }

  func remove(_ id: UUID) throws {
    try db.execute("DELETE FROM \(name.rawValue) WHERE id = ?", id.key)
  }

  func removeAll() throws {
    try db.execute(sql: "DELETE FROM \(name.rawValue)")
  }

  /// Returns the newest items, newest first.
  ///
  /// - Parameter limit: The maximum number of items; nil for all.
  func newest(_ limit: Int?) throws -> [NewsItem] {
    let sql = "SELECT json FROM \(name.rawValue) ORDER BY date DESC, id DESC LIMIT ?"
    return try Data.fetchAll(db, sql: sql, arguments: [limit ?? -1])
      .map { try NewsJSON.decode(NewsItem.self, from: $0) }
  }

  /// Whether there are no items.
  var isEmpty: Bool {
    get throws { try !db.exists(name.rawValue) }
  }

  func count() throws -> Int {
    try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name.rawValue)") ?? 0
  }

  /// Returns all ids, newest item first.
  func ids() throws -> [UUID] {
    try String.fetchAll(db, sql: "SELECT id FROM \(name.rawValue) ORDER BY date DESC, id DESC").compactMap {
      UUID(uuidString: $0)
    }
  }

  /// Removes all but the newest items. The server has not retracted the removed ones.
  ///
  /// - Returns: The sort key of the oldest remaining item; nil if none was removed.
  func trim(to limit: Int) throws -> SyncState.Keyset? {
    let rows = try Row.fetchAll(
      db, sql: "SELECT date, id FROM \(name.rawValue) ORDER BY date DESC, id DESC LIMIT 2 OFFSET ?",
      arguments: [limit - 1])
    guard rows.count == 2 else { return nil }
    let oldest = SyncState.Keyset(date: rows[0][0], id: rows[0][1])
    try db.execute("DELETE FROM \(name.rawValue) WHERE (date, id) < (?, ?)", oldest.date, oldest.id)
    return oldest
  }
}

extension UUID {
  /// The key of the item with this id.
  var key: String { uuidString.lowercased() }
}
