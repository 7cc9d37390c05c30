public import Foundation
public import News

/// A request for a document of a feed for feed readers.
public struct FeedQuery: Sendable, Hashable {
  /// The part of a feed that a document has.
  public enum Part: Sendable, Hashable {
    /// The items with the latest changes, at least this many if there are as many, and all that no archive has.
    case current(Int)
    /// The items of an archive, from 1.
    case archive(Int)
    /// The changes after a token.
    case changes(since: SyncToken)
  }

  /// The feed, or one topic.
  public var scope: Scope
  /// The part of the feed.
  public var part: Part

  /// Creates a query.
  public init(scope: Scope, part: Part) {
    self.scope = scope
    self.part = part
  }
}

/// A document of a feed. It has no contents, which `NewsStore.fragments` returns.
public struct FeedPage: Sendable {
  /// An item that has left the scope.
  public struct Removal: Sendable, Hashable {
    /// The id of the item.
    public let id: UUID
    /// The time of the removal.
    public let date: Date
  }

  /// The number of items for which an archive is made (RFC 5005 section 4). The items of an archive have consecutive
  /// numbers of their first publication in the scope. An archive lacks those that are no longer published.
  public static let archiveSize = 100
  /// The maximum number of changes in a document.
  static let maximumChanges = 500

  /// The items, newest first.
  public let items: [ItemVersion]
  /// The removals; empty unless changes were requested.
  public let removals: [Removal]
  /// The number of archives of the scope.
  public let archives: Int
  /// Whether the items are all changes that were requested. If not, there are too many for a document.
  public let isComplete: Bool
  /// The current token of the scope, from the same snapshot as the items.
  public let token: SyncToken
  /// The time of the last change of the document.
  public let modified: Date
  /// The time of the read.
  public let read: DatabaseInstant
  /// The epoch and version of the database snapshot.
  public let feedVersion: FeedVersion

  /// - Parameters:
  ///   - items: The items in any order.
  ///   - scope: The state of the scope in the same snapshot.
  init(items: [ItemVersion], removals: [Removal] = [], isComplete: Bool = true, archives: Int, in scope: ScopeSnapshot)
  {
    self.items = items.sorted { $0.position < $1.position }
    self.removals = removals
    self.isComplete = isComplete
    self.archives = archives
    token = scope.token
    modified = items.lazy.map(\.updatedDate).max().map { max($0, scope.shiftedAt) } ?? scope.shiftedAt
    read = scope.read
    feedVersion = scope.feedVersion
  }
}
