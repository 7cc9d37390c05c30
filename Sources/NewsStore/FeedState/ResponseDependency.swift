public import Foundation
public import News

/// The data that a response depends on.
public enum ResponseDependency: Sendable, Hashable {
  /// All published items.
  case feed
  case scope(Scope)
  /// The changes in a scope after a version, which may be purged.
  case changes(Scope, since: Int)
  case item(UUID)
  /// The titles, positions and counts of all topics.
  case topics
}
