import BackgroundFetch
import Foundation
import GRDB

/// The values that the settings have a copy of.
extension LocalStore {
  /// The schedule. Where the store has lost it, it is the copy of the settings, with the interval that the user has set.
  func scheduler(_ db: Database) throws -> FetchScheduler {
    let table = StateTable(db)
    if let stored = try table.value(FetchScheduler.self, .schedule) { return stored }
    let damaged = try table.json(.schedule)
    let copy = settings.schedule
    var scheduler = copy ?? FetchScheduler()
    let interval = settings.contents.interval ?? damaged.flatMap(Self.interval)
    if let interval, interval != scheduler.interval { scheduler.setInterval(interval) }
    if damaged != nil { report(interval, hasCopy: copy != nil) }
    return scheduler
  }

  /// Stores the schedule.
  ///
  /// - Parameter isChosen: Whether the user has changed it: the copy must succeed then. Else it is made once a day.
  func save(_ scheduler: FetchScheduler, isChosen: Bool = false, _ db: Database) throws {
    try StateTable(db).save(scheduler, .schedule)
    if isChosen {
      let source = try StateTable(db).sync?.source
      try settings.update { settings in
        settings.interval = scheduler.interval
        // Settings that were damaged are made again.
        settings.source = settings.source ?? source
      }
      try settings.save(scheduler)
    } else if settings.isScheduleOld {
      // The fetch has succeeded without it.
      try? settings.save(scheduler)
    }
  }

  /// Stores how far the items follow a server that has answered: from now on its source is followed.
  func save(_ state: SyncState, _ db: Database) throws {
    // Before the commit: should the process end between them, the new source is followed, from nothing.
    if try StateTable(db).sync?.source != state.source { try settings.update { $0.source = state.source } }
    try StateTable(db).save(state)
  }

  /// Notes what is to be followed where nothing has been so far.
  ///
  /// - Returns: Whether it is what is followed.
  func follow(_ source: Source, _ db: Database) throws -> Bool {
    if let followed = try StateTable(db).sync?.source ?? settings.contents.source { return followed == source }
    try settings.update { $0.source = source }
    return true
  }

  /// Writes the settings of a store that has none yet.
  func copySettings() {
    _ = try? write { db in
      guard let state = try StateTable(db).sync else { return }
      let scheduler = try scheduler(db)
      try settings.save(scheduler)
      try settings.update { ($0.source, $0.interval) = (state.source, scheduler.interval) }
    }
  }

  /// The interval of a schedule of which nothing else can be read.
  private static func interval(_ json: Data) -> FetchInterval? {
    struct Interval: Decodable {
      var interval: FetchInterval
    }
    return try? JSONDecoder().decode(Interval.self, from: json).interval
  }
}
