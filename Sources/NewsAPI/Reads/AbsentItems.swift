package import Foundation
package import NewsStore
import Synchronization

/// The items that were found to be absent: never published (404), or no longer (410). So repeated requests for them need
/// no query.
///
/// An absence is kept until the item changes, and at most as long as a cache may keep its response. An erasure changes
/// the reason in a 410 without a new version.
package final class AbsentItems: Sendable {
  private struct Absence {
    let error: StoreError
    /// The state that the database had at least when it was read.
    let feedVersion: FeedVersion
    let end: ContinuousClock.Instant
  }

  /// The maximum number of items. Clients can make up any number of ids.
  private static let maximumCount = 1000
  private static let lifetime: Duration = .seconds(1)

  private let absences = Mutex(BudgetedCache<UUID, Absence>(budget: maximumCount))
  private let now: @Sendable () -> ContinuousClock.Instant

  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.now = now
  }

  /// Returns the error of an item that is absent in a state; nil if that is unknown.
  package func error(of id: UUID, in snapshot: FeedSnapshot) -> StoreError? {
    let now = now()
    return absences.withLock { absences in
      absences.use(id) { absence in
        now < absence.end && snapshot.isCurrent(.item(id), since: absence.feedVersion) ? absence.error : nil
      }
    }
  }

  /// Records the error of an item.
  ///
  /// - Parameter snapshot: A state from before the read.
  package func insert(_ error: StoreError, of id: UUID, after snapshot: FeedSnapshot) {
    let absence = Absence(error: error, feedVersion: snapshot.feedVersion, end: now() + Self.lifetime)
    absences.withLock { $0.insert(absence, for: id, cost: 1) }
  }
}
