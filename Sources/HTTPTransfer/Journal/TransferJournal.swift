public import Foundation
import GRDB

/// The transfers of a store, in a file that apps and the worker share. A transfer in the journal continues when the
/// app is suspended, crashes or is killed.
///
///     let journal = try TransferJournal(store: folder)
///     let url = URL(string: "https://news.example/video.mp4")!
///     let request = TransferRequest(download: url, to: URL(filePath: "/tmp/video.mp4"))
///     try journal.resume(journal.add(request, description: "video").number)
///     if try TransferJournal.needsWorker(store: folder) { try worker.start() }
public final class TransferJournal: Sendable {
  /// The number of later transfers after which an ended transfer without a session is deleted.
  static let maximumEndedTransfers = 100

  /// The folder of the journal, and of downloads without a destination.
  public let folder: URL
  let file: SharedDatabase

  /// The name of the database in ``folder``.
  static let name = "journal.sqlite"
  /// The files that a commit changes: the database or its write-ahead log.
  private static let committedFiles: Set = [name, name + "-wal"]

  /// Opens the journal of a store, and creates it if it is missing. A damaged one is renamed, and an empty one replaces
  /// it.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - log: Receives a sentence if a damaged journal was renamed.
  /// - Throws: ``FetchError`` with `storage`.
  public init(store: URL, log: @escaping @Sendable (String) -> Void = { _ in }) throws {
    folder = Self.folder(in: store)
    var properties = SharedDatabase.Properties(
      name: "the list of transfers", loss: "the new list is empty", table: "transfers", migrator: Self.migrator)
    // Header fields may be secrets.
    properties.zeroesValues = true
    file = try SharedDatabase(
      folder.appending(path: Self.name, directoryHint: .notDirectory), properties, log: log)
  }

  /// The lock of the worker.
  var lock: FetchLock { FetchLock(path: folder.appending(path: "worker.lock").path(percentEncoded: false)) }

  /// Returns the changes of the journal by any process from now on.
  package func changes() -> FolderChanges {
    FolderChanges(folder: folder) { Self.committedFiles.contains($0) }
  }

  /// The lock that a process holds while it has opened a session.
  func sessionLock(_ identifier: String) -> FetchLock {
    FetchLock(path: folder.appending(path: "session-\(identifier).lock").path(percentEncoded: false))
  }

  /// Whether a worker runs for the store.
  ///
  /// - Throws: `FetchLock.Failure` if the lock cannot be used, so that no worker can start.
  package var hasWorker: Bool { get throws { try lock.isHeld } }

  /// Returns the seconds until the next attempt at a transfer: the longer of its own wait and the one that its server
  /// demands.
  package func delay(of transfer: Transfer, clock: any FetchClock = SystemClock()) -> Double {
    transfer.delay(
      retryAfterStore: RetryAfterStore(store: folder.deletingLastPathComponent(), clock: clock), at: clock.now)
  }

  /// Adds a suspended transfer.
  ///
  /// - Parameters:
  ///   - request: The content to transfer, and its conditions.
  ///   - session: The identifier of the session; nil without a session.
  ///   - description: A description for the app's own use.
  /// - Returns: The transfer with its number.
  /// - Throws: ``FetchError`` with `rejected` for a URL that cannot be requested, such as one with another scheme; with
  ///   `storage`.
  public func add(_ request: TransferRequest, session: String? = nil, description: String? = nil) throws -> Transfer {
    try add(request, session: session, description: description, sendsLaunchEvents: true)
  }

  /// - Parameter sendsLaunchEvents: Whether the end of the transfer may launch the app of the session.
  func add(
    _ request: TransferRequest, session: String?, description: String?, sendsLaunchEvents: Bool
  ) throws -> Transfer {
    if let obstacle = request.url.requestObstacle {
      throw FetchError(.rejected, "cannot transfer \(request.url.absoluteString.singleLine): \(obstacle)")
    }
    var transfer = Transfer(request, session: session, description: description)
    if !sendsLaunchEvents { transfer.sendsLaunchEvents = false }
    try file.write { db in
      try db.execute(
        "INSERT INTO transfers (session, state, json) VALUES (?, ?, x'')", session, transfer.state.rawValue)
      transfer.number = db.lastInsertedRowID
      try Self.save(transfer, db)
      try db.execute(
        """
        DELETE FROM transfers WHERE session IS NULL AND state IN ('finished', 'failed', 'cancelled')
        AND number <= ?
        """, transfer.number - Int64(Self.maximumEndedTransfers))
    }
    return transfer
  }

