import Foundation
import HTTPTransfer
import News

/// The synchronization state of the stored items with a server. It is written in the same transaction as the items.
struct SyncState: Sendable, Equatable, Codable {
  /// The sort key of an item in a list: newest first, by date and then by id.
  struct Keyset: Sendable, Equatable, Codable, Comparable {
    /// Milliseconds since 1970.
    var date: Int
    /// The id in lower case.
    var id: String

    init(_ item: NewsItem) {
      date = Int((item.date.timeIntervalSince1970 * 1000).rounded())
      id = item.id.uuidString.lowercased()
    }

    init(date: Int, id: String) {
      self.date = date
      self.id = id
    }

    static func < (one: Keyset, other: Keyset) -> Bool { (one.date, one.id) < (other.date, other.id) }
  }

  /// A full copy of a feed, which may take several fetches. It is not shown before it is complete.
  struct Copy: Sendable, Equatable, Codable {
    /// The token of the last page; nil if the server has sent none.
    var token: SyncToken?
    /// Whether all pages have been received.
    var isComplete: Bool
    /// The number of items received.
    var items: Int
    /// The validators of the newest page, if the copy consists of it.
    var conditions: HTTPRequester.Conditions?
    /// The oldest item of the copy, if it has been fetched as pages of items and there are older ones; otherwise nil.
    var oldest: Keyset?
    /// The position of the next page of items; nil if there is none, or if the copy is fetched as changes.
    var cursor: String?
  }

  /// The followed feed. Another feed begins with an empty state.
  var feed: FollowedFeed
  /// The token of the stored items; nil before the first fetch.
  var token: SyncToken?
  /// The validators of the first page, for the next request of it.
  var conditions: HTTPRequester.Conditions?
  /// The oldest item of the window; older ones are not stored. It is nil if there are no older ones.
  var oldest: Keyset?
  /// The newest item ever stored, which separates new items from those that a resync brings back.
  var newest: Keyset?
  /// The full copy in the staging area; nil if there is none.
  var copy: Copy?
  /// The number of items that arrived after the app was last opened.
  var badge = 0
  /// The time of the server's last response.
  var checked: Date?

  /// Creates the state of a feed without stored items.
  init(feed: FollowedFeed) { self.feed = feed }

  /// The stored names of the properties.
  private enum CodingKeys: String, CodingKey {
    case feed = "source"
    case oldest = "floor"
    case token, conditions, newest, copy, badge, checked
  }
}
