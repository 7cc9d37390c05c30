import BackgroundFetch
import Foundation
import GRDB

/// The records of the last wakes, within a transaction.
struct RunTable {
  /// The maximum number of records.
  static let maximumRecords = 500

  let db: Database

  init(_ db: Database) { self.db = db }

  func add(_ run: RunRecord) throws {
    try db.execute(sql: "INSERT INTO runs (json) VALUES (?)", arguments: [try JSONEncoder().encode(run)])
    try db.execute(
      sql: "DELETE FROM runs WHERE number <= ?", arguments: [db.lastInsertedRowID - Int64(Self.maximumRecords)])
  }

  /// Returns the newest records first, without those that this build cannot decode.
  func newest(_ limit: Int) throws -> [RunRecord] {
    try Data.fetchAll(db, sql: "SELECT json FROM runs ORDER BY number DESC LIMIT ?", arguments: [limit])
      .compactMap { try? JSONDecoder().decode(RunRecord.self, from: $0) }
  }
}
