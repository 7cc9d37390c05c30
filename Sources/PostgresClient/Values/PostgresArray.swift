public import Foundation

/// A type whose one-dimensional arrays can be sent and read. Elements that may be NULL are optional values.
///
///     enum Section: String, PostgresArrayElement {
///       case news, sport
///       static var postgresArrayType: PostgresType { String.postgresArrayType }
///     }
///     let sections: [Section] = [.news, .sport]
///     let query: PostgresQuery = "SELECT id FROM items WHERE section = ANY(\(sections))"
///     print(query.sql)  // SELECT id FROM items WHERE section = ANY($1)
public protocol PostgresArrayElement: PostgresEncodable, PostgresDecodable {
  /// The PostgreSQL type of an array of this type.
  static var postgresArrayType: PostgresType { get }
}

extension String: PostgresArrayElement {
  /// `text[]`
  public static var postgresArrayType: PostgresType { .textArray }
}

extension UUID: PostgresArrayElement {
  /// `uuid[]`
  public static var postgresArrayType: PostgresType { .uuidArray }
}

extension Data: PostgresArrayElement {
  /// `bytea[]`
  public static var postgresArrayType: PostgresType { .byteaArray }
}

extension Int: PostgresArrayElement {
  /// `bigint[]`
  public static var postgresArrayType: PostgresType { .int8Array }
}

extension Int32: PostgresArrayElement {
  /// `integer[]`
  public static var postgresArrayType: PostgresType { .int4Array }
}

extension Int64: PostgresArrayElement {
  /// `bigint[]`
  public static var postgresArrayType: PostgresType { .int8Array }
}

extension Double: PostgresArrayElement {
  /// `double precision[]`
  public static var postgresArrayType: PostgresType { .float8Array }
}

extension Bool: PostgresArrayElement {
  /// `boolean[]`
  public static var postgresArrayType: PostgresType { .boolArray }
}

extension Date: PostgresArrayElement {
  /// `timestamp with time zone[]`
  public static var postgresArrayType: PostgresType { .timestamptzArray }
}

extension PostgresJSON: PostgresArrayElement {
  /// `jsonb[]`
  public static var postgresArrayType: PostgresType { .jsonbArray }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
  /// The array type of the wrapped value.
  public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
  /// The array type of the elements.
  public static var postgresType: PostgresType { Element.postgresArrayType }

  /// Appends the format of `array_send`: dimensions, whether there are NULLs, element type; length and lower bound of
  /// the dimension; length and bytes of each element, -1 for NULL. An empty array has no dimension.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(Int32(isEmpty ? 0 : 1))
    bytes.appendInteger(Int32(contains { $0.isPostgresNull } ? 1 : 0))
    bytes.appendInteger(Element.postgresType.rawValue)
    if isEmpty { return }
    bytes.appendInteger(Int32(count))
    bytes.appendInteger(Int32(1))
    for element in self {
      if element.isPostgresNull {
        bytes.appendInteger(Int32(-1))
        continue
      }
      let start = bytes.count
      bytes.appendInteger(Int32(0))
      element.encodePostgres(into: &bytes)
      let length = Int32(bytes.count - start - 4).bigEndian
      bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: Int32.self) }
    }
  }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
  /// Decodes an array with at most one dimension, and without NULL unless the elements are optional.
  public static func decodePostgres(_ value: PostgresValue) throws -> [Element] {
    guard let bytes = value.bytes else { throw PostgresValue.Mismatch("it is NULL") }
    var position = 0
    func next() throws -> Int32 {
      guard position + 4 <= bytes.count else { throw PostgresValue.Mismatch("it is not an array") }
      defer { position += 4 }
      return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Int32.self))
    }
    let dimensions = try next()
    _ = try next()
    let type = PostgresType(rawValue: UInt32(bitPattern: try next()))
    if dimensions == 0, bytes.count == 12 { return [] }
    guard dimensions == 1, bytes.count >= 20 else {
      throw PostgresValue.Mismatch("it is not an array, or has several dimensions")
    }
    let count = Int(try next())
    _ = try next()
    // Each element takes four bytes at least.
    guard count >= 0, count <= bytes.count / 4 else { throw PostgresValue.Mismatch("it is not an array") }
    var result: [Element] = []
    result.reserveCapacity(count)
    for _ in 0..<count {
      let length = Int(try next())
      if length == -1 {
        result.append(try Element.decodePostgres(PostgresValue(type: type, bytes: nil)))
        continue
      }
      guard length >= 0, position + length <= bytes.count else { throw PostgresValue.Mismatch("it is not an array") }
      let element = UnsafeRawBufferPointer(rebasing: bytes[position..<position + length])
      position += length
      result.append(try Element.decodePostgres(PostgresValue(type: type, bytes: element)))
    }
    return result
  }
}
