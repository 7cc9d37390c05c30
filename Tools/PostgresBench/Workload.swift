import Foundation
import PostgresClient

/// A statement with a row number as its only parameter, and the decoding of its rows.
enum Workload: String, CaseIterable {
  /// One row by its key: the database cost of a check for news.
  case oneRow = "one-row"
  /// Fifty rows decoded into Swift values: the database cost of a list.
  case page

  /// The number of rows; they are numbered from 1.
  static let rowCount = 5000

  /// The SQL before the parameter.
  private var start: String {
    switch self {
    case .oneRow: "SELECT id, date, title FROM bench_items WHERE number ="
    case .page:
      """
      SELECT id, number, date, text, title, summary, topics, language, url, author, breaking, attachments, updated
      FROM bench_items WHERE number >=
      """
    }
  }

  /// The SQL after the parameter.
  private var tail: String {
    switch self {
    case .oneRow: ""
    case .page: " ORDER BY number LIMIT 50"
    }
  }

  /// The largest parameter, chosen so that a page is always full.
  private var lastNumber: Int { Self.rowCount - (self == .page ? 49 : 0) }

  /// The script with which pgbench sends the same statement.
  var pgbenchScript: String {
    "\\set number random(1, \(lastNumber))\n\(start) :number\(tail);\n"
  }

  /// Returns the row number for a step of a walk over all rows.
  func number(step: Int) -> Int { 1 + step * 997 % lastNumber }

  /// Sends the statement and decodes all rows.
  func run(on pool: PostgresPool, number: Int) async throws {
    let rows = try await pool.query("\(unsafeSQL: start) \(number)\(unsafeSQL: tail)")
    switch self {
    case .oneRow:
      guard let row = rows.first else { throw Failure(description: "there is no row \(number)") }
      _ = try row.decode("id", as: UUID.self)
      _ = try row.decode("date", as: Date.self)
      _ = try row.decode("title", as: String?.self)
    case .page:
      let items = try rows.map(Item.init(row:))
      guard items.count == 50 else { throw Failure(description: "a page has \(items.count) rows") }
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// The columns of a news item.
private struct Item {
  let id: UUID
  let number: Int
  let date: Date
  let text: String
  let title: String?
  let summary: String?
  let topics: [String]
  let language: String?
  let url: String?
  let author: String?
  let breaking: Bool
  let attachments: PostgresJSON
  let updated: Date

  init(row: PostgresRow) throws {
    id = try row.decode("id")
    number = try row.decode("number")
    date = try row.decode("date")
    text = try row.decode("text")
    title = try row.decode("title")
    summary = try row.decode("summary")
    topics = try row.decode("topics")
    language = try row.decode("language")
    url = try row.decode("url")
    author = try row.decode("author")
    breaking = try row.decode("breaking")
    attachments = try row.decode("attachments")
    updated = try row.decode("updated")
  }
}
