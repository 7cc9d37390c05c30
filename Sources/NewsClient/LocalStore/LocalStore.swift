import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import Synchronization

/// The client's cache in one SQLite file: items, synchronization state, badge, schedule, snapshot and a record of each
/// wake.
///
/// Related values are written in one transaction, so that a crash leaves either the old or the new state. The
/// ``SettingsFile`` has the user's choices.
final class LocalStore: Sendable {
  /// The identifier of this object among those of all processes that share the file.
  let origin = UUID().uuidString
  /// The settings, which survive the loss of the database.
  let settings: SettingsFile
  /// Copies of the learned habits and of the read marks, which survive it too. Writers hold the store's write lock.
  let habits: DurableFile
  let marks: DurableFile
  /// The schedule that was decoded last, and its JSON.
  let lastSchedule = Mutex<(json: Data, scheduler: FetchScheduler)?>(nil)
  let log: @Sendable (String) -> Void
  private let database: SharedDatabase
  /// Whether an unreadable schedule has been logged.
  private let hasReported = Mutex(false)

  /// Opens the store of a folder, and creates what is missing. A damaged store is renamed. A store that cannot be
  /// written is opened for reading.
  ///
  /// - Throws: `FetchError` with `storage` if the folder cannot be created, or the store cannot even be read.
  init(folder: URL, log: @escaping @Sendable (String) -> Void) throws {
    settings = SettingsFile(folder: folder, log: log)
    habits = DurableFile(url: folder.appending(path: "habits.json", directoryHint: .notDirectory))
    marks = DurableFile(url: folder.appending(path: "read.json", directoryHint: .notDirectory))
    self.log = log
    var properties = SharedDatabase.Properties(
      name: "the store", loss: "all items are fetched again", table: "state", migrator: Self.migrator(marks, log))
    properties.logsPath = true
    database = try SharedDatabase(Self.file(in: folder), properties, log: log)
  }

  /// Opens the store of a folder; nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  static func existing(in folder: URL, log: @escaping @Sendable (String) -> Void) throws -> LocalStore? {
    let path = folder.path(percentEncoded: false)
    if folder.exists, !FileManager.default.isReadableFile(atPath: path) {
      throw FetchError(.storage, "cannot read the store \(path): permission denied")
    }
    guard file(in: folder).exists || SettingsFile(folder: folder).exists else { return nil }
    return try LocalStore(folder: folder, log: log)
  }

  /// The feed that was followed last; nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  var feed: FollowedFeed? {
    get throws { try read { try StateTable($0).sync?.feed } ?? settings.contents.feed }
  }

  /// The database file.
  var file: URL { database.file }

  /// Returns the database file in a folder.
  private static func file(in folder: URL) -> URL {
    folder.appending(path: "news.sqlite", directoryHint: .notDirectory)
  }

  /// Reads in one snapshot.
  ///
  /// - Throws: `FetchError` with `storage`, and the errors of the body.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try database.read(body) }

  /// Writes in one transaction, which is rolled back if the body throws.
  ///
  /// - Throws: `FetchError` with `storage`, and the errors of the body.
  func write<Value>(_ body: (Database) throws -> Value) throws -> Value { try database.write(body) }

  /// Creates the store again if it was deleted meanwhile, of which only the settings remain. If another process has done so,
  /// its store is opened.
  func restore() {
    if database.restore() {
      log("the store \(file.path(percentEncoded: false)) was deleted; all items are fetched again")
    }
  }

  /// Logs once which values replace an unreadable schedule.
  func report(_ interval: FetchInterval?, hasCopy: Bool) {
    guard
      hasReported.withLock({ has in
        defer { has = true }
        return !has
      })
    else { return }
    let state = interval.map { "the interval stays \($0)" } ?? "background fetch is off until an interval is set"
    let habits = hasCopy ? "habits are those of their last copy" : "habits are learned again"
    log("the schedule in \(file.path(percentEncoded: false)) cannot be read: \(state), and \(habits)")
  }

  private static func migrator(
    _ marks: DurableFile, _ log: @escaping @Sendable (String) -> Void
  ) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("items") { db in
      try db.execute(
        sql: """
          CREATE TABLE items (
            id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
          );
          CREATE INDEX items_newest_first ON items (date DESC, id DESC);
          -- The pages of a snapshot in progress, which are not shown before it is complete.
          CREATE TABLE staged (
            id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
          );
          -- Single values: the synchronization state, the schedule, the snapshot for the lock screen.
          CREATE TABLE state (name TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
          CREATE TABLE runs (number INTEGER PRIMARY KEY AUTOINCREMENT, json BLOB NOT NULL);
          """)
    }
    migrator.registerMigration("notifications") { try NotificationJournal.addTables($0) }
    migrator.registerMigration("reading") { db in
      // The marks of a store that was lost.
      try ReadMarks.addTables(db, copy: marks.repaired([UUID].self, "the read marks", log) ?? [])
      try ReadMarks(db).countNewest(try StateTable(db).sync?.badge ?? 0)
      try SearchIndex.addTables(db)
    }
    migrator.registerMigration("changes") { db in
      try ChangeTable.addTable(db)
      try OpeningTable.addTable(db)
    }
    migrator.registerMigration("staging") { db in
      try StagingArea.addTables(db)
      try ChangeTable.addCompleteness(db)
    }
    migrator.registerMigration("activations") { try NotificationJournal.addActivations($0) }
    migrator.registerMigration("requests") { try NotificationJournal.addRequests($0) }
    return migrator
  }
}