  /// Returns all transfers, or those of a session, in the order in which they were added.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func transfers(of session: String? = nil) throws -> [Transfer] {
    try file.read {
      try $0.values("SELECT json FROM transfers WHERE ?1 IS NULL OR session = ?1 ORDER BY number", session)
    }
  }

  /// Returns the running transfers, in the order in which they were added.
  func running() throws -> [Transfer] {
    try file.read { try $0.values("SELECT json FROM transfers WHERE state = 'running' ORDER BY number") }
  }

  /// Returns whether a worker should be started for a store: a transfer is due or an app has to be launched, and no worker
  /// runs.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - obstacles: Returns the conditions of the machine that transfers may wait for.
  ///   - clock: The machine's clock, or a simulated one in tests.
  ///   - log: Receives a sentence if a damaged journal was renamed.
  /// - Throws: ``FetchError`` with `storage`; `FetchLock.Failure` if no worker can start.
  public static func needsWorker(
    store: URL, obstacles: () -> Set<Transfer.Obstacle> = { [] }, clock: any FetchClock = SystemClock(),
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> Bool {
    guard folder(in: store).exists else { return false }
    let journal = try TransferJournal(store: store, log: log)
    return try journal.needsWorker(
      obstacles: obstacles, retryAfterStore: RetryAfterStore(store: store, clock: clock), at: clock.now)
  }

  /// Returns whether a transfer is due or an app has to be launched, and no worker runs.
  func needsWorker(
    obstacles: () -> Set<Transfer.Obstacle>, retryAfterStore: RetryAfterStore, at now: FetchInstant
  ) throws -> Bool {
    let due = try running().filter {
      $0.delay(retryAfterStore: retryAfterStore, at: now) <= 0 || $0.timeLeft(at: now) <= 0
    }
    let hasLaunch = try !pendingLaunches().isEmpty
    guard hasLaunch || !due.isEmpty, try !hasWorker else { return false }
    // The machine is queried only if its state matters.
    if hasLaunch || due.contains(where: { !$0.request.hasConditions || $0.timeLeft(at: now) <= 0 }) { return true }
    let present = obstacles()
    return due.contains { $0.request.obstacle(among: present) == nil }
  }

  private static func folder(in store: URL) -> URL { store.appending(path: "transfers", directoryHint: .isDirectory) }

  /// Returns a transfer; nil if the number is unknown.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func transfer(_ number: Int64) throws -> Transfer? { try file.read { try Self.transfer(number, $0) } }

  /// Resumes a transfer. A failed one has its whole timeout again. A wait that its server demands (`Retry-After`)
  /// still applies.
  ///
  /// - Returns: Whether it is running now; false if it is finished, cancelled or unknown.
  /// - Throws: ``FetchError`` with `rejected` for a failed transfer whose header fields are no longer stored; with
  ///   `storage`.
  @discardableResult
  public func resume(_ number: Int64, at now: FetchInstant = SystemClock().now) throws -> Bool {
    try file.write { db in
      guard var transfer = try Self.transfer(number, db), ![.finished, .cancelled].contains(transfer.state) else {
        return false
      }
      if transfer.state == .failed {
        guard transfer.hasLostHeaders != true else {
          throw FetchError(
            .rejected, "cannot resume transfer \(number): its header fields were deleted when it ended; start a new one"
          )
        }
        transfer.start = nil
        // An unreported end no longer applies.
        try Self.removeEndEvent(of: transfer, db)
      }
      transfer.state = .running
      transfer.start = transfer.start ?? now
      transfer.forgiveFailures()
      try Self.save(transfer, db)
      return true
    }
  }

  private static func removeEndEvent(of transfer: Transfer, _ db: Database) throws {
    guard let session = transfer.session else { return }
    for event in try events(of: session, db) where event.transfer == transfer.number && event.kind == .completed {
      try db.execute("DELETE FROM events WHERE number = ?", event.number)
    }
  }

  /// Suspends a transfer. The received part is kept.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func suspend(_ number: Int64) throws {
    try update(number) { if $0.state == .running { $0.state = .suspended } }
  }

  /// Cancels a transfer. The received part is removed.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func cancel(_ number: Int64) throws {
    let transfer = try updateWithEvent(number) { transfer in
      if transfer.state.isOver { return nil }
      transfer.state = .cancelled
      return .completed
    }
    if let transfer, transfer.state == .cancelled { removePart(transfer) }
  }

  /// Changes a transfer.
  ///
  /// - Returns: The changed transfer; nil if the number is unknown.
  @discardableResult
  func update(_ number: Int64, _ change: (inout Transfer) -> Void) throws -> Transfer? {
    try updateWithEvent(number) { transfer in
      change(&transfer)
      return nil
    }
  }

  /// Changes a transfer, and stores an event for its session.
  ///
  /// - Parameter change: Returns the event; nil for none.
  /// - Returns: The changed transfer; nil if the number is unknown.
  @discardableResult
  func updateWithEvent(_ number: Int64, _ change: (inout Transfer) -> TransferEvent.Kind?) throws -> Transfer? {
    var hasDropped = false
    let changed = try file.write { db -> Transfer? in
      guard var transfer = try Self.transfer(number, db) else { return nil }
      let event = change(&transfer)
      hasDropped = transfer.dropHeaders()
      try Self.save(transfer, db)
      if let event, let session = transfer.session {
        let json = try JSONEncoder().encode(TransferEvent(transfer: number, kind: event))
        let launches = event == .completed && transfer.sendsLaunchEvents != false
        try db.execute("INSERT INTO events (session, json, launches) VALUES (?, ?, ?)", session, json, launches)
      }
      return transfer
    }
    // The log still contains the header fields. A process that is reading may prevent its removal, which is no failure.
    if hasDropped { try? file.emptyLog() }
    return changed
  }

  /// Returns the events that have not been reported to a session, in order.
  func events(of session: String) throws -> [TransferEvent] {
    try file.read { try Self.events(of: session, $0) }
  }

  private static func events(of session: String, _ db: Database) throws -> [TransferEvent] {
    let sql = "SELECT number, json FROM events WHERE session = ? ORDER BY number"
    return try Row.fetchAll(db, sql: sql, arguments: [session]).compactMap { row in
      guard var event = try? JSONDecoder().decode(TransferEvent.self, from: row["json"]) else { return nil }
      event.number = row["number"]
      return event
    }
  }

  /// Removes a reported event, and its transfer if that has ended.
  func acknowledge(_ event: TransferEvent) throws {
    try file.write { db in
      try db.execute("DELETE FROM events WHERE number = ?", event.number)
      // A transfer that was resumed meanwhile continues.
      guard event.kind == .completed, try Self.transfer(event.transfer, db)?.state.isOver == true else { return }
      try db.execute("DELETE FROM transfers WHERE number = ?", event.transfer)
    }
  }

  /// Returns the path of a download in progress. It is beside the destination, so that one step moves it there.
  func partialFile(_ transfer: Transfer) -> URL {
    guard transfer.request.direction == .download, let file = transfer.request.file else {
      return folder.appending(path: "\(transfer.number).part", directoryHint: .notDirectory)
    }
    return file.deletingLastPathComponent()
      .appending(path: ".\(file.lastPathComponent).\(transfer.number).part", directoryHint: .notDirectory)
  }

  /// Returns the path of a download while its coding is removed.
  func decodedFile(_ transfer: Transfer) -> URL { partialFile(transfer).appendingPathExtension("decoded") }

  /// Removes the received part of a download.
  func removePart(_ transfer: Transfer) {
    for file in [partialFile(transfer), decodedFile(transfer)] { try? FileManager.default.removeItem(at: file) }
  }

  /// Returns the mode of a download, before the umask. Files within the store are private, as all of it is.
  func mode(of transfer: Transfer) -> mode_t {
    let store = folder.deletingLastPathComponent().standardizedFileURL.path
    let isPrivate = transfer.request.file.map { $0.standardizedFileURL.path.hasPrefix(store + "/") } ?? true
    return isPrivate ? 0o600 : 0o666
  }

  /// Returns the path of a complete download.
  func completeFile(_ transfer: Transfer) -> URL {
    transfer.request.file ?? folder.appending(path: "\(transfer.number).whole", directoryHint: .notDirectory)
  }

  private static func transfer(_ number: Int64, _ db: Database) throws -> Transfer? {
    try db.value("SELECT json FROM transfers WHERE number = ?", number)
  }

  private static func save(_ transfer: Transfer, _ db: Database) throws {
    try db.execute(
      "UPDATE transfers SET state = ?, json = ? WHERE number = ?",
      transfer.state.rawValue, try JSONEncoder().encode(transfer), transfer.number)
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
          -- Sessions have not been notified of it.
          CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, json BLOB NOT NULL);
          """)
    }
    migrator.registerMigration("launches") { db in
      // Whether the app has to be launched for the event if it is not running.
      try db.execute(sql: "ALTER TABLE events ADD COLUMN launches BOOLEAN NOT NULL DEFAULT FALSE")
    }
    return migrator
  }
}
