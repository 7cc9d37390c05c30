import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer

/// The records of the last wakes, within a transaction.
struct RunTable {
  /// The maximum number of records.
  static let maximumRecords = 500

  let db: Database

  init(_ db: Database) { self.db = db }

  /// Adds a record.
  ///
  /// - Returns: Its number.
  func add(_ run: RunRecord) throws -> Int64 {
    try db.execute("INSERT INTO runs (json) VALUES (?)", try JSONEncoder().encode(run))
    let number = db.lastInsertedRowID
    try db.trim("runs", to: Self.maximumRecords)
    return number
  }

  /// Adds the outcome of the notifications to a record.
  func add(_ delivery: LocalNotifications.Delivery, to number: Int64) throws {
    guard var run: RunRecord = try db.value("SELECT json FROM runs WHERE number = ?", number) else { return }
    run.notice = delivery.failures.isEmpty ? nil : delivery.failures.joined(separator: "; ")
    run.programStatus = delivery.programStatus
    try db.execute("UPDATE runs SET json = ? WHERE number = ?", try JSONEncoder().encode(run), number)
  }

  /// Returns the newest records first, without those that this build cannot decode.
  func newest(_ limit: Int) throws -> [RunRecord] {
    try db.values("SELECT json FROM runs ORDER BY number DESC LIMIT ?", limit)
  }
}
