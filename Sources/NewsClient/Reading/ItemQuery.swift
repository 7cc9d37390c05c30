public import Foundation

/// A selection of stored items.
///
///     var query = ItemQuery(words: "ferry")
///     query.topics = ["harbour"]
///     query.onlyUnread = true
///     for stored in try news.items(matching: query) { print(stored.item.title ?? stored.item.text) }
public struct ItemQuery: Sendable, Hashable {
  /// The words to search for in title, summary, text and author; nil for no search.
  ///
  /// An item matches if it has a word with each of the given beginnings. Case and diacritics do not matter. Text without a
  /// letter or a digit matches nothing.
  public var words: String?
  /// The slugs of topics, of which an item must have one; empty for all items.
  public var topics: [String] = []
  /// Whether only items are selected that the user has not read.
  public var onlyUnread = false
  /// Whether only breaking items are selected.
  public var onlyBreaking = false
  /// The date of the oldest items; nil for all.
  public var since: Date?
  /// The maximum number of items; nil for all.
  public var limit: Int?

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - words: The words to search for; nil for no search.
  ///   - limit: The maximum number of items; nil for all.
  public init(words: String? = nil, limit: Int? = nil) {
    (self.words, self.limit) = (words, limit)
  }
}
