public import Foundation

/// A change of an item that was published, as the outbox has it.
public struct OutboxEvent: Sendable, Equatable {
  /// The type of a change.
  public enum Kind: String, Sendable, CaseIterable {
    /// The item has appeared in the feed.
    case published
    /// The item was in the feed and has changed.
    case changed
    /// The item was retracted, or withdrawn to an unpublished state.
    case retracted
    /// The item has expired.
    case expired
    /// An alert is requested for a published item, which has not changed.
    case alert
  }

  /// The item.
  public let item: UUID
  /// The version of the change.
  public let version: Int
  /// The type of the change.
  public let kind: Kind
  /// The time of the publication.
  public let at: Date
  /// The topics in which the item has changed, including those that it has left with this change or a later one; sorted.
  public let topics: [String]

  /// Creates an event.
  public init(item: UUID, version: Int, kind: Kind, at: Date, topics: [String]) {
    self.item = item
    self.version = version
    self.kind = kind
    self.at = at
    self.topics = topics
  }
}
