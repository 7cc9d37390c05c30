package import Foundation
package import NewsStore
import Synchronization

/// The ids that were found to be unknown (404), so that repeated requests for them need no query. Each is remembered
/// until an item with this id is published.
///
/// A retracted item (410) is not remembered: an erasure replaces its reason at once, without a version.
package final class UnknownItems: Sendable {
  /// The maximum number of ids. Clients can make up any number of them.
  private static let maximumCount = 1000

  /// The ids, each with the state that the database had at least when it was looked up.
  private let versions = Mutex(BudgetedCache<UUID, FeedVersion>(budget: maximumCount))

  package init() {}

  /// Whether an id is known to be unknown in a state.
  package func contains(_ id: UUID, in snapshot: FeedSnapshot) -> Bool {
    versions.withLock { versions in
      versions.use(id) { snapshot.isCurrent(.item(id), since: $0) ? true : nil } ?? false
    }
  }

  /// Adds an id.
  ///
  /// - Parameter snapshot: A state from before the look-up.
  package func insert(_ id: UUID, after snapshot: FeedSnapshot) {
    versions.withLock { $0.insert(snapshot.feedVersion, for: id, cost: 1) }
  }
}
