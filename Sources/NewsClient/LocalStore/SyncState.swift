public import Foundation
public import News

/// How far the stored items follow which server; stored in the transaction that stores the items.
struct SyncState: Sendable, Equatable, Codable {
  /// A place in the order of a list: newest first, by date and then by id.
  struct Place: Sendable, Equatable, Codable, Comparable {
    /// Milliseconds since 1970.
    var date: Int
    /// In lower case.
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

  /// What is followed; with another source everything begins anew.
  var source: Source
  /// What the items are equal to; nil where there are none yet.
  var token: SyncToken?
  /// The fields of the first page, to ask for it again.
  var conditions: Exchange.Conditions?
  /// The oldest item of the window; older ones are not followed. nil where there are no older ones.
  var floor: Place?
  /// The newest item ever stored, by which what is new is told from what a resync brings back.
  var newest: Place?
  /// How far the snapshot in the staging area has come.
  var continuation: SyncToken?
  /// Items that came since the app was last opened.
  var badge = 0
  /// When the server last answered.
  var checked: Date?
}

/// What is followed: topics of a server, and how much of them.
public struct Source: Sendable, Hashable, Codable {
  /// How much is kept.
  public enum Extent: Sendable, Hashable, Codable {
    /// The newest items, so many: 1...200.
    case window(Int)
    /// Everything, with its history.
    case full
  }

  /// Where the API is, without `/v1`.
  public var server: URL
  /// Slugs; none for the whole feed.
  public var topics: [String]
  /// How much is kept.
  public var extent: Extent

  /// A source.
  ///
  /// - Parameters:
  ///   - server: http or https, where the API is, without `/v1`.
  ///   - topics: Slugs, in any order; none for the whole feed.
  ///   - extent: How much is kept; the newest hundred if nothing is said.
  public init(server: URL, topics: [String] = [], extent: Extent = .window(100)) {
    self.server = server
    self.topics = Scope(topics: topics).topics
    self.extent = extent
  }
}

/// What a fetch has done to the stored items; an item that came and went in it is in none of these.
public struct Difference: Sendable, Equatable {
  /// Items that were not stored before.
  public var inserted: [NewsItem] = []
  /// Items that were stored otherwise.
  public var updated: [NewsItem] = []
  /// Items that are stored no more; not those that only became too old for the window.
  public var removed: [UUID] = []

  /// No difference.
  public init() {}

  /// Whether nothing has changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }
}

extension Difference {
  /// Where a ``Difference`` is in the `userInfo` of a notification.
  public static let userInfoKey = "difference"
}

extension Notification.Name {
  /// A fetch has changed what is stored. The object is the ``NewsFetcher``, and `userInfo` has a ``Difference``. It is
  /// posted once for each such fetch, on the thread of the fetch.
  public static let newsItemsDidChange = Notification.Name("NewsItemsDidChange")
}
