import BackgroundFetch
import Foundation
import GRDB

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
    try db.execute(sql: "INSERT INTO runs (json) VALUES (?)", arguments: [try JSONEncoder().encode(run)])
    let number = db.lastInsertedRowID
    try db.execute(sql: "DELETE FROM runs WHERE number <= ?", arguments: [number - Int64(Self.maximumRecords)])
    return number
  }

  /// Adds the outcome of the notifications to a record.
  func add(_ delivery: LocalNotifications.Delivery, to number: Int64) throws {
    let json = try Data.fetchOne(db, sql: "SELECT json FROM runs WHERE number = ?", arguments: [number])
    guard let json, var run = try? JSONDecoder().decode(RunRecord.self, from: json) else { return }
    run.notice = delivery.failures.isEmpty ? nil : delivery.failures.joined(separator: "; ")
    run.programStatus = delivery.programStatus
    try db.execute(
      sql: "UPDATE runs SET json = ? WHERE number = ?", arguments: [try JSONEncoder().encode(run), number])
  }

  /// Returns the newest records first, without those that this build cannot decode.
  func newest(_ limit: Int) throws -> [RunRecord] {
    try Data.fetchAll(db, sql: "SELECT json FROM runs ORDER BY number DESC LIMIT ?", arguments: [limit])
      .compactMap { try? JSONDecoder().decode(RunRecord.self, from: $0) }
  }
}
