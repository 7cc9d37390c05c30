import CLibPQ

/// The rows a statement returned, kept in libpq's memory until the last row is gone.
public struct PostgresRows: Sendable, RandomAccessCollection {
  private let result: ResultHandle

  /// How many rows there are.
  public let count: Int

  init(result: ResultHandle) {
    self.result = result
    count = Int(PQntuples(result.pointer))
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// `count`.
  public var endIndex: Int { count }

  /// How many rows the statement inserted, updated, deleted, copied or returned; 0 for other statements.
  public var affected: Int {
    PQcmdTuples(result.pointer).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// What the server did, such as `INSERT 0 1`.
  var commandTag: String { PQcmdStatus(result.pointer).map { String(cString: $0) } ?? "" }

  /// The names of the columns.
  public var columnNames: [String] {
    (0..<result.columnCount).map { PQfname(result.pointer, $0).map { String(cString: $0) } ?? "" }
  }

  /// The row at a position below `count`.
  public subscript(position: Int) -> PostgresRow {
    precondition(position >= 0 && position < count, "the row is out of range")
    return PostgresRow(result: result, row: Int32(position))
  }
}

/// One row of a result.
public struct PostgresRow: Sendable {
  let result: ResultHandle
  let row: Int32

  /// The value of the first column that has this name, case as in PostgreSQL's answer; where names repeat, use
  /// positions.
  ///
  /// - Throws: `.decoding` if there is no such column or the value is not of the type, naming both.
  public func decode<Value: PostgresDecodable>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
    guard let index = result.column(named: column) else {
      throw PostgresError(.decoding, "there is no column \(column)")
    }
    return try decode(at: index, as: type)
  }

  /// The value of the column at a position, 0 for the first.
  ///
  /// - Throws: `.decoding` if there is no such column or the value is not of the type, naming both.
  public func decode<Value: PostgresDecodable>(_ index: Int, as type: Value.Type = Value.self) throws -> Value {
    guard index >= 0, index < result.columnCount else {
      throw PostgresError(.decoding, "there is no column at \(index)")
    }
    return try decode(at: Int32(index), as: type)
  }

  private func decode<Value: PostgresDecodable>(at index: Int32, as: Value.Type) throws -> Value {
    do {
      return try withExtendedLifetime(result) { try Value.decodePostgres(value(at: index)) }
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
