public import BackgroundFetch
import GRDB

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
  /// - Throws: `FetchError` with `storage`.
  public func decision() throws -> FetchDecision {
    let (schedule, now) = (try schedule, clock.now)
    let decision = schedule.decision(at: now)
    // The machine is queried only if its state can change the decision.
    guard case .wake = decision else { return decision }
    return schedule.decision(at: now, constraints: configuration.constraints.current)
  }

  /// Returns the records of the last wakes, newest first.
  ///
  /// - Parameter limit: The maximum number of records. The store keeps 500.
  /// - Throws: `FetchError` with `storage`.
  public func runs(limit: Int = 20) throws -> [RunRecord] {
    try store.read { try RunTable($0).newest(limit) }
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
      change(&scheduler)
      try store.save(scheduler, isUserChoice: true, db)
      return try store.follow(configuration.feed, db)
    }
    if !isFollowed {
      log(
        "the store still follows the previous server and topics; the new ones apply after their first successful fetch")
    }
  }
}
