import Foundation
import GRDB
import HTTPTransfer

/// The items that the user has read, and those that the badge counts, within a transaction.
struct ReadMarks {
  /// The maximum number of marks in the settings, and of marks of items that are not stored any more.
  static let maximumCopied = 5000

  let db: Database

  init(_ db: Database) { self.db = db }

  /// Adds the tables.
  ///
  /// - Parameter copy: The marks that have survived the loss of the store, the oldest first.
  static func addTables(_ db: Database, copy: [UUID]) throws {
    try db.execute(
      sql: """
        -- The items that the user has read, including the last ones that are not stored any more.
        CREATE TABLE read_items (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE);
        -- The new items since the app was last opened.
        CREATE TABLE badge_items (id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
        """)
    _ = try ReadMarks(db).set(copy, isRead: true)
  }

  /// Whether the store has the tables. An older store that cannot be written lacks them.
  var isAvailable: Bool {
    get throws { try db.tableExists("read_items") }
  }

  /// Whether the user has read an item.
  func isRead(_ id: UUID) throws -> Bool {
    try db.exists("read_items WHERE id = ?", id.key)
  }

  /// Marks items as read or unread.
  ///
  /// - Returns: Whether any mark has changed.
  func set(_ ids: some Sequence<UUID>, isRead: Bool) throws -> Bool {
    let sql = isRead ? "INSERT OR IGNORE INTO read_items (id) VALUES (?)" : "DELETE FROM read_items WHERE id = ?"
    var hasChanged = false
    for id in ids {
      try db.execute(sql, id.key)
      if db.changesCount == 1 { hasChanged = true }
    }
    try prune()
    return hasChanged
  }

  /// Marks all stored items as read. Only the newest marks are copied, so the oldest items come first.
  ///
  /// - Returns: Whether any mark has changed.
  func setAllRead() throws -> Bool {
    try db.execute(
      sql: """
        INSERT INTO read_items (id)
        SELECT id FROM items WHERE id NOT IN (SELECT id FROM read_items) ORDER BY date, id
        """)
    let hasChanged = db.changesCount > 0
    try prune()
    return hasChanged
  }

  /// Records new items, which the badge counts while they are stored and unread.
  func count(_ ids: some Sequence<UUID>) throws {
    for id in ids { try db.execute("INSERT OR IGNORE INTO badge_items (id) VALUES (?)", id.key) }
  }

  /// Records the newest items as new, because an older version has counted them without recording them.
  func countNewest(_ number: Int) throws {
    try db.execute(
      "INSERT OR IGNORE INTO badge_items (id) SELECT id FROM items ORDER BY date DESC, id DESC LIMIT ?", max(0, number))
  }

  /// The badge: the number of stored and unread items that are new since the app was last opened.
  var badge: Int {
    get throws {
      let sql = """
        SELECT count(*) FROM badge_items
        WHERE id IN (SELECT id FROM items) AND id NOT IN (SELECT id FROM read_items)
        """
      return try Int.fetchOne(db, sql: sql) ?? 0
    }
  }

  /// Forgets the items that the badge counts, because the app was opened. Items of a copy in progress are counted later.
  func clearCounted() throws { try db.execute(sql: "DELETE FROM badge_items WHERE id IN (SELECT id FROM items)") }

  /// Forgets new items that are not stored any more.
  func forgetRemoved() throws { try db.execute(sql: "DELETE FROM badge_items WHERE id NOT IN (SELECT id FROM items)") }

  /// Returns the last marks, the oldest first.
  func newest() throws -> [UUID] {
    let sql = "SELECT id FROM read_items ORDER BY number DESC LIMIT \(Self.maximumCopied)"
    return try String.fetchAll(db, sql: sql).reversed().compactMap { UUID(uuidString: $0) }
  }

  private func prune() throws {
    try db.execute(
      sql: """
        DELETE FROM read_items WHERE number <= (SELECT max(number) FROM read_items) - \(Self.maximumCopied)
          AND id NOT IN (SELECT id FROM items)
        """)
  }
}
