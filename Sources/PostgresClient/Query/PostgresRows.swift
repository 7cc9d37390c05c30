import CLibPQ
import Synchronization

/// The rows of a statement's result, kept in libpq's memory until the last row is released.
///
///     func topicNames(pool: PostgresPool) async throws -> [String] {
///       let rows = try await pool.query("SELECT name FROM topics ORDER BY name")
///       return try rows.map { row in try row.decode("name", as: String.self) }
///     }
public struct PostgresRows: Sendable, RandomAccessCollection {
  private let result: ResultHandle

  /// The number of rows.
  public let count: Int

  init(result: ResultHandle) {
    self.result = result
    count = Int(PQntuples(result.pointer))
  }

  /// The position of the first row, 0.
  public var startIndex: Int { 0 }
  /// The position after the last row, `count`.
  public var endIndex: Int { count }

  /// The number of rows that the statement inserted, updated, deleted, copied or returned; 0 for other statements.
  public var affected: Int {
    PQcmdTuples(result.pointer).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// The command tag, which states what the server did, such as `INSERT 0 1`.
  var commandTag: String { PQcmdStatus(result.pointer).map { String(cString: $0) } ?? "" }

  /// The names of the columns.
  public var columnNames: [String] {
    (0..<result.columnCount).map { PQfname(result.pointer, $0).map { String(cString: $0) } ?? "" }
  }

  /// The row at a position in 0..<count. Traps on any other position.
  public subscript(position: Int) -> PostgresRow {
    precondition(position >= 0 && position < count, "the row is out of range")
    return PostgresRow(result: result, row: Int32(position))
  }
}

/// One row of a result.
///
///     struct Topic {
///       let id: UUID
///       let name: String?
///       init(row: PostgresRow) throws {
///         id = try row.decode("id", as: UUID.self)
///         name = try row.decode("name", as: String?.self)
///       }
///     }
public struct PostgresRow: Sendable {
  let result: ResultHandle
  let row: Int32

  /// Decodes the value of the column with this name, which is case-sensitive. If several columns have the name, any of
  /// them may match; use positions instead.
  ///
  /// - Throws: `.decoding` if there is no such column or the value does not have the type. The error names both.
  public func decode<Value: PostgresDecodable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
    guard let index = result.column(named: column) else {
      throw PostgresError(.decoding, "there is no column \(column)")
    }
    return try decode(at: index, as: type)
  }

  /// Decodes the value of the column at a position, 0 for the first.
  ///
  /// - Throws: `.decoding` if there is no such column or the value does not have the type. The error names both.
  public func decode<Value: PostgresDecodable>(_ index: Int, as type: Value.Type = Value.self) throws -> Value {
    guard index >= 0, index < result.columnCount else {
      throw PostgresError(.decoding, "there is no column at \(index)")
    }
    return try decode(at: Int32(index), as: type)
  }

  /// The size of all values in bytes, as the server has sent them.
  package var byteCount: Int {
    (0..<Int32(result.columnCount)).reduce(0) { $0 + Int(PQgetlength(result.pointer, row, $1)) }
  }

  private func decode<Value: PostgresDecodable>(at index: Int32, as: Value.Type) throws -> Value {
    // The bytes belong to the result.
    defer { withExtendedLifetime(result) {} }
    do {
      return try Value.decodePostgres(value(at: index))
    } catch {
      throw failure(at: index, type: Value.self, error: error)
    }
  }

  private func value(at index: Int32) -> PostgresValue {
    let type = PostgresType(rawValue: PQftype(result.pointer, index))
    if PQgetisnull(result.pointer, row, index) != 0 { return PostgresValue(type: type, bytes: nil) }
    let bytes = UnsafeRawBufferPointer(
      start: PQgetvalue(result.pointer, row, index), count: Int(PQgetlength(result.pointer, row, index)))
    return PostgresValue(type: type, bytes: bytes)
  }

  private func failure(at index: Int32, type: Any.Type, error: any Error) -> PostgresError {
    let name = PQfname(result.pointer, index).map { String(cString: $0) } ?? "\(index)"
    let reason = (error as? PostgresValue.Mismatch)?.reason ?? "\(error)"
    let oid = PQftype(result.pointer, index)
    var failure = PostgresError(
      .decoding, "column \(name) of type OID \(oid) cannot be read as \(type): \(reason)")
    failure.column = name
    return failure
  }
}

/// Owns one `PGresult`.
///
/// It is sendable because libpq never changes a result after `PQgetResult` has returned it, and because it is freed
/// only after the last reference is released.
final class ResultHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  let columnCount: Int32
  /// The index at which the search for a column starts: rows are mostly decoded in the order of their columns.
  let expectedColumn = Atomic<Int32>(0)

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    columnCount = PQnfields(pointer)
  }

  deinit {
    PQclear(pointer)
  }

  /// Returns the first column with this name at or after the expected one, wrapping around; nil if there is none.
  func column(named name: String) -> Int32? {
    name.withCString { name in
      var index = expectedColumn.load(ordering: .relaxed)
      for _ in 0..<columnCount {
        if index >= columnCount { index = 0 }
        if let candidate = PQfname(pointer, index), equal(candidate, name) {
          expectedColumn.store(index + 1, ordering: .relaxed)
          return index
        }
        index += 1
      }
      return nil
    }
  }

  private func equal(_ left: UnsafePointer<CChar>, _ right: UnsafePointer<CChar>) -> Bool {
    var index = 0
    while left[index] == right[index] {
      if left[index] == 0 { return true }
      index += 1
    }
    return false
  }
}
