public import Foundation

/// The OID of a data type, as in `pg_type`.
///
///     func isJSON(_ value: PostgresValue) -> Bool {
///       value.type == .json || value.type == .jsonb
///     }
public struct PostgresType: RawRepresentable, Sendable, Hashable {
  /// The OID.
  public let rawValue: UInt32

  /// Creates a type from any OID. Types of extensions and enums have one of 16384 or above.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// `boolean`
  public static let bool = PostgresType(rawValue: 16)
  /// `bytea`
  public static let bytea = PostgresType(rawValue: 17)
  /// `smallint`
  public static let int2 = PostgresType(rawValue: 21)
  /// `integer`
  public static let int4 = PostgresType(rawValue: 23)
  /// `bigint`
  public static let int8 = PostgresType(rawValue: 20)
  /// `real`
  public static let float4 = PostgresType(rawValue: 700)
  /// `double precision`
  public static let float8 = PostgresType(rawValue: 701)
  /// `text`
  public static let text = PostgresType(rawValue: 25)
  /// `uuid`
  public static let uuid = PostgresType(rawValue: 2950)
  /// `timestamp with time zone`
  public static let timestamptz = PostgresType(rawValue: 1184)
  /// `json`
  public static let json = PostgresType(rawValue: 114)
  /// `jsonb`
  public static let jsonb = PostgresType(rawValue: 3802)

  static let char = PostgresType(rawValue: 18)
  static let name = PostgresType(rawValue: 19)
  static let oid = PostgresType(rawValue: 26)
  static let xid = PostgresType(rawValue: 28)
  static let xml = PostgresType(rawValue: 142)
  static let unknown = PostgresType(rawValue: 705)
  static let bpchar = PostgresType(rawValue: 1042)
  static let varchar = PostgresType(rawValue: 1043)
  static let cstring = PostgresType(rawValue: 2275)

  static let boolArray = PostgresType(rawValue: 1000)
  static let byteaArray = PostgresType(rawValue: 1001)
  static let int4Array = PostgresType(rawValue: 1007)
  static let textArray = PostgresType(rawValue: 1009)
  static let int8Array = PostgresType(rawValue: 1016)
  static let float8Array = PostgresType(rawValue: 1022)
  static let timestamptzArray = PostgresType(rawValue: 1185)
  static let uuidArray = PostgresType(rawValue: 2951)
  static let jsonbArray = PostgresType(rawValue: 3807)

  /// Whether the binary form is the text itself, as for the character types and for user-defined types (enums,
  /// `citext`).
  var isTextual: Bool {
    switch self {
    case .text, .varchar, .bpchar, .name, .unknown, .char, .json, .xml, .cstring: true
    default: rawValue >= 16384
    }
  }
}

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

/// A JSON text, sent as `jsonb` and read from `jsonb` or `json`.
///
///     let attributes = PostgresJSON(data: Data(#"{"pinned": true}"#.utf8))
///     let query: PostgresQuery = "UPDATE items SET attributes = \(attributes)"
///     print(query.sql)  // UPDATE items SET attributes = $1
public struct PostgresJSON: Sendable, Hashable {
  /// The text in UTF-8. `jsonb` returns the same value, with the server's own whitespace and key order.
  public var data: Data

  /// Creates a value from a text in UTF-8, which the server validates (SQLSTATE 22P02).
  public init(data: Data) {
    self.data = data
  }
}

extension PostgresJSON: PostgresEncodable, PostgresDecodable {
  /// `jsonb`
  public static var postgresType: PostgresType { .jsonb }

  /// Appends the version number 1 and the text, as `jsonb_recv` expects.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(1)
    bytes.append(contentsOf: data)
  }

  /// Decodes a `jsonb` or `json`.
  public static func decodePostgres(_ value: PostgresValue) throws -> PostgresJSON {
    let bytes = try value.bytes(of: .jsonb, .json)
    if value.type == .json { return PostgresJSON(data: Data(bytes)) }
    guard bytes.first == 1 else { throw PostgresValue.Mismatch("its jsonb version is not 1") }
    return PostgresJSON(data: Data(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())))
  }
}
