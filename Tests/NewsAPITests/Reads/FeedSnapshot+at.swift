import Foundation
import NewsStore

extension FeedSnapshot {
  /// Returns the state of a feed without topics at a version.
  ///
  /// - Parameter changed: The items that were changed recently, each with the version of its last change.
  static func at(_ version: Int, epoch: String = "aaaaaa", changed: [(UUID, Int)] = []) -> FeedSnapshot {
    var recent = RecentChanges(after: 0)
    recent.add(changed.map { .init(item: $0.0, version: $0.1) })
    return FeedSnapshot(
      feedVersion: FeedVersion(epoch: epoch, version: version),
      scopes: ["": ScopeState(version: version, floor: 0, shiftedAt: .distantPast)], reach: [epoch: .max],
      recent: recent)
  }
}
