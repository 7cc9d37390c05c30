import Foundation
import GRDB

/// The tables that receive a full copy of a feed, within a transaction.
///
/// The complete copy takes the place of the stored items by renaming tables, which takes milliseconds for any number of
/// items. The previous tables are removed afterwards, in small steps.
struct StagingArea {
  /// The number of rows that a step removes.
  private static let step = 500
  /// The beginning of the names of tables that are to be removed.
  private static let retired = "retired_"

  let db: Database

  init(_ db: Database) { self.db = db }

  /// Adds the area to a store. The staged pages of an older version lack a search index, so they are dropped.
  static func addTables(_ db: Database) throws {
    let isEmpty = try ItemTable(db, .staged).isEmpty
    try db.execute(
      sql: isEmpty ? "DROP TABLE staged" : "ALTER TABLE staged RENAME TO \(retired)\(uniqueSuffix)")
    try StagingArea(db).create()
  }

  /// Empties the area.
  func clear() throws {
    if try ItemTable(db, .staged).isEmpty { return }
    try retire(.staged)
    try create()
  }

  /// Replaces the stored items by the staged ones.
  func takePlace() throws {
    try db.execute(sql: "DROP TRIGGER IF EXISTS items_past")
    try retire(.items)
    try SearchIndex.removeTriggers(db, of: .staged)
    try db.execute(
      sql: """
        ALTER TABLE staged RENAME TO items;
        ALTER TABLE \(ItemTable.Name.staged.searchIndex) RENAME TO \(ItemTable.Name.items.searchIndex);
        """)
    try SearchIndex.addTriggers(db, to: .items)
    try NotificationJournal.addTrigger(db)
    try create()
  }

  /// Removes some rows of the previous tables, and the tables once they are empty.
  ///
  /// - Returns: Whether there are more.
  func removeRetired() throws -> Bool {
    let tables = try Row.fetchAll(
      db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name GLOB '\(Self.retired)*'"
    ).map { (name: $0["name"] as String, isVirtual: ($0["sql"] as String).hasPrefix("CREATE VIRTUAL")) }
    if tables.isEmpty { return false }
    for table in tables where !table.isVirtual && !table.name.hasSuffix("_idx") && !table.name.hasSuffix("_config") {
      // The first rows of the data of an index describe it, without which it cannot be dropped (SQLite, FTS5 Extension).
      let condition = table.name.hasSuffix("_data") ? "WHERE rowid > 10" : ""
      do {
        try db.execute(
          sql: """
            DELETE FROM \(table.name) WHERE rowid IN (SELECT rowid FROM \(table.name) \(condition) LIMIT \(Self.step))
            """)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
        // SQLite can be configured to protect the tables of an index (SQLITE_DBCONFIG_DEFENSIVE).
        continue
      }
      if db.changesCount > 0 { return true }
    }
    for table in tables where table.isVirtual { try db.execute(sql: "DROP TABLE \(table.name)") }
    for table in tables { try db.execute(sql: "DROP TABLE IF EXISTS \(table.name)") }
    return false
  }

  private func create() throws {
    try db.execute(
      sql: """
        CREATE TABLE staged (
          id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
        );
        CREATE INDEX newest_first_\(Self.uniqueSuffix) ON staged (date DESC, id DESC);
        """)
    try SearchIndex.addTables(db, for: .staged)
  }

  private func retire(_ table: ItemTable.Name) throws {
    try SearchIndex.removeTriggers(db, of: table)
    let name = Self.retired + Self.uniqueSuffix
    try db.execute(
      sql: """
        ALTER TABLE \(table.rawValue) RENAME TO \(name);
        ALTER TABLE \(table.searchIndex) RENAME TO \(name)_text;
        """)
  }

  /// A text that no other name in the store ends with.
  private static var uniqueSuffix: String { UUID().uuidString.filter { $0 != "-" }.lowercased() }
}
