public import BackgroundFetch
public import Foundation
import GRDB
import HTTPTransfer

extension NewsFetcher {
  /// The stored schedule, in the configured time zone.
  ///
  /// - Throws: `FetchError` with `storage`.
  public var schedule: FetchScheduler {
    get throws { try store.read { try local.scheduler($0) } }
  }

  /// Decides whether a scheduled wake is due under the present conditions; see
  /// `FetchScheduler.decision(at:constraints:)`.
  ///
  /// A wake that is due without a network is recorded, and made up for once the network is back, after a delay of up to
  /// five minutes that differs between installs.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func decision() throws -> FetchDecision {
    let (schedule, now) = (try schedule, clock.now)
    let decision = schedule.decision(at: now)
    // The machine is queried only if its state can change the decision.
    guard case .wake = decision else { return decision }
    let constraints = configuration.constraints.current
    guard constraints.isOffline != schedule.isWaitingForNetwork else {
      return schedule.decision(at: now, constraints: constraints)
    }
    let changed = try store.write { db in
      var scheduler = try local.scheduler(db)
      if constraints.isOffline { scheduler.wakeMissed() } else { scheduler.reconnected(at: now) }
      try store.save(scheduler, db)
      return scheduler
    }
    return changed.decision(at: now, constraints: constraints)
  }

  /// Records that the network has come back, if a wake waits for it and there is one.
  ///
  /// - Returns: Whether a wake was waiting.
  func networkChanged() throws -> Bool {
    guard try schedule.awaitsNetwork, !configuration.constraints.current.isOffline else { return false }
    try store.write { db in
      var scheduler = try local.scheduler(db)
      scheduler.reconnected(at: clock.now)
      try store.save(scheduler, db)
    }
    return true
  }

  /// The waits that servers have demanded of this store by `Retry-After`, the longest first. A wait applies to all requests to
  /// that server, and to no other one.
  public var serverWaits: [ServerWait] {
    let now = clock.now.date
    return local.retryAfterStore.all.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { ServerWait(origin: $0.key, until: now + $0.value) }
  }

  /// Returns the records of the last wakes, newest first.
  ///
  /// - Parameter limit: The maximum number of records. The store keeps 500.
  /// - Throws: `FetchError` with `storage`.
  public func runs(limit: Int = 20) throws -> [RunRecord] {
    try store.read { try RunTable($0).newest(limit) }
  }

  /// Returns the dates at which the app was opened, newest first; see ``recordOpening()``.
  ///
  /// - Parameter limit: The maximum number of dates. The store keeps 5000.
  /// - Throws: `FetchError` with `storage`.
  public func openings(limit: Int = 5000) throws -> [Date] {
    try store.read { try OpeningTable($0).newest(limit) }
  }

  /// Changes the schedule, such as the minimum interval between wakes.
  ///
  /// A folder that follows no feed yet follows that of the configuration from now on. Another feed replaces the
  /// followed one only after a successful fetch. A call of `setInterval(_:)` in it is the counterpart of
  /// `UIApplication.setMinimumBackgroundFetchInterval(_:)`.
  ///
  /// - Throws: `FetchError` with `storage`.
  public func updateSchedule(_ change: (inout FetchScheduler) -> Void) throws {
    let isFollowed = try store.write { db in
      var scheduler = try local.scheduler(db)
      let interval = scheduler.interval
      change(&scheduler)
      try store.save(scheduler, isCopied: true, db)
      if scheduler.interval != interval { try store.settings.update { $0.interval = scheduler.interval } }
      return try store.follow(configuration.feed, db)
    }
    if !isFollowed {
      log(
        "the store still follows the previous server and topics; the new ones apply after their first successful fetch")
    }
  }
}
