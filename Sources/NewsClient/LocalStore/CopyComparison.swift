import Foundation
import GRDB
import News

/// The differences between a complete copy in the staging area and the stored items.
///
/// They are determined in small steps before the copy takes the place of the items, so that no step holds the lock of the
/// store for long. Only fetches change items, and fetches run one at a time.
struct CopyComparison: Sendable {
  /// The number of items of a step.
  private static let step = 2000

  let copy: SyncState.Copy
  /// The changes; its lists are limited.
  private(set) var changes = ItemChanges()
  private(set) var inserted = 0
  private(set) var removed = 0
  /// The newest item of the copy.
  private(set) var newest: SyncState.Keyset?
  /// The items whose content has changed.
  private var updatedItems: [SyncState.Keyset] = []

  var updated: Int { updatedItems.count }

  /// Compares a copy with the items of a store.
  ///
  /// - Parameter state: The state of the stored items.
  /// - Throws: `FetchError` with `storage`, `CancellationError`.
  init(_ copy: SyncState.Copy, with state: SyncState, in store: LocalStore) throws {
    self.copy = copy
    var id: String? = ""
    while let last = id {
      try Task.checkCancellation()
      id = try store.write { try compareStaged(after: last, state, $0) }
    }
    id = ""
    while let last = id {
      try Task.checkCancellation()
      id = try store.read { try findRemoved(after: last, $0) }
    }
    try store.read { try list($0) }
  }

  /// Counts the new and the changed items of a step, and records the new ones for the badge, which does not count them
  /// before they are stored.
  ///
  /// - Returns: The last id of the step; nil if there are no more items.
  private mutating func compareStaged(after first: String, _ state: SyncState, _ db: Database) throws -> String? {
    let last = try String.fetchOne(
      db, sql: "SELECT id FROM staged WHERE id > ? ORDER BY id LIMIT 1 OFFSET \(Self.step - 1)", arguments: [first])
    let range = last == nil ? "staged.id > ?" : "staged.id > ? AND staged.id <= ?"
    let arguments = StatementArguments([first] + [last].compactMap { $0 })
    let isNew = "\(range) AND NOT EXISTS (SELECT 1 FROM items WHERE items.id = staged.id)"
    inserted += try Int.fetchOne(db, sql: "SELECT count(*) FROM staged WHERE \(isNew)", arguments: arguments) ?? 0
    let news = news(since: state)
    try db.execute(
      sql: "INSERT OR IGNORE INTO badge_items (id) SELECT id FROM staged WHERE \(isNew) AND \(news.condition)",
      arguments: arguments + news.arguments)
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT staged.id, staged.date, staged.json, items.json FROM staged JOIN items ON items.id = staged.id
        WHERE \(range) AND items.json <> staged.json
        """, arguments: arguments)
    while let row = try rows.next() {
      // An older version of the client may have encoded an equal item otherwise.
      let items = try [row[2] as Data, row[3]].map { try NewsJSON.decode(NewsItem.self, from: $0) }
      if items[0] != items[1] { updatedItems.append(SyncState.Keyset(date: row[1], id: row[0])) }
    }
    return last
  }

  /// The condition of an item that was not stored and is newer than the stored ones; see `ChangeApplier.isNews(_:since:)`.
  private func news(since state: SyncState) -> (condition: String, arguments: StatementArguments) {
    if let token = state.token, token.epoch == copy.token?.epoch { return ("version > ?", [token.version]) }
    return state.newest.map { ("(date, id) > (?, ?)", [$0.date, $0.id]) } ?? ("1", [])
  }

  /// Finds the removed items of a step. An item that is only too old for the window has not been retracted.
  ///
  /// - Returns: The last id of the step; nil if there are no more items.
  private mutating func findRemoved(after first: String, _ db: Database) throws -> String? {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT id, date, EXISTS (SELECT 1 FROM staged WHERE staged.id = items.id) FROM items WHERE id > ?
        ORDER BY id LIMIT \(Self.step)
        """, arguments: [first])
    for row in rows where !(row[2] as Bool) {
      let keyset = SyncState.Keyset(date: row[1], id: row[0])
      if let oldest = copy.oldest, keyset < oldest { continue }
      removed += 1
      if changes.removed.count < ItemChanges.maximumRemoved, let id = UUID(uuidString: keyset.id) {
        changes.removed.append(id)
      }
    }
    return rows.count == Self.step ? rows.last?[0] : nil
  }

  private mutating func list(_ db: Database) throws {
    newest = try Row.fetchOne(db, sql: "SELECT date, id FROM staged ORDER BY date DESC, id DESC LIMIT 1").map {
      SyncState.Keyset(date: $0[0], id: $0[1])
    }
    if inserted > 0 {
      changes.inserted = try Data.fetchAll(
        db,
        sql: """
          SELECT json FROM staged WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.id = staged.id)
          ORDER BY date DESC, id DESC LIMIT \(ItemChanges.maximumItems)
          """
      ).map { try NewsJSON.decode(NewsItem.self, from: $0) }
    }
    let staged = ItemTable(db, .staged)
    changes.updated = try updatedItems.sorted(by: >).prefix(ItemChanges.maximumItems).compactMap {
      try UUID(uuidString: $0.id).flatMap { try staged.item($0) }
    }
    changes.removed.sort { $0.uuidString < $1.uuidString }
    changes.isComplete =
      inserted == changes.inserted.count && updated == changes.updated.count && removed == changes.removed.count
  }
}
