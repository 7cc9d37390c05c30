import Foundation
import GRDB
import Synchronization

/// What the client keeps, in one SQLite file: items, how far they follow the server, badge, schedule, snapshot and a
/// record of each wake. What belongs together is written in one transaction, so that whatever ends the process leaves the
/// state before it or the state after it.
final class LocalStore: Sendable {
  /// Where the file is.
  let file: URL
  private let queue: Mutex<DatabaseQueue>

  /// Opens the store of a folder, and makes what is missing. One that is broken is renamed aside.
  ///
  /// - Throws: ``FetchError`` with `storage` where the folder cannot be written.
  init(folder: URL, now: Date) throws {
    file = Self.file(in: folder)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      queue = Mutex(try Self.open(file))
    } catch let error as DatabaseError where error.isCorruption {
      do {
        try Self.setAside(file, now: now)
        queue = Mutex(try Self.open(file))
      } catch {
        throw Self.failure(error)
      }
    } catch {
      throw Self.failure(error)
    }
  }

  /// Opens the store of a folder; nil where there is none.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  static func existing(in folder: URL, now: Date) throws -> LocalStore? {
    guard file(in: folder).exists else { return nil }
    return try LocalStore(folder: folder, now: now)
  }

  /// What was followed last, nil if nothing.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  var source: Source? {
    get throws { try read { try StateTable($0).value(SyncState.self, .sync)?.source } }
  }

  /// The file of the store in a folder.
  private static func file(in folder: URL) -> URL {
    folder.appending(path: "news.sqlite", directoryHint: .notDirectory)
  }

  /// Reads in one snapshot.
  ///
  /// - Throws: ``FetchError`` with `storage`, or what the body throws of its own.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try withQueue { try $0.read(body) }
  }

  /// Writes in one transaction: all of it, or nothing if the body throws.
  ///
  /// - Throws: ``FetchError`` with `storage`, or what the body throws of its own.
  func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try withQueue { try $0.write(body) }
  }

  /// A file that turns out to be broken is put aside, and what comes next begins anew.
  private func withQueue<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
    let present = queue.withLock { $0 }
    do {
      return try body(present)
    } catch let error as DatabaseError {
      if error.isCorruption { try? replace(present) }
      throw Self.failure(error)
    }
  }

  private func replace(_ broken: DatabaseQueue) throws {
    try queue.withLock { queue in
      // Somebody else has met the same error and done it.
      guard queue === broken else { return }
      try? queue.close()
      try Self.setAside(file, now: Date())
      queue = try Self.open(file)
    }
  }

  private static func failure(_ error: any Error) -> FetchError {
    FetchError(.storage, "the store cannot be used: \(StorageFailure.reason(error))")
  }

  private static func open(_ file: URL) throws -> DatabaseQueue { try .open(file, migrator) }

  /// Moves a broken file and its log out of the way, with the time in their names.
  private static func setAside(_ file: URL, now: Date) throws {
    let stamp = Int(now.timeIntervalSince1970)
    for suffix in ["", "-wal", "-shm"] {
      let path = file.path(percentEncoded: false) + suffix
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.moveItem(atPath: path, toPath: path + ".broken-\(stamp)")
      }
    }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("items") { db in
      try db.execute(
        sql: """
          CREATE TABLE items (
            id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
          );
          CREATE INDEX items_newest_first ON items (date DESC, id DESC);
          -- A snapshot in progress, which is nobody's news until it is whole.
          CREATE TABLE staged (
            id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
          );
          -- One value each: how far the items follow the server, the schedule, the snapshot for the lock screen.
          CREATE TABLE state (name TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
          CREATE TABLE runs (number INTEGER PRIMARY KEY AUTOINCREMENT, json BLOB NOT NULL);
          """)
    }
    return migrator
  }
}
