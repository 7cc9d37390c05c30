import News
import PostgresClient

extension PostgresRow {
  /// Decodes a column whose values are those of an enumeration.
  func value<Value: RawRepresentable>(_ column: String, as: Value.Type = Value.self) throws -> Value
  where Value.RawValue == String {
    let text: String = try decode(column)
    guard let value = Value(rawValue: text) else { throw StoreFault("\(column) has a value unknown to this build") }
    return value
  }

  /// Decodes a column of JSON.
  func json<Value: Decodable>(_ column: String, as: Value.Type = Value.self) throws -> Value {
    try NewsJSON.decode(Value.self, from: decode(column, as: PostgresJSON.self).data)
  }
}

extension PostgresRows {
  /// The first row.
  ///
  /// - Throws: `StoreError.notFound` if there is none.
  func found() throws -> PostgresRow {
    guard let first else { throw StoreError.notFound }
    return first
  }
}
