import Foundation
package import GRDB

extension Database {
  /// Executes statements with arguments.
  package func execute(_ sql: String, _ arguments: (any DatabaseValueConvertible)?...) throws {
    try execute(sql: sql, arguments: StatementArguments(arguments))
  }

  /// Returns stored values in JSON, without those that this build cannot decode.
  package func values<Value: Decodable>(
    _ sql: String, _ arguments: (any DatabaseValueConvertible)?...
  ) throws -> [Value] {
    try Data.fetchAll(self, sql: sql, arguments: StatementArguments(arguments))
      .compactMap { try? JSONDecoder().decode(Value.self, from: $0) }
  }

  /// Whether there are rows.
  ///
  /// - Parameter rows: A table and its condition.
  package func exists(_ rows: String, _ arguments: (any DatabaseValueConvertible)?...) throws -> Bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM \(rows))"
    return try Bool.fetchOne(self, sql: sql, arguments: StatementArguments(arguments)) == true
  }

  /// Returns the first of stored values in JSON; nil if there is none that this build can decode.
  package func value<Value: Decodable>(
    _ sql: String, _ arguments: (any DatabaseValueConvertible)?...
  ) throws -> Value? {
    try Data.fetchOne(self, sql: sql, arguments: StatementArguments(arguments))
      .flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
  }

  /// Removes the old rows of a table after an insertion.
  ///
  /// - Parameter count: The number of last rows that stay.
  package func trim(_ table: String, to count: Int) throws {
    try execute("DELETE FROM \(table) WHERE number <= ?", lastInsertedRowID - Int64(count))
  }
}
