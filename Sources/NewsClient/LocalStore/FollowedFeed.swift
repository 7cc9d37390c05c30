public import Foundation
import News

/// The feed that a client follows: a server, its topics, and how many items are kept.
///
///     let server = URL(string: "https://news.example")!
///     let sport = FollowedFeed(server: server, topics: ["sport"], extent: .window(50))
///     let everything = FollowedFeed(server: server, extent: .full)
///     print(sport.topics, everything.topics.isEmpty)
public struct FollowedFeed: Sendable, Hashable, Codable {
  /// The number of items to keep.
  ///
  ///     switch feed.extent {
  ///     case .window(let count): print("the newest \(count) items")
  ///     case .full: print("all items")
  ///     }
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

  /// Creates a feed.
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
