import Foundation
import GRDB

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
    try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM read_items WHERE id = ?)", arguments: [key(id)]) ?? false
  }

  /// The changes of the marks.
  struct Outcome {
    /// Whether any mark has changed.
    var hasChanged = false
    /// The number of changed items that are new since the app was last opened.
    var counted = 0
  }

  /// Marks items as read or unread.
  func set(_ ids: some Sequence<UUID>, isRead: Bool) throws -> Outcome {
    let sql = isRead ? "INSERT OR IGNORE INTO read_items (id) VALUES (?)" : "DELETE FROM read_items WHERE id = ?"
    var outcome = Outcome()
    for id in ids {
      try db.execute(sql: sql, arguments: [key(id)])
      guard db.changesCount == 1 else { continue }
      outcome.hasChanged = true
      let isCounted = try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM badge_items WHERE id = ?)", arguments: [key(id)])
      if isCounted == true { outcome.counted += 1 }
    }
    try prune()
    return outcome
  }

  /// Records the new items that the badge counts.
  func count(_ ids: some Sequence<UUID>) throws {
    for id in ids { try db.execute(sql: "INSERT OR IGNORE INTO badge_items (id) VALUES (?)", arguments: [key(id)]) }
  }

  /// Forgets the items that the badge counts, because the app was opened.
  func clearCounted() throws { try db.execute(sql: "DELETE FROM badge_items") }

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

  private func key(_ id: UUID) -> String { id.uuidString.lowercased() }
}
