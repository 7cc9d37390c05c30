import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The database of a transfer journal. A damaged file is renamed, and an empty one replaces it. A file that cannot be
/// written is opened for reading.
final class JournalFile: Sendable {
  /// An open database.
  private struct Connection {
    var queue: DatabaseQueue
    /// The reason why the database cannot be written; nil if it can.
    var obstacle: FetchError?
  }

  /// The database file.
  let file: URL
  private let connection: Mutex<Connection>
  private let log: @Sendable (String) -> Void

  /// Opens the journal in a folder, and creates what is missing.
  ///
  /// - Parameter log: Receives a sentence if a damaged file was renamed.
  /// - Throws: ``FetchError`` with `storage`.
  init(folder: URL, log: @escaping @Sendable (String) -> Void) throws {
    file = folder.appending(path: TransferJournal.name, directoryHint: .notDirectory)
    self.log = log
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      connection = Mutex(Connection(queue: try Self.openQueue(file)))
    } catch let error as DatabaseError where error.isCorruption {
      do {
        try Self.renameDamaged(file, log)
        connection = Mutex(Connection(queue: try Self.openQueue(file)))
      } catch {
        throw Self.failure(error, file)
      }
    } catch {
      let obstacle = Self.failure(error, file)
      guard file.exists, let queue = try? DatabaseQueue.openReadOnly(file, table: "transfers") else { throw obstacle }
      connection = Mutex(Connection(queue: queue, obstacle: obstacle))
    }
  }

  /// Reads in one snapshot.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try withQueue(connection.withLock(\.queue)) { try $0.read(body) }
  }

  /// Writes in one transaction.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let value = try withQueue(try writable()) { try $0.write(body) }
    // SQLite publishes a commit in shared memory after it has written the log. A watcher that the log has woken may
    // have read too early. The new time of the file wakes it again.
    utimes(file.path(percentEncoded: false), nil)
    return value
  }

  private func writable() throws -> DatabaseQueue {
    try connection.withLock { connection in
      if let obstacle = connection.obstacle {
        // The disk may have space again.
        guard let queue = try? Self.openQueue(file) else { throw obstacle }
        connection = Connection(queue: queue)
      }
      return connection.queue
    }
  }

  /// Moves all commits to the database and empties the log, so that overwritten values are in neither. Other processes
  /// that are reading keep the log; the last process that closes the file removes it.
  func emptyLog() throws {
    try withQueue(try writable()) { queue in
      _ = try queue.writeWithoutTransaction { db in try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }
  }

  private func withQueue<Value>(_ queue: DatabaseQueue, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
    do {
      return try body(queue)
    } catch {
      if let error = error as? DatabaseError, error.isCorruption { try? replace(queue) }
      throw Self.failure(error, file)
    }
  }

  private func replace(_ broken: DatabaseQueue) throws {
    try connection.withLock { connection in
      // Another thread may have met the same error and replaced the file.
      guard connection.queue === broken, connection.obstacle == nil else { return }
      try? broken.close()
      try Self.renameDamaged(file, log)
      connection = Connection(queue: try Self.openQueue(file))
    }
  }

  private static func openQueue(_ file: URL) throws -> DatabaseQueue {
    let queue = try DatabaseQueue.open(file, TransferJournal.migrator)
    // SQLite zeroes overwritten values, because header fields may be secrets. A read-only file needs no such setting.
    try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA secure_delete = ON") }
    return queue
  }

  /// Renames a damaged journal, and logs that.
  private static func renameDamaged(_ file: URL, _ log: @Sendable (String) -> Void) throws {
    let newPath = try DatabaseQueue.renameDamaged(file, now: Date())
    log("the list of transfers is damaged; it was renamed to \(newPath), and the new list is empty")
  }

  private static func failure(_ error: any Error, _ file: URL) -> FetchError {
    if let error = error as? FetchError { return error }
    let path = file.path(percentEncoded: false)
    return FetchError(.storage, "cannot use the list of transfers \(path): \(StorageFailure.reason(error))")
  }
}
