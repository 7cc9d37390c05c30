public import Foundation

/// A type whose values can be read from a column.
///
///     struct Revision: PostgresDecodable {
///       let number: Int64
///       static func decodePostgres(_ value: PostgresValue) throws -> Revision {
///         Revision(number: try Int64.decodePostgres(value))
///       }
///     }
public protocol PostgresDecodable: Sendable {
  /// Decodes a value.
  ///
  /// - Throws: `PostgresValue.Mismatch`, or any other error, if the value is not one of this type. The caller receives
  ///   a `PostgresError` that names the column and both types.
  static func decodePostgres(_ value: PostgresValue) throws -> Self
}

/// One field of a row, valid during a call of `decodePostgres` only.
///
///     struct RawBytes: PostgresDecodable {
///       let bytes: [UInt8]
///       static func decodePostgres(_ value: PostgresValue) throws -> RawBytes {
///         guard let bytes = value.bytes else { throw PostgresValue.Mismatch("it is NULL") }
///         return RawBytes(bytes: Array(bytes))
///       }
///     }
public struct PostgresValue {
  /// The type of the column or array element.
  public let type: PostgresType
  /// The binary form, nil for NULL.
  public let bytes: UnsafeRawBufferPointer?

  /// The error for a value that does not have the requested type.
  ///
  ///     func positive(_ number: Int) throws -> Int {
  ///       guard number > 0 else { throw PostgresValue.Mismatch("it is not positive") }
  ///       return number
  ///     }
  public struct Mismatch: Error {
    /// The reason, which quotes no data.
    public let reason: String

    /// Creates an error with a reason, which must not quote data.
    public init(_ reason: String) {
      self.reason = reason
    }
  }

  /// Returns the bytes of a value that has one of the types and, unless `count` is nil, this number of bytes.
  ///
  /// - Throws: `Mismatch`
  func bytes(of types: PostgresType..., count: Int? = nil) throws -> UnsafeRawBufferPointer {
    guard let bytes else { throw Mismatch("it is NULL") }
    guard types.contains(type) else { throw Mismatch("the types differ") }
    if let count, bytes.count != count { throw Mismatch("it has \(bytes.count) bytes") }
    return bytes
  }

  /// Returns the value of an integer type, if it fits into `Number`.
  ///
  /// - Throws: `Mismatch`
  func integer<Number: FixedWidthInteger>(_: Number.Type) throws -> Number {
    guard let bytes else { throw Mismatch("it is NULL") }
    let number: Int64
    switch (type, bytes.count) {
    case (.int8, 8): number = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case (.int4, 4): number = Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case (.int2, 2): number = Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case (.oid, 4), (.xid, 4): number = Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    default: throw Mismatch("the types differ")
    }
    guard let result = Number(exactly: number) else { throw Mismatch("it does not fit") }
    return result
  }
}

/// Decodes enumerations and other raw-representable types from their raw value.
extension PostgresDecodable where Self: RawRepresentable, RawValue: PostgresDecodable {
  /// Decodes the raw value.
  ///
  /// - Throws: `PostgresValue.Mismatch` if no case has it.
  public static func decodePostgres(_ value: PostgresValue) throws -> Self {
    guard let result = Self(rawValue: try RawValue.decodePostgres(value)) else {
      throw PostgresValue.Mismatch("no case has the value")
    }
    return result
  }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
  /// Decodes NULL as nil.
  public static func decodePostgres(_ value: PostgresValue) throws -> Self {
    value.bytes == nil ? nil : try Wrapped.decodePostgres(value)
  }
}

extension Bool: PostgresDecodable {
  /// Decodes a `boolean`.
  public static func decodePostgres(_ value: PostgresValue) throws -> Bool {
    try value.bytes(of: .bool, count: 1)[0] != 0
  }
}

extension Int: PostgresDecodable {
  /// Decodes a `bigint`, `integer`, `smallint`, `oid` or `xid`.
  public static func decodePostgres(_ value: PostgresValue) throws -> Int { try value.integer(Int.self) }
}

extension Int32: PostgresDecodable {
  /// Decodes any integer type, if the value fits.
  public static func decodePostgres(_ value: PostgresValue) throws -> Int32 { try value.integer(Int32.self) }
}

extension Int64: PostgresDecodable {
  /// Decodes a `bigint`, `integer`, `smallint`, `oid` or `xid`.
  public static func decodePostgres(_ value: PostgresValue) throws -> Int64 { try value.integer(Int64.self) }
}

extension Double: PostgresDecodable {
  /// Decodes a `double precision` or `real`.
  public static func decodePostgres(_ value: PostgresValue) throws -> Double {
    let bytes = try value.bytes(of: .float8, .float4)
    switch bytes.count {
    case 8: return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    case 4: return Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))))
    default: throw PostgresValue.Mismatch("it has \(bytes.count) bytes")
    }
  }
}

