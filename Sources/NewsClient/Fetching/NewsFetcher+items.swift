import BackgroundFetch
public import Foundation
import GRDB
import HTTPTransfer
public import News

extension NewsFetcher {
  /// Returns the feed that a folder followed last; nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  public static func feed(in folder: URL) throws -> FollowedFeed? {
    try LocalStore.existing(in: folder, log: { _ in })?.feed
  }

  /// The number of stored items.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var count: Int {
    get throws { try store.read { try ItemTable($0).count() } }
  }

  /// Returns the stored items, newest first.
  ///
  /// - Parameter limit: The maximum number of items; nil for all.
  /// - Throws: `FetchError` with `storage`.
  public func items(limit: Int? = nil) throws -> [NewsItem] {
    try store.read { try ItemTable($0).newest(limit) }
  }

  /// Returns a stored item; nil if there is none with the id.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func item(_ id: UUID) throws -> NewsItem? {
    try store.read { try ItemTable($0).item(id) }
  }

  /// The stored items, newest first. Each access reads the store.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var allNewsItems: [NewsItem] {
    get throws { try items() }
  }

  /// The headlines, badge and time that can be shown without the app.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var snapshot: NewsSnapshot {
    get throws {
      try store.read { db in
        var snapshot =
          try StateTable(db).value(NewsSnapshot.self, .snapshot) ?? NewsSnapshot(items: [], badge: 0, checked: nil)
        // A fetch without new items changes only the time, so the headlines are not stored again.
        snapshot.checked = try StateTable(db).sync?.checked
        return snapshot
      }
    }
  }

  /// The number of items that arrived after the app was last opened. The counterpart of
  /// `UIApplication.applicationIconBadgeNumber`.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var badge: Int {
    get throws { try local.badge }
  }

  /// Records that the user has opened the app: learns the time, clears the badge, and forgets the items that were to
  /// raise notifications.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func recordOpening() throws {
    let now = clock.now
    try store.write { db in
      var scheduler = try local.scheduler(db)
      scheduler.recordOpening(at: now)
      try store.save(scheduler, isCopied: true, db)
      try OpeningTable(db).add(now.date)
      try NotificationJournal(db).forgetItems()
      try ReadMarks(db).clearCounted()
      guard var state = try StateTable(db).sync else { return }
      state.badge = 0
      try local.save(state, db)
    }
  }

  /// The token of the stored items; nil before the first fetch.
  var token: SyncToken? {
    get throws { try local.token }
  }

  /// Returns whether the stored items have reached a token. Tokens of other scopes are compared by version, tokens of
  /// other epochs not at all.
  package func hasReached(_ token: SyncToken?) throws -> Bool { try local.hasReached(token) }
}
