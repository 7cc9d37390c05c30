package import Foundation
package import GRDB
import Synchronization

/// A database that the processes of a user share. A damaged file is renamed, and an empty one replaces it. A file that cannot
/// be written is opened for reading.
package final class SharedDatabase: Sendable {
  /// The properties of a database.
  package struct Properties: Sendable {
    /// The name in messages, such as "the store".
    package var name: String
    /// The consequence of a damaged file, for the end of a sentence.
    package var loss: String
    /// A table that every usable file has.
    package var table: String
    /// Whether SQLite zeroes overwritten values, because they may be secrets.
    package var zeroesValues = false
    /// Whether the path of a damaged file is logged beside that of the renamed one.
    package var logsPath = false
    package var migrator: DatabaseMigrator

    package init(name: String, loss: String, table: String, migrator: DatabaseMigrator) {
      (self.name, self.loss, self.table, self.migrator) = (name, loss, table, migrator)
    }
  }

  /// An open database.
  private struct Connection {
    var queue: DatabaseQueue
    /// The reason why the database cannot be written; nil if it can.
    var obstacle: FetchError?
    /// The open file, to notice that its name belongs to another one.
    var identity: FileIdentity?

    init(_ queue: DatabaseQueue, of file: URL, obstacle: FetchError? = nil) {
      (self.queue, self.obstacle, identity) = (queue, obstacle, FileIdentity(file))
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
  package let file: URL
  private let properties: Properties
  private let log: @Sendable (String) -> Void
  private let connection: Mutex<Connection>

  /// Opens a file, and creates what is missing.
  ///
  /// - Parameter log: Receives a sentence if a damaged file was renamed.
  /// - Throws: ``FetchError`` with `storage` if the folder cannot be created, or the file cannot even be read.
  package init(_ file: URL, _ properties: Properties, log: @escaping @Sendable (String) -> Void) throws {
    (self.file, self.properties, self.log) = (file, properties, log)
    connection = Mutex(try Self.open(file, properties, log))
  }

  /// Reads in one snapshot.
  ///
  /// - Throws: ``FetchError`` with `storage`, and the errors of the body.
  package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try withQueue(connection.withLock(\.queue)) { try $0.read(body) }
  }

  /// Writes in one transaction, which is rolled back if the body throws.
  ///
  /// - Throws: ``FetchError`` with `storage`, and the errors of the body.
  package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
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
        guard let queue = try? Self.openQueue(file, properties) else { throw obstacle }
        connection = Connection(queue, of: file)
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

  /// Opens the file again if it was deleted meanwhile. If another process has created it again, that file is opened.
  ///
  /// - Returns: Whether the file was missing and an empty one replaces it.
  package func restore() -> Bool {
    connection.withLock { connection in
      let identity = FileIdentity(file)
      guard identity == nil || identity != connection.identity, let new = try? Self.open(file, properties, log) else {
        return false
      }
      connection = new
      return identity == nil
    }
  }

  /// Runs an operation. A file that turns out to be damaged is renamed, and the next operation begins with an empty one.
  private func withQueue<Value>(_ queue: DatabaseQueue, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
    do {
      return try body(queue)
    } catch let error as DatabaseError {
      if error.isCorruption { try? replace(queue) }
      throw Self.failure(error, file, properties)
    } catch let error as DecodingError {
      // Stored JSON that cannot be decoded is damage.
      try? replace(queue)
      let path = file.path(percentEncoded: false)
      throw FetchError(.storage, "\(properties.name) \(path) is damaged: \(error.shortDescription)")
    }
  }

  private func replace(_ broken: DatabaseQueue) throws {
    try connection.withLock { connection in
      // Another thread may have met the same error and replaced the file.
      guard connection.queue === broken, connection.obstacle == nil else { return }
      try? broken.close()
      try Self.renameDamaged(file, properties, log)
      connection = try Self.open(file, properties, log)
    }
  }

  private static func open(
    _ file: URL, _ properties: Properties, _ log: @Sendable (String) -> Void
  ) throws -> Connection {
    do {
      try file.deletingLastPathComponent().createPrivateFolder()
      do { return Connection(try openQueue(file, properties), of: file) } catch let error as DatabaseError
        where error.isCorruption
      {
        try renameDamaged(file, properties, log)
        return Connection(try openQueue(file, properties), of: file)
      }
    } catch {
      let obstacle = failure(error, file, properties)
      guard file.exists, let queue = try? DatabaseQueue.openReadOnly(file, table: properties.table) else {
        throw obstacle
      }
      return Connection(queue, of: file, obstacle: obstacle)
    }
  }

  private static func openQueue(_ file: URL, _ properties: Properties) throws -> DatabaseQueue {
    let queue = try DatabaseQueue.open(file, properties.migrator)
    if properties.zeroesValues {
      // A read-only file needs no such setting.
      try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA secure_delete = ON") }
    }
    return queue
  }

  /// Renames a damaged file, and logs that.
  private static func renameDamaged(
    _ file: URL, _ properties: Properties, _ log: @Sendable (String) -> Void
  ) throws {
    let newPath = try DatabaseQueue.renameDamaged(file, now: Date())
    let path = properties.logsPath ? " " + file.path(percentEncoded: false) : ""
    log("\(properties.name)\(path) is damaged; it was renamed to \(newPath), and \(properties.loss)")
  }

  private static func failure(_ error: any Error, _ file: URL, _ properties: Properties) -> FetchError {
    let path = file.path(percentEncoded: false)
    return error as? FetchError
      ?? FetchError(.storage, "cannot use \(properties.name) \(path): \(StorageFailure.reason(error))")
  }
}

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
