public import Foundation
public import News

/// A stored item, and whether the user has read it.
///
///     for stored in try news.items(matching: ItemQuery(limit: 10)) {
///       print(stored.isRead ? " " : "N", stored.item.title ?? stored.item.text)
///     }
public struct StoredItem: Sendable, Hashable, Identifiable {
  /// The item.
  public var item: NewsItem
  /// Whether the user has read the item; see ``NewsFetcher/setRead(_:_:)``.
  public var isRead: Bool

  /// The id of the item.
  public var id: UUID { item.id }
}
