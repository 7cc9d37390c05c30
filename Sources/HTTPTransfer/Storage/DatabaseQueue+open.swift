package import Foundation
package import GRDB

extension DatabaseQueue {
  /// Opens a file that several processes of one user may share, and migrates it to the current schema.
  ///
  /// - Parameter busyTimeout: The maximum time to wait for a lock, now and later, in seconds.
  package static func open(
    _ file: URL, _ migrator: DatabaseMigrator, busyTimeout: Double = 5
  ) throws -> DatabaseQueue {
    restrict(file)
    let end = ContinuousClock.now + .seconds(busyTimeout)
    while true {
      do {
        return try openOnce(file, migrator, busyTimeout)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && .now < end {
        // SQLite does not wait when the journal mode changes, because two connections could wait for each other
        // (https://www.sqlite.org/c3ref/busy_handler.html).
        Thread.sleep(forTimeInterval: .random(in: 0.005...0.02))
      }
    }
  }

  private static func openOnce(
    _ file: URL, _ migrator: DatabaseMigrator, _ busyTimeout: Double
  ) throws -> DatabaseQueue {
    var configuration = Configuration()
    // Another process may be writing, such as a timer's fetch beside an open app.
    configuration.busyMode = .timeout(busyTimeout)
    configuration.prepareDatabase { db in
      // In WAL mode readers and a writer do not block each other, and a commit is atomic without fsync. A power loss
      // may lose the last commit, which the server sends again.
      try db.execute(sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    let queue = try DatabaseQueue(path: file.path(percentEncoded: false), configuration: configuration)
    try migrate(queue, migrator)
    return queue
  }

  /// Migrates a file to the current schema, also if another process does so at the same time.
  private static func migrate(_ queue: DatabaseQueue, _ migrator: DatabaseMigrator) throws {
    var applied: Set<String>?
    while true {
      do {
        return try migrator.migrate(queue)
      } catch let error as DatabaseError where !error.isCorruption && error.resultCode != .SQLITE_BUSY {
        // Each migration is a transaction. This one fails if another process has committed it since the list of applied
        // migrations was read; the next attempt leaves it out. Without such progress the error has another cause.
        let current = try queue.read(migrator.appliedIdentifiers)
        guard current != applied else { throw error }
        applied = current
      }
    }
  }

  /// Opens a file that cannot be written, for reading. The file must not change meanwhile, unless processes that write
  /// it keep its log and index open.
  ///
  /// - Parameter table: A table that is read to check whether the file is usable.
  package static func openReadOnly(_ file: URL, table: String) throws -> DatabaseQueue {
    do {
      return try openReadOnly(path: file.path(percentEncoded: false), table)
    } catch {
      // A file with a log needs an index, which cannot be created here. `immutable` needs neither, but hides rows that
      // are only in the log (https://www.sqlite.org/uri.html).
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

  /// Renames a damaged file and its log, and adds the time to their names.
  ///
  /// - Returns: The new path of the file.
  package static func renameDamaged(_ file: URL, now: Date) throws -> String {
    let path = file.path(percentEncoded: false)
    let ending = ".broken-\(Int(now.timeIntervalSince1970))"
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      let newPath = path + suffix + ending
      try? FileManager.default.removeItem(atPath: newPath)
      try FileManager.default.moveItem(atPath: path + suffix, toPath: newPath)
    }
    return path + ending
  }
}

extension DatabaseError {
  /// Whether the file is damaged.
  package var isCorruption: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }
}

/// Restricts a database to its user, with any umask. SQLite creates the log and the index with the same mode.
///
/// The file is never opened here. Closing it would drop the locks that SQLite holds for this process (fcntl(2)), and
/// another process could remove the log that is in use. An empty file is created beside it and then linked to its
/// name.
private func restrict(_ file: URL) {
  let path = file.path(percentEncoded: false)
  if !file.exists {
    let temporary = "\(path).\(UUID().uuidString)"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      // Another process may have created the file first.
      link(temporary, path)
      unlink(temporary)
    }
  }
  for suffix in ["", "-wal", "-shm"] { chmod(path + suffix, 0o600) }
}
