import BackgroundFetch
public import Foundation
import GRDB

/// The transfers of a store, in a file of their own that apps and the worker share: what is written here goes on
/// whatever becomes of the app.
public final class TransferJournal: Sendable {
  /// How many transfers are kept that are over and of no session.
  static let mostOver = 100

  /// Where the journal, and what is here of downloads, is kept.
  public let folder: URL
  private let queue: DatabaseQueue

  /// Opens the journal of a store, and makes it if there is none.
  ///
  /// - Parameter store: The folder of the client.
  /// - Throws: ``FetchError`` with `storage`.
  public init(store: URL) throws {
    folder = Self.folder(in: store)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      queue = try DatabaseQueue.open(
        folder.appending(path: "journal.sqlite", directoryHint: .notDirectory), Self.migrator)
    } catch {
      throw FetchError(.storage, "the journal of transfers: \(error)")
    }
  }

  /// Where the worker's lock is.
  var lock: FetchLock { FetchLock(path: folder.appending(path: "worker.lock").path(percentEncoded: false)) }

  /// Adds a transfer, which is suspended.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func add(_ request: TransferRequest, session: String? = nil, description: String? = nil) throws -> Transfer {
    var transfer = Transfer(request, session: session, description: description)
    try write { db in
      try db.execute(
        sql: "INSERT INTO transfers (session, state, json) VALUES (?, ?, x'')",
        arguments: [session, transfer.state.rawValue])
      transfer.number = db.lastInsertedRowID
      try Self.save(transfer, db)
      try db.execute(
        sql: """
          DELETE FROM transfers WHERE session IS NULL AND state IN ('finished', 'failed', 'cancelled')
          AND number <= ?
          """, arguments: [transfer.number - Int64(Self.mostOver)])
    }
    return transfer
  }

  /// All transfers, or those of a session, in the order in which they were added.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func transfers(of session: String? = nil) throws -> [Transfer] {
    try read { db in
      try Data.fetchAll(
        db, sql: "SELECT json FROM transfers WHERE ?1 IS NULL OR session = ?1 ORDER BY number", arguments: [session])
    }.compactMap { try? JSONDecoder().decode(Transfer.self, from: $0) }
  }

  /// Those that are running, in the order in which they were added.
  func running() throws -> [Transfer] {
    try read { try Data.fetchAll($0, sql: "SELECT json FROM transfers WHERE state = 'running' ORDER BY number") }
      .compactMap { try? JSONDecoder().decode(Transfer.self, from: $0) }
  }

  /// Whether a store has transfers that a worker should be at: whoever finds it so starts one, should the last one have
  /// been killed.
  ///
  /// - Parameter store: The folder of the client.
  /// - Throws: ``FetchError`` with `storage`.
  public static func needsWorker(store: URL) throws -> Bool {
    guard folder(in: store).exists else { return false }
    return try !TransferJournal(store: store).running().isEmpty
  }

  private static func folder(in store: URL) -> URL { store.appending(path: "transfers", directoryHint: .isDirectory) }

  /// A transfer; nil if there is none of that number.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func transfer(_ number: Int64) throws -> Transfer? { try read { try Self.transfer(number, $0) } }

  /// Lets a transfer go on. One that has failed is tried again from the beginning of its patience.
  ///
  /// - Returns: Whether it is running now; false for one that is finished or cancelled.
  /// - Throws: ``FetchError`` with `storage`.
  @discardableResult
  public func resume(_ number: Int64, at date: Date = Date()) throws -> Bool {
    try update(number) { transfer in
      guard transfer.state != .finished, transfer.state != .cancelled else { return }
      if transfer.state == .failed { transfer.begun = nil }
      transfer.state = .running
      transfer.begun = transfer.begun ?? date
      (transfer.due, transfer.failures, transfer.failure) = (.distantPast, 0, nil)
    }?.state == .running
  }

  /// Stops a transfer; what is here of it stays.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func suspend(_ number: Int64) throws {
    try update(number) { if $0.state == .running { $0.state = .suspended } }
  }

  /// Ends a transfer. What was here of it goes.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func cancel(_ number: Int64) throws {
    let transfer = try tell(number) { transfer in
      if transfer.state.isOver { return nil }
      transfer.state = .cancelled
      return .completed
    }
    if let transfer, transfer.state == .cancelled { try? FileManager.default.removeItem(at: partialFile(transfer)) }
  }

  /// Changes a transfer.
  ///
  /// - Returns: What it is then; nil if there is none of that number.
  @discardableResult
  func update(_ number: Int64, _ change: (inout Transfer) -> Void) throws -> Transfer? {
    try tell(number) { transfer in
      change(&transfer)
      return nil
    }
  }

  /// Changes a transfer, and tells its session of it.
  ///
  /// - Parameter change: Returns what is told; nil for nothing.
  /// - Returns: What it is then; nil if there is none of that number.
  @discardableResult
  func tell(_ number: Int64, _ change: (inout Transfer) -> TransferEvent.Kind?) throws -> Transfer? {
    try write { db in
      guard var transfer = try Self.transfer(number, db) else { return nil }
      let event = change(&transfer)
      try Self.save(transfer, db)
      if let event, let session = transfer.session {
        let json = try JSONEncoder().encode(TransferEvent(transfer: number, kind: event))
        try db.execute(sql: "INSERT INTO events (session, json) VALUES (?, ?)", arguments: [session, json])
      }
      return transfer
    }
  }

  /// What a session has not been told of yet, in order.
  func events(of session: String) throws -> [TransferEvent] {
    try read { db in
      try Row.fetchAll(
        db, sql: "SELECT number, json FROM events WHERE session = ? ORDER BY number", arguments: [session]
      )
      .compactMap { row in
        guard var event = try? JSONDecoder().decode(TransferEvent.self, from: row["json"]) else { return nil }
        event.number = row["number"]
        return event
      }
    }
  }

  /// A session has been told; a transfer that is over is forgotten with it.
  func acknowledge(_ event: TransferEvent) throws {
    try write { db in
      try db.execute(sql: "DELETE FROM events WHERE number = ?", arguments: [event.number])
      guard event.kind == .completed else { return }
      try db.execute(sql: "DELETE FROM transfers WHERE number = ?", arguments: [event.transfer])
    }
  }

  /// Where a download is until it is whole: beside its place, so that it can be moved there in one step.
  func partialFile(_ transfer: Transfer) -> URL {
    guard transfer.request.direction == .download, let file = transfer.request.file else {
      return folder.appending(path: "\(transfer.number).part", directoryHint: .notDirectory)
    }
    return file.deletingLastPathComponent()
      .appending(path: ".\(file.lastPathComponent).\(transfer.number).part", directoryHint: .notDirectory)
  }

  /// Where a download is when it is whole.
  func wholeFile(_ transfer: Transfer) -> URL {
    transfer.request.file ?? folder.appending(path: "\(transfer.number).whole", directoryHint: .notDirectory)
  }

  private static func transfer(_ number: Int64, _ db: Database) throws -> Transfer? {
    try Data.fetchOne(db, sql: "SELECT json FROM transfers WHERE number = ?", arguments: [number])
      .flatMap { try? JSONDecoder().decode(Transfer.self, from: $0) }
  }

  private static func save(_ transfer: Transfer, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE transfers SET state = ?, json = ? WHERE number = ?",
      arguments: [transfer.state.rawValue, try JSONEncoder().encode(transfer), transfer.number])
  }

  private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do { return try queue.read(body) } catch { throw FetchError(.storage, "the journal of transfers: \(error)") }
  }

  private func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    do { return try queue.write(body) } catch { throw FetchError(.storage, "the journal of transfers: \(error)") }
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("transfers") { db in
      try db.execute(
        sql: """
          CREATE TABLE transfers (
            number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, state TEXT NOT NULL, json BLOB NOT NULL
          );
          CREATE INDEX transfers_running ON transfers (number) WHERE state = 'running';
          -- What sessions are still to be told of.
          CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, json BLOB NOT NULL);
          """)
    }
    return migrator
  }
}
