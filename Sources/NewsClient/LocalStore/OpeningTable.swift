import Foundation
import GRDB
import HTTPTransfer

/// The dates at which the user has opened the app, within a transaction.
struct OpeningTable {
  /// The maximum number of dates.
  static let maximumRecords = 5000

  let db: Database

  init(_ db: Database) { self.db = db }

  static func addTable(_ db: Database) throws {
    try db.execute(sql: "CREATE TABLE openings (number INTEGER PRIMARY KEY AUTOINCREMENT, date REAL NOT NULL)")
  }

  func add(_ date: Date) throws {
    try db.execute("INSERT INTO openings (date) VALUES (?)", date.timeIntervalSince1970)
    try db.trim("openings", to: Self.maximumRecords)
  }

  /// Returns the newest dates first.
  func newest(_ limit: Int) throws -> [Date] {
    try Double.fetchAll(db, sql: "SELECT date FROM openings ORDER BY number DESC LIMIT ?", arguments: [limit])
      .map { Date(timeIntervalSince1970: $0) }
  }
}
