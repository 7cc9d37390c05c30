import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import Synchronization

/// Access to the values that depend on the settings.
extension LocalStore {
  /// The age at which the copy of the schedule is renewed, in seconds.
  private static let maximumCopyAge = 86_400.0

  /// Returns the schedule with the interval of the settings. If the store has lost the schedule, its copy is returned.
  func scheduler(_ db: Database) throws -> FetchScheduler {
    let json = try StateTable(db).json(.schedule)
    let interval = (try? settings.contents)?.interval
    var scheduler = FetchScheduler()
    if let stored = json.flatMap(decodedSchedule) {
      scheduler = stored
    } else {
      let copy = try habits.readIntact(FetchScheduler.self)
      scheduler = copy ?? scheduler
      if json != nil { report(interval ?? copy?.interval, hasCopy: copy != nil) }
    }
    if let interval, interval != scheduler.interval { scheduler.setInterval(interval) }
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
  /// - Parameter isCopied: Whether the copy, of about 9 KB, must succeed too; otherwise it is written once a day.
  func save(_ scheduler: FetchScheduler, isCopied: Bool = false, _ db: Database) throws {
    try StateTable(db).save(scheduler, .schedule)
    let age = habits.modificationDate.map { abs(Date().timeIntervalSince($0)) } ?? .infinity
    guard isCopied || age > Self.maximumCopyAge else { return }
    // A damaged copy is replaced in any case.
    _ = try? habits.repaired(FetchScheduler.self, "the learned habits", log)
    // The fetch has succeeded even without the copy.
    do { try habits.write(scheduler) } catch  where !isCopied {}
  }

  /// Stores the synchronization state after a response of the server. Its feed is followed from now on.
  func save(_ state: SyncState, _ db: Database) throws {
    let followed = try StateTable(db).sync?.feed
    let isMissing = (try? settings.contents).map { $0.feed == nil } ?? false
    if followed != state.feed || isMissing {
      // The settings precede the commit. If the process ends between them, the new feed is fetched into an empty store.
      try settings.update { settings in
        // Another feed that the user has chosen remains.
        if settings.feed == nil || settings.feed == followed { settings.feed = state.feed }
      }
    }
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
}
