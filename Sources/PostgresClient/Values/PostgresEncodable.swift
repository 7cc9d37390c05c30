public import Foundation

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
