import BackgroundFetch
import Foundation
import GRDB
import Synchronization

/// Access to the values that are also in the settings.
extension LocalStore {
  /// Returns the schedule. If the store has lost it, the copy in the settings is returned, with the interval that the
  /// user has set.
  func scheduler(_ db: Database) throws -> FetchScheduler {
    let json = try StateTable(db).json(.schedule)
    if let json, let stored = decodedSchedule(json) { return stored }
    let copy = try settings.schedule
    var scheduler = copy ?? FetchScheduler()
    let interval = try settings.contents.interval ?? json.flatMap(Self.interval)
    if let interval, interval != scheduler.interval { scheduler.setInterval(interval) }
    if json != nil { report(interval, hasCopy: copy != nil) }
    return scheduler
  }

  /// Returns the schedule in stored JSON; nil for a form that this build does not know. The same JSON is decoded once.
  private func decodedSchedule(_ json: Data) -> FetchScheduler? {
    if let last = lastSchedule.withLock(\.self), last.json == json { return last.scheduler }
    guard let scheduler = try? JSONDecoder().decode(FetchScheduler.self, from: json) else { return nil }
    lastSchedule.withLock { $0 = (json, scheduler) }
    return scheduler
  }

  /// Stores the schedule.
  ///
  /// - Parameter isUserChoice: Whether the user has changed it. The copy must then succeed; otherwise it is written once
  ///   a day.
  func save(_ scheduler: FetchScheduler, isUserChoice: Bool = false, _ db: Database) throws {
    try StateTable(db).save(scheduler, .schedule)
    if isUserChoice {
      let feed = try StateTable(db).sync?.feed
      try settings.update { settings in
        settings.interval = scheduler.interval
        // Damaged settings are written again.
        settings.feed = settings.feed ?? feed
      }
      try settings.save(scheduler)
    } else if settings.isScheduleOld {
      // The fetch has succeeded even without the copy.
      try? settings.save(scheduler)
    }
  }

  /// Stores the synchronization state after a response of the server. Its feed is followed from now on.
  func save(_ state: SyncState, _ db: Database) throws {
    // The settings precede the commit. If the process ends between them, the new feed is fetched into an empty store.
    if try StateTable(db).sync?.feed != state.feed { try settings.update { $0.feed = state.feed } }
    try StateTable(db).save(state)
  }

  /// Follows a feed if the store follows none yet.
  ///
  /// - Returns: Whether the feed is the followed one.
  func follow(_ feed: FollowedFeed, _ db: Database) throws -> Bool {
    if let followed = try StateTable(db).sync?.feed ?? settings.contents.feed { return followed == feed }
    try settings.update { $0.feed = feed }
    return true
  }

  /// Writes the settings of a store that has none yet, or has lost them.
  func copySettings() {
    _ = try? write { db in
      guard let state = try StateTable(db).sync else { return }
      let scheduler = try scheduler(db)
      try settings.save(scheduler)
      try settings.update { ($0.feed, $0.interval) = (state.feed, scheduler.interval) }
    }
  }

  /// Returns the interval of a schedule that is otherwise unreadable.
  private static func interval(_ json: Data) -> FetchInterval? {
    struct Interval: Decodable {
      var interval: FetchInterval
    }
    return try? JSONDecoder().decode(Interval.self, from: json).interval
  }
}
