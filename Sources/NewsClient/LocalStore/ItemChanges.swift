public import Foundation
public import News

/// The changes of the stored items by a fetch. An item that the same fetch adds and removes is in none of the lists.
///
///     for await changes in news.changes.values() {
///       print("\(changes.inserted.count) new, \(changes.removed.count) removed")
///     }
public struct ItemChanges: Sendable, Equatable {
  /// The items that were not stored before, newest first.
  public var inserted: [NewsItem] = []
  /// The stored items whose content has changed, newest first.
  public var updated: [NewsItem] = []
  /// The ids of the removed items, without those that only became too old for the window.
  public var removed: [UUID] = []
  /// Whether the lists have all changes. A full copy may change more than ``maximumItems`` items; the lists then have the
  /// newest of them, and the app reads the store again.
  public var isComplete = true

  /// The maximum number of items in a list of a full copy.
  public static let maximumItems = 1000
  /// The maximum number of removed items in the list of a full copy.
  static let maximumRemoved = 5000

  /// Creates an empty set of changes.
  public init() {}

  /// Whether nothing has changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}

extension ItemChanges {
  /// The key of the ``ItemChanges`` in the `userInfo` of a notification.
  public static let userInfoKey = "itemChanges"
}

extension Notification.Name {
  /// The name of the notification that is posted once for each fetch that has changed the stored items, on the thread
  /// of the fetch. The object is the ``NewsFetcher``, and `userInfo` contains a ``ItemChanges``.
  public static let newsItemsDidChange = Notification.Name("NewsItemsDidChange")
}
