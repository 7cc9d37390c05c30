public import Foundation
import GRDB
import HTTPTransfer
import News

extension NewsFetcher {
  /// Returns the stored items that a query selects, newest first.
  ///
  ///     let unread = try news.items(matching: ItemQuery(words: "high water"))
  ///     print(unread.count)
  ///
  /// - Throws: `FetchError` with `storage`.
  public func items(matching query: ItemQuery) throws -> [StoredItem] {
    try store.read { try ItemTable($0).items(query) }
  }

  /// Returns the number of stored items that a query selects. Its limit does not apply.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func count(matching query: ItemQuery) throws -> Int { try store.read { try ItemTable($0).count(query) } }

  /// Marks items as read or unread.
  ///
  /// An item that was read is not counted by the badge, and raises no notification. The last 5000 marks are also in a file
  /// beside the store, which survives the loss of the store.
  ///
  ///     if let first = try news.items(limit: 1).first { try news.setRead([first.id]) }
  ///
  /// - Parameters:
  ///   - ids: The ids of the items, stored or not.
  ///   - isRead: Whether the user has read them.
  /// - Throws: `FetchError` with `storage`.
  public func setRead(_ ids: [UUID], _ isRead: Bool = true) throws {
    try store.write { db in
      let hasChanged = try ReadMarks(db).set(ids, isRead: isRead)
      if isRead { try NotificationJournal(db).forgetItems(ids) }
      guard hasChanged else { return }
      let badge = try ReadMarks(db).badge
      if var state = try StateTable(db).sync, state.badge != badge {
        state.badge = badge
        try local.save(state, db)
      }
      // The copy precedes the commit, like the settings.
      try store.marks.write(try ReadMarks(db).newest())
    }
  }

  /// Marks all stored items as read, and clears the badge.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func setAllRead() throws {
    try store.write { db in
      let hasChanged = try ReadMarks(db).setAllRead()
      try NotificationJournal(db).forgetItems()
      if var state = try StateTable(db).sync, state.badge != 0 {
        state.badge = 0
        try local.save(state, db)
      }
      if hasChanged { try store.marks.write(try ReadMarks(db).newest()) }
    }
  }

  /// Returns the ids of the stored items that begin or end with the given hexadecimal digits, newest item first.
  ///
  /// - Throws: `FetchError` with `storage`.
  package func ids(abbreviation digits: String) throws -> [UUID] {
    try store.read { try ItemTable($0).ids(abbreviation: digits) }
  }

  /// The number of final digits that distinguish the ids of all stored items; at least 6. Their first digits are those of
  /// the time at which they were created.
  ///
  /// - Throws: `FetchError` with `storage`.
  package var distinctDigits: Int {
    get throws {
      let ids = try store.read { try ItemTable($0).ids() }.map { $0.uuidString.filter { $0 != "-" } }
      return (6..<32).first { digits in Set(ids.map { $0.suffix(digits) }).count == ids.count } ?? 32
    }
  }
}
