import Foundation
import GRDB

extension DatabaseQueue {
  /// The longest time that others may keep the file locked, in seconds.
  private static let busyTimeout = 5.0

  /// Opens a file that several processes may share, and brings it to the current form.
  static func open(_ file: URL, _ migrator: DatabaseMigrator) throws -> DatabaseQueue {
    let end = ContinuousClock.now + .seconds(busyTimeout)
    while true {
      do {
        return try openOnce(file, migrator)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && .now < end {
        // SQLite does not wait where the journal mode changes, or two connections would wait for each other
        // (https://www.sqlite.org/c3ref/busy_handler.html).
        Thread.sleep(forTimeInterval: .random(in: 0.005...0.02))
      }
    }
  }

  private static func openOnce(_ file: URL, _ migrator: DatabaseMigrator) throws -> DatabaseQueue {
    var configuration = Configuration()
    // Another process may be writing: the fetch of a timer beside an app that is open.
    configuration.busyMode = .timeout(busyTimeout)
    configuration.prepareDatabase { db in
      // With a log ahead of the file, readers and a writer do not wait for each other, and a commit needs no fsync to be
      // whole: what a loss of power may take is the last commit, which the server gives again.
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    let queue = try DatabaseQueue(path: file.path(percentEncoded: false), configuration: configuration)
    do {
      try migrator.migrate(queue)
    } catch let error as DatabaseError where !error.isCorruption {
      // Another process may have made the tables while this one waited to.
      guard try queue.read(migrator.hasCompletedMigrations) else { throw error }
    }
    return queue
  }

  /// Opens a file that cannot be written, to read it. It is not changed meanwhile, or others that write it hold its log
  /// and the index of that open.
  ///
  /// - Parameter table: A table that is read to see whether the file can be.
  static func openReadOnly(_ file: URL, table: String) throws -> DatabaseQueue {
    do {
      return try openReadOnly(path: file.path(percentEncoded: false), table)
    } catch {
      // A file with a log needs an index of it, which cannot be made here. `immutable` does without both: what is in the
      // log alone is not seen (https://www.sqlite.org/uri.html).
      return try openReadOnly(path: file.absoluteURL.absoluteString + "?immutable=1", table)
    }
  }

  private static func openReadOnly(path: String, _ table: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
    return queue
  }

  /// Renames a damaged file and its log, with the time in their names.
  ///
  /// - Returns: The new path of the file.
  static func setAside(_ file: URL, now: Date) throws -> String {
    let path = file.path(percentEncoded: false)
    let ending = ".broken-\(Int(now.timeIntervalSince1970))"
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      let place = path + suffix + ending
      try? FileManager.default.removeItem(atPath: place)
      try FileManager.default.moveItem(atPath: path + suffix, toPath: place)
    }
    return path + ending
  }
}

extension DatabaseError {
  /// Whether the file is broken.
  var isCorruption: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
}