extension String: PostgresDecodable {
  /// Decodes the character types, `json`, `xml`, and types whose binary form is text, such as enums.
  public static func decodePostgres(_ value: PostgresValue) throws -> String {
    guard let bytes = value.bytes else { throw PostgresValue.Mismatch("it is NULL") }
    guard value.type.isTextual else { throw PostgresValue.Mismatch("the types differ") }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UUID: PostgresDecodable {
  /// Decodes a `uuid`.
  public static func decodePostgres(_ value: PostgresValue) throws -> UUID {
    UUID(uuid: try value.bytes(of: .uuid, count: 16).loadUnaligned(as: uuid_t.self))
  }
}

extension Data: PostgresDecodable {
  /// Decodes a `bytea`.
  public static func decodePostgres(_ value: PostgresValue) throws -> Data {
    Data(try value.bytes(of: .bytea))
  }
}

extension Date: PostgresDecodable {
  /// Decodes a `timestamp with time zone`; infinity is rejected.
  public static func decodePostgres(_ value: PostgresValue) throws -> Date {
    let bytes = try value.bytes(of: .timestamptz, count: 8)
    let microseconds = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    guard microseconds != .max, microseconds != .min else { throw PostgresValue.Mismatch("it is infinite") }
    return Date(postgresMicroseconds: microseconds)
  }
}

/// A type whose values can be parameters of a query.
///
///     struct Revision: PostgresEncodable {
///       var number: Int64
///       static var postgresType: PostgresType { .int8 }
///       func encodePostgres(into bytes: inout [UInt8]) { number.encodePostgres(into: &bytes) }
///     }
///     let query: PostgresQuery = "SELECT id FROM items WHERE revision > \(Revision(number: 7))"
///     print(query.sql)  // SELECT id FROM items WHERE revision > $1
public protocol PostgresEncodable: Sendable {
  /// The parameter type that is sent to the server.
  static var postgresType: PostgresType { get }

  /// Whether the value is NULL. NULL is not encoded.
  var isPostgresNull: Bool { get }

  /// Appends the value in the binary form of its type (that of the `typsend` function).
  func encodePostgres(into bytes: inout [UInt8])
}

extension PostgresEncodable {
  /// False, the default.
  public var isPostgresNull: Bool { false }
}

/// Encodes enumerations and other raw-representable types as their raw value.
extension PostgresEncodable where Self: RawRepresentable, RawValue: PostgresEncodable {
  /// The type of the raw value.
  public static var postgresType: PostgresType { RawValue.postgresType }

  /// Appends the raw value.
  public func encodePostgres(into bytes: inout [UInt8]) {
    rawValue.encodePostgres(into: &bytes)
  }
}

extension [UInt8] {
  /// Appends an integer in network byte order.
  mutating func appendInteger(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
  /// The type of the wrapped value.
  public static var postgresType: PostgresType { Wrapped.postgresType }

  /// Whether the value is nil, or wraps NULL.
  public var isPostgresNull: Bool { self?.isPostgresNull ?? true }

  /// Appends the wrapped value.
  public func encodePostgres(into bytes: inout [UInt8]) {
    self?.encodePostgres(into: &bytes)
  }
}

extension Bool: PostgresEncodable {
  /// `boolean`
  public static var postgresType: PostgresType { .bool }

  /// Appends one byte, 0 or 1.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(self ? 1 : 0)
  }
}

extension Int: PostgresEncodable {
  /// `bigint`
  public static var postgresType: PostgresType { .int8 }

  /// Appends eight bytes in network byte order.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(Int64(self))
  }
}

extension Int32: PostgresEncodable {
  /// `integer`
  public static var postgresType: PostgresType { .int4 }

  /// Appends four bytes in network byte order.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(self)
  }
}

extension Int64: PostgresEncodable {
  /// `bigint`
  public static var postgresType: PostgresType { .int8 }

  /// Appends eight bytes in network byte order.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(self)
  }
}

extension Double: PostgresEncodable {
  /// `double precision`
  public static var postgresType: PostgresType { .float8 }

  /// Appends the IEEE 754 form, eight bytes in network byte order.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(bitPattern)
  }
}

extension String: PostgresEncodable {
  /// `text`
  public static var postgresType: PostgresType { .text }

  /// Appends the text in UTF-8. The server rejects U+0000 with SQLSTATE 22021.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: utf8)
  }
}

extension UUID: PostgresEncodable {
  /// `uuid`
  public static var postgresType: PostgresType { .uuid }

  /// Appends sixteen bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) }
  }
}

extension Data: PostgresEncodable {
  /// `bytea`
  public static var postgresType: PostgresType { .bytea }

  /// Appends the bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: self)
  }
}

extension Date: PostgresEncodable {
  /// `timestamp with time zone`
  public static var postgresType: PostgresType { .timestamptz }

  /// Appends the microseconds since 2000, rounded to the nearest. The server rejects values outside its range (SQLSTATE
  /// 22008).
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(postgresMicroseconds)
  }

  /// The microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
  private static let postgresEpoch: Int64 = 946_684_800_000_000

  /// The microseconds since 2000. `Int64.max` and `Int64.min` would mean infinity, so a date that does not fit becomes
  /// `Int64.max - 1`, which the server rejects as out of range.
  var postgresMicroseconds: Int64 {
    let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
    guard abs(microseconds) < 9.2e18 else { return .max - 1 }
    return Int64(microseconds) - Self.postgresEpoch
  }

  /// Creates a date from microseconds since 2000. The sum is one of integers, so that whole milliseconds of the Unix
  /// epoch come back as the very same `Double`. In the last year of the server's range, 294276, the sum exceeds
  /// `Int64`.
  init(postgresMicroseconds microseconds: Int64) {
    let (sum, hasOverflowed) = microseconds.addingReportingOverflow(Self.postgresEpoch)
    let exact = hasOverflowed ? Double(microseconds) + Double(Self.postgresEpoch) : Double(sum)
    self.init(timeIntervalSince1970: exact / 1_000_000)
  }
}
