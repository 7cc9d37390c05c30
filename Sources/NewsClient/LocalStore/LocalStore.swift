import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The client's cache in one SQLite file: items, synchronization state, badge, schedule, snapshot and a record of each
/// wake.
///
/// Related values are written in one transaction, so that a crash leaves either the old or the new state. The
/// ``SettingsFile`` has the user's choices.
final class LocalStore: Sendable {
  /// An open database.
  private struct Connection {
    var queue: DatabaseQueue
    /// The reason why the database cannot be written; nil if it can.
    var obstacle: FetchError?
    /// The open file, to notice that its name belongs to another one.
    var identity: FileIdentity?

    init(_ queue: DatabaseQueue, of file: URL, obstacle: FetchError? = nil) {
      (self.queue, self.obstacle) = (queue, obstacle)
      identity = FileIdentity(file)
    }
  }

  /// The file behind a name (stat(2)).
  private struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// Returns nil if there is no such file.
    init?(_ file: URL) {
      var information = stat()
      guard stat(file.path(percentEncoded: false), &information) == 0 else { return nil }
      (device, number) = (UInt64(truncatingIfNeeded: information.st_dev), UInt64(information.st_ino))
    }
  }

  /// The database file.
  let file: URL
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
  private let connection: Mutex<Connection>
  /// Whether an unreadable schedule has been logged.
  private let hasReported = Mutex(false)

  /// Opens the store of a folder, and creates what is missing. A damaged store is renamed. A store that cannot be
  /// written is opened for reading.
  ///
  /// - Throws: `FetchError` with `storage` if the folder cannot be created, or the store cannot even be read.
  init(folder: URL, now: Date, log: @escaping @Sendable (String) -> Void) throws {
    file = Self.file(in: folder)
    settings = SettingsFile(folder: folder, log: log)
    habits = DurableFile(url: folder.appending(path: "habits.json", directoryHint: .notDirectory))
    marks = DurableFile(url: folder.appending(path: "read.json", directoryHint: .notDirectory))
    self.log = log
    connection = Mutex(try Self.open(file, marks, now: now, log: log))
  }

  /// Opens the store of a folder; nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  static func existing(
    in folder: URL, now: Date, log: @escaping @Sendable (String) -> Void
  ) throws -> LocalStore? {
    let path = folder.path(percentEncoded: false)
    if folder.exists, !FileManager.default.isReadableFile(atPath: path) {
      throw FetchError(.storage, "cannot read the store \(path): permission denied")
    }
    guard file(in: folder).exists || SettingsFile(folder: folder).exists else { return nil }
    return try LocalStore(folder: folder, now: now, log: log)
  }

  /// The feed that was followed last; nil if there is none.
  ///
  /// - Throws: `FetchError` with `storage`.
  var feed: FollowedFeed? {
    get throws { try read { try StateTable($0).sync?.feed } ?? settings.contents.feed }
  }

  /// Returns the database file in a folder.
  private static func file(in folder: URL) -> URL {
    folder.appending(path: "news.sqlite", directoryHint: .notDirectory)
  }

  /// Reads in one snapshot.
  ///
  /// - Throws: `FetchError` with `storage`, and the errors of the body.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try withQueue(connection.withLock(\.queue)) { try $0.read(body) }
  }

  /// Writes in one transaction, which is rolled back if the body throws.
  ///
  /// - Throws: `FetchError` with `storage`, and the errors of the body.
  func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let queue = try connection.withLock { connection in
      if let obstacle = connection.obstacle {
        // The disk may have space again.
        guard let queue = try? DatabaseQueue.open(file, Self.migrator(marks, log)) else { throw obstacle }
        connection = Connection(queue, of: file)
      }
      return connection.queue
    }
    let value = try withQueue(queue) { try $0.write(body) }
    // SQLite publishes a commit in shared memory after it has written the log. A watcher that the log has woken may
    // have read too early. The new time of the file wakes it; see ``StoreChanges``.
    utimes(file.path(percentEncoded: false), nil)
    return value
  }

  /// Creates the store again if it was deleted meanwhile, of which only the settings remain. If another process has done so,
  /// its store is opened.
  func restore() {
    connection.withLock { connection in
      let identity = FileIdentity(file)
      guard identity == nil || identity != connection.identity,
        let new = try? Self.open(file, marks, now: Date(), log: log)
      else { return }
      if identity == nil {
        log("the store \(file.path(percentEncoded: false)) was deleted; all items are fetched again")
      }
      connection = new
    }
  }

  /// Runs an operation. A store that turns out to be damaged is renamed, and the next operation begins with an empty
  /// one.
  private func withQueue<Value>(_ queue: DatabaseQueue, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
    do {
      return try body(queue)
    } catch let error as DatabaseError {
      if error.isCorruption { try? replace(queue) }
      throw FetchError(error, of: file)
    } catch let error as DecodingError {
      // Stored JSON that cannot be decoded is damage.
      try? replace(queue)
      throw FetchError(.storage, "the store \(file.path(percentEncoded: false)) is damaged: \(error.shortDescription)")
    }
  }

  private func replace(_ broken: DatabaseQueue) throws {
    try connection.withLock { connection in
      // Another thread has met the same error and replaced the store.
      guard connection.queue === broken, connection.obstacle == nil else { return }
      try? broken.close()
      try Self.renameDamaged(file, now: Date(), log: log)
      connection = try Self.open(file, marks, now: Date(), log: log)
    }
  }

  private static func open(
    _ file: URL, _ marks: DurableFile, now: Date, log: @escaping @Sendable (String) -> Void
  ) throws -> Connection {
    do {
      let folder = file.deletingLastPathComponent()
      if !folder.exists {
        try FileManager.default.createDirectory(
          at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
      // SQLite gives the files beside the database the same permissions. They show what a user reads.
      let descriptor = Self.createFile(file.path(percentEncoded: false))
      if descriptor >= 0 { close(descriptor) }
      return Connection(try .open(file, migrator(marks, log)), of: file)
    } catch let error as DatabaseError where error.isCorruption {
      do {
        try renameDamaged(file, now: now, log: log)
        return Connection(try .open(file, migrator(marks, log)), of: file)
      } catch {
        throw FetchError(error, of: file)
      }
    } catch {
      let obstacle = FetchError(error, of: file)
      guard (error as? DatabaseError)?.preventsOnlyWrites == true, file.exists,
        let queue = try? DatabaseQueue.openReadOnly(file, table: "state")
      else { throw obstacle }
      return Connection(queue, of: file, obstacle: obstacle)
    }
  }

  /// Creates a file for this user; see open(2).
  private static func createFile(_ path: String) -> Int32 {
    openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  }

  /// Renames a damaged store, and logs that.
  private static func renameDamaged(_ file: URL, now: Date, log: @Sendable (String) -> Void) throws {
    let path = file.path(percentEncoded: false)
    let newPath = try DatabaseQueue.renameDamaged(file, now: now)
    log("the store \(path) is damaged; it was renamed to \(newPath), and all items are fetched again")
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

/// The function `open(2)`, which the method of the same name hides.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

extension DecodingError {
  /// The reason without a dump of the value.
  fileprivate var shortDescription: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "JSON that cannot be read"
    }
  }
}
