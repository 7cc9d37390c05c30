import Foundation
import GRDB
import HTTPTransfer
import News

/// The changes of the last fetches, by which a process hears of the fetches of others.
struct ChangeTable {
  /// The maximum number of records.
  static let maximumRecords = 200

  let db: Database

  init(_ db: Database) { self.db = db }

  static func addTable(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE changes (
          number INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, inserted BLOB NOT NULL, updated BLOB NOT NULL,
          removed BLOB NOT NULL
        );
        """)
  }

  /// The number of the last record, 0 without one.
  var last: Int64 {
    get throws { try Int64.fetchOne(db, sql: "SELECT max(number) FROM changes") ?? 0 }
  }

  /// Adds the column that says whether a record has all changes.
  static func addCompleteness(_ db: Database) throws {
    try db.execute(sql: "ALTER TABLE changes ADD COLUMN is_complete INTEGER NOT NULL DEFAULT 1")
  }

  /// Adds a record in the transaction of a fetch.
  ///
  /// - Parameter origin: The ``LocalStore/origin`` of the store that has fetched.
  func add(_ changes: ItemChanges, origin: String) throws {
    try db.execute(
      "INSERT INTO changes (origin, inserted, updated, removed, is_complete) VALUES (?, ?, ?, ?, ?)",
      origin, Self.data(changes.inserted.map(\.id)), Self.data(changes.updated.map(\.id)), Self.data(changes.removed),
      changes.isComplete)
    try db.trim("changes", to: Self.maximumRecords)
  }

  /// Returns the changes by others after a record, oldest first, with the items as they are now.
  ///
  /// If records were dropped meanwhile, a single change has the newest stored items as updated.
  ///
  /// - Parameters:
  ///   - number: The number of the last known record. It becomes the number of the last record.
  ///   - origin: The origin whose records are left out.
  func changes(after number: inout Int64, without origin: String) throws -> [ItemChanges] {
    let last = try last
    // Another file has replaced a damaged store, and counts from 1.
    if last < number { number = 0 }
    let first = try Int64.fetchOne(db, sql: "SELECT min(number) FROM changes") ?? last + 1
    defer { number = last }
    if last > number, first > number + 1 {
      var changes = ItemChanges()
      changes.updated = try ItemTable(db).newest(ItemChanges.maximumItems)
      changes.isComplete = try ItemTable(db).count() <= ItemChanges.maximumItems
      return [changes]
    }
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT inserted, updated, removed, is_complete FROM changes WHERE number > ? AND origin <> ? ORDER BY number
        """,
      arguments: [number, origin])
    return try rows.map { row in
      var changes = ItemChanges()
      changes.inserted = try items(row[0])
      changes.updated = try items(row[1])
      changes.removed = Self.ids(row[2])
      changes.isComplete = row[3]
      return changes
    }
  }

  /// Returns the items that are still stored.
  private func items(_ data: Data) throws -> [NewsItem] {
    let table = ItemTable(db)
    return try Self.ids(data).compactMap { try table.item($0) }
  }

  /// Returns the 16 bytes of each id.
  private static func data(_ ids: [UUID]) -> Data {
    var data = Data(capacity: ids.count * 16)
    for id in ids { withUnsafeBytes(of: id.uuid) { data.append(contentsOf: $0) } }
    return data
  }

  private static func ids(_ data: Data) -> [UUID] {
    data.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count - bytes.count % 16, by: 16).map {
        UUID(uuid: bytes.loadUnaligned(fromByteOffset: $0, as: uuid_t.self))
      }
    }
  }
}
