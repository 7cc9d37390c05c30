public import BackgroundFetch
public import Foundation
import GRDB

/// The transfers of a store, in a file of their own that apps and the worker share: what is written here goes on
/// whatever becomes of the app.
public final class TransferJournal: Sendable {
  /// How many transfers are kept that are over and of no session.
  static let mostOver = 100

  /// Where the journal, and what is here of downloads, is kept.
  public let folder: URL
  private let file: JournalFile

  /// The name of the database in ``folder``.
  static let name = "journal.sqlite"
  /// The files that a commit changes.
  static let committedFiles: Set = [name, name + "-wal"]

  /// Opens the journal of a store, and makes it if there is none. A damaged one is renamed, and an empty one takes its
  /// place.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - log: Receives a sentence where a damaged journal was renamed.
  /// - Throws: ``FetchError`` with `storage`.
  public init(store: URL, log: @escaping @Sendable (String) -> Void = { _ in }) throws {
    folder = Self.folder(in: store)
    file = try JournalFile(folder: folder, log: log)
  }

  /// Where the worker's lock is.
  var lock: FetchLock { FetchLock(path: folder.appending(path: "worker.lock").path(percentEncoded: false)) }

  /// Whether a worker is at the transfers of the store.
  ///
  /// - Throws: `FetchLock.Failure` where no worker can begin.
  package var hasWorker: Bool { get throws { try lock.isHeld } }

  /// The seconds until the next attempt at a transfer: its own wait, or the one that its server has demanded.
  package func delay(of transfer: Transfer, clock: any FetchClock = SystemClock()) -> Double {
    transfer.delay(
      holds: OriginHolds(store: folder.deletingLastPathComponent(), clock: clock), at: clock.now)
  }

  /// Adds a transfer, which is suspended.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func add(_ request: TransferRequest, session: String? = nil, description: String? = nil) throws -> Transfer {
    var transfer = Transfer(request, session: session, description: description)
    try file.write { db in
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
    try file.read { db in
      try Data.fetchAll(
        db, sql: "SELECT json FROM transfers WHERE ?1 IS NULL OR session = ?1 ORDER BY number", arguments: [session])
    }.compactMap { try? JSONDecoder().decode(Transfer.self, from: $0) }
  }

  /// Those that are running, in the order in which they were added.
  func running() throws -> [Transfer] {
    try file.read { try Data.fetchAll($0, sql: "SELECT json FROM transfers WHERE state = 'running' ORDER BY number") }
      .compactMap { try? JSONDecoder().decode(Transfer.self, from: $0) }
  }

  /// Whether a store has transfers for which a worker should be started: one of them is due and nobody is at it.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - constraints: The conditions that discretionary transfers wait for.
  ///   - clock: The machine's, or another one in tests.
  ///   - log: Receives a sentence where a damaged journal was renamed.
  /// - Throws: ``FetchError`` with `storage`; `FetchLock.Failure` where no worker can begin.
  public static func needsWorker(
    store: URL, constraints: any ConstraintSource = FetchConstraints.none, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> Bool {
    guard folder(in: store).exists else { return false }
    let journal = try TransferJournal(store: store, log: log)
    return try journal.needsWorker(
      constraints: constraints, holds: OriginHolds(store: store, clock: clock), at: clock.now)
  }

  /// Whether a transfer is due and no worker is at it.
  func needsWorker(constraints: any ConstraintSource, holds: OriginHolds, at now: FetchMoment) throws -> Bool {
    let due = try running().filter { $0.delay(holds: holds, at: now) <= 0 || $0.timeLeft(at: now) <= 0 }
    guard !due.isEmpty, try !hasWorker else { return false }
    // The machine is asked only where that decides.
    return due.contains { !$0.request.isDiscretionary || $0.timeLeft(at: now) <= 0 }
      || constraints.current.obstacle == nil
  }

  private static func folder(in store: URL) -> URL { store.appending(path: "transfers", directoryHint: .isDirectory) }

  /// A transfer; nil if there is none of that number.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func transfer(_ number: Int64) throws -> Transfer? { try file.read { try Self.transfer(number, $0) } }

  /// Lets a transfer go on. One that has failed is tried again from the beginning of its patience; a server that has
  /// demanded to wait (`Retry-After`) is left alone nevertheless.
  ///
  /// - Returns: Whether it is running now; false for one that is finished or cancelled.
  /// - Throws: ``FetchError`` with `rejected` for one that has failed and whose header fields are not kept any more;
  ///   with `storage`.
  @discardableResult
  public func resume(_ number: Int64, at now: FetchMoment = SystemClock().now) throws -> Bool {
    try file.write { db in
      guard var transfer = try Self.transfer(number, db), ![.finished, .cancelled].contains(transfer.state) else {
        return false
      }
      if transfer.state == .failed {
        guard transfer.hasLostHeaders != true else {
          throw FetchError(
            .rejected, "transfer \(number) sent header fields, which are not kept once it is over; begin it anew")
        }
        transfer.start = nil
        // An end that was not reported yet is none.
        try Self.forgetEnd(of: transfer, db)
      }
      transfer.state = .running
      transfer.start = transfer.start ?? now
      (transfer.waiting, transfer.failures, transfer.silentSince, transfer.failure) = (nil, 0, nil, nil)
      try Self.save(transfer, db)
      return true
    }
  }

  private static func forgetEnd(of transfer: Transfer, _ db: Database) throws {
    guard let session = transfer.session else { return }
    let rows = try Row.fetchAll(db, sql: "SELECT number, json FROM events WHERE session = ?", arguments: [session])
    for row in rows {
      let event = try? JSONDecoder().decode(TransferEvent.self, from: row["json"])
      guard let event, event.transfer == transfer.number, event.kind == .completed else { continue }
      try db.execute(sql: "DELETE FROM events WHERE number = ?", arguments: [row["number"] as Int64])
    }
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
    var hasDropped = false
    let changed = try file.write { db -> Transfer? in
      guard var transfer = try Self.transfer(number, db) else { return nil }
      let event = change(&transfer)
      hasDropped = transfer.dropHeaders()
      try Self.save(transfer, db)
      if let event, let session = transfer.session {
        let json = try JSONEncoder().encode(TransferEvent(transfer: number, kind: event))
        try db.execute(sql: "INSERT INTO events (session, json) VALUES (?, ?)", arguments: [session, json])
      }
      return transfer
    }
    // The log still has them. A process that reads at the moment is no reason to fail.
    if hasDropped { try? file.emptyLog() }
    return changed
  }

  /// What a session has not been told of yet, in order.
  func events(of session: String) throws -> [TransferEvent] {
    try file.read { db in
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
    try file.write { db in
      try db.execute(sql: "DELETE FROM events WHERE number = ?", arguments: [event.number])
      // One that has been resumed meanwhile goes on.
      guard event.kind == .completed, try Self.transfer(event.transfer, db)?.state.isOver == true else { return }
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

  static var migrator: DatabaseMigrator {
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
