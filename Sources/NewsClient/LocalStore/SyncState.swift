public import Foundation
import HTTPTransfer
public import News

/// The synchronization state of the stored items with a server. It is written in the same transaction as the items.
struct SyncState: Sendable, Equatable, Codable {
  /// A position in the order of a list: newest first, by date and then by id.
  struct Place: Sendable, Equatable, Codable, Comparable {
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

    static func < (one: Place, other: Place) -> Bool { (one.date, one.id) < (other.date, other.id) }
  }

  /// The followed source. With another source everything begins anew.
  var source: Source
  /// The token of the stored items; nil before the first fetch.
  var token: SyncToken?
  /// The validators of the first page, for the next request of it.
  var conditions: Exchange.Conditions?
  /// The oldest item of the window; older ones are not stored. It is nil if there are no older ones.
  var floor: Place?
  /// The newest item ever stored, which separates new items from those that a resync brings back.
  var newest: Place?
  /// The continuation of the snapshot in the staging area.
  var continuation: SyncToken?
  /// The number of items that arrived after the app was last opened.
  var badge = 0
  /// The time of the server's last answer.
  var checked: Date?
}

/// The feed that a client follows: a server, its topics, and how many items are kept.
///
///     let server = URL(string: "https://news.example")!
///     let sport = Source(server: server, topics: ["sport"], extent: .window(50))
///     let everything = Source(server: server, extent: .full)
///     print(sport.topics, everything.topics.isEmpty)
public struct Source: Sendable, Hashable, Codable {
  /// The number of items to keep.
  public enum Extent: Sendable, Hashable, Codable {
    /// The given number of newest items, 1...200.
    case window(Int)
    /// All items, however old.
    case full
  }

  /// The address of the API, without `/v1`.
  public var server: URL
  /// The slugs of the topics; empty for the whole feed.
  public var topics: [String]
  /// The number of items to keep.
  public var extent: Extent

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - server: The http or https address of the API, without `/v1`.
  ///   - topics: The slugs, in any order; empty for the whole feed.
  ///   - extent: The number of items to keep; by default the newest 100.
  public init(server: URL, topics: [String] = [], extent: Extent = .window(100)) {
    self.server = server
    self.topics = Scope(topics: topics).topics
    self.extent = extent
  }
}

/// The changes of the stored items by a fetch. An item that the same fetch adds and removes is in none of the lists.
///
///     for await difference in news.changes.values() {
///       print("\(difference.inserted.count) new, \(difference.removed.count) removed")
///     }
public struct Difference: Sendable, Equatable {
  /// The items that were not stored before, newest first.
  public var inserted: [NewsItem] = []
  /// The stored items whose content has changed, newest first.
  public var updated: [NewsItem] = []
  /// The ids of the removed items, without those that only became too old for the window.
  public var removed: [UUID] = []

  /// Creates an empty difference.
  public init() {}

  /// Whether nothing has changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}

extension Difference {
  /// The key of the ``Difference`` in the `userInfo` of a notification.
  public static let userInfoKey = "difference"
}

extension Notification.Name {
  /// The name of the notification that is posted once for each fetch that has changed the stored items, on the thread
  /// of the fetch. The object is the ``NewsFetcher``, and `userInfo` contains a ``Difference``.
  public static let newsItemsDidChange = Notification.Name("NewsItemsDidChange")
}
