import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import News

/// The stored state of a followed feed: token, badge, schedule and snapshot.
struct LocalFeed: Sendable {
  let feed: FollowedFeed
  let store: LocalStore
  /// The time zone of the user, in which habits are learned.
  let timeZone: TimeZone
  let clock: any FetchClock
  /// The waits that servers demand by `Retry-After`, for fetches and transfers.
  let retryAfterStore: RetryAfterStore
  /// The minimum interval between wakes; nil for the stored one.
  var interval: FetchInterval?

  /// The token of the stored items; nil before the first fetch.
  var token: SyncToken? {
    get throws { try store.read { try StateTable($0).sync(feed).token } }
  }

  /// The number of items that arrived after the app was last opened.
  var badge: Int {
    get throws { try store.read { try StateTable($0).sync?.badge ?? 0 } }
  }

  /// Returns whether the stored items have reached a token. Tokens of other scopes are compared by version, tokens of
  /// other epochs not at all.
  func hasReached(_ token: SyncToken?) throws -> Bool {
    guard let token else { return false }
    return try self.token.map { $0.epoch == token.epoch && $0.version >= token.version } ?? false
  }

  /// Returns the stored schedule in the time zone of the user, with the wait that the server demands.
  func scheduler(_ db: Database) throws -> FetchScheduler {
    var scheduler = try store.scheduler(db)
    scheduler.timeZone = timeZone
    if let interval, interval != scheduler.interval { scheduler.setInterval(interval) }
    // A wait applies to the requests of one origin. The schedule of the store may have served another one before.
    scheduler.setHold(seconds: retryAfterStore.remaining(for: feed.server), at: clock.now)
    return scheduler
  }

  /// The seconds for which the server accepts no requests.
  var remainingWait: Double { retryAfterStore.remaining(for: feed.server) }

  /// Returns the pushes that the store has received.
  func pushHistory(_ db: Database) throws -> PushHistory {
    try StateTable(db).value(PushHistory.self, .pushes) ?? PushHistory()
  }

  /// Stores the pushes that the store has received.
  func save(_ history: PushHistory, _ db: Database) throws { try StateTable(db).save(history, .pushes) }

  /// Stores the synchronization state, and updates the snapshot if it has changed.
  ///
  /// - Parameter previous: The state before; nil to update the snapshot always. The items must be unchanged if both
  ///   tokens are equal.
  func save(_ state: SyncState, since previous: SyncState? = nil, _ db: Database) throws {
    try store.save(state, db)
    if let previous, previous.token == state.token, previous.badge == state.badge { return }
    let items = try ItemTable(db).newest(NewsSnapshot.maximumHeadlines)
    try StateTable(db).save(NewsSnapshot(items: items, badge: state.badge, checked: state.checked), .snapshot)
  }
}
