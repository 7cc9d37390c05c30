public import Foundation

/// A value that can be a parameter of a query.
public protocol PostgresEncodable: Sendable {
  /// The type the server is told.
  static var postgresType: PostgresType { get }

  /// Whether the value is NULL; then it is not encoded.
  var isPostgresNull: Bool { get }

  /// Appends the binary form of the type (that of its `typsend` function).
  func encodePostgres(into bytes: inout [UInt8])
}

extension PostgresEncodable {
  /// False.
  public var isPostgresNull: Bool { false }
}

/// Enumerations and the like are sent as their raw value.
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

  /// True for nil.
  public var isPostgresNull: Bool { self?.isPostgresNull ?? true }

  /// Appends the wrapped value.
  public func encodePostgres(into bytes: inout [UInt8]) {
    self?.encodePostgres(into: &bytes)
  }
}

extension Bool: PostgresEncodable {
  /// `boolean`
  public static var postgresType: PostgresType { .bool }

  /// One byte, 0 or 1.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(self ? 1 : 0)
  }
}

extension Int: PostgresEncodable {
  /// `bigint`
  public static var postgresType: PostgresType { .int8 }

  /// Eight bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(Int64(self))
  }
}

extension Int32: PostgresEncodable {
  /// `integer`
  public static var postgresType: PostgresType { .int4 }

  /// Four bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(self)
  }
}

extension Int64: PostgresEncodable {
  /// `bigint`
  public static var postgresType: PostgresType { .int8 }

  /// Eight bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(self)
  }
}

extension Double: PostgresEncodable {
  /// `double precision`
  public static var postgresType: PostgresType { .float8 }

  /// IEEE 754.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(bitPattern)
  }
}

extension String: PostgresEncodable {
  /// `text`
  public static var postgresType: PostgresType { .text }

  /// UTF-8. The server refuses U+0000 with SQLSTATE 22021.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: utf8)
  }
}

extension UUID: PostgresEncodable {
  /// `uuid`
  public static var postgresType: PostgresType { .uuid }

  /// Sixteen bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) }
  }
}

extension Data: PostgresEncodable {
  /// `bytea`
  public static var postgresType: PostgresType { .bytea }

  /// The bytes.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(contentsOf: self)
  }
}

extension Date: PostgresEncodable {
  /// `timestamp with time zone`
  public static var postgresType: PostgresType { .timestamptz }

  /// Microseconds since 2000, rounded to the nearest. The server refuses what is out of its range (SQLSTATE 22008).
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.appendInteger(postgresMicroseconds)
  }

  /// From 1970-01-01 to 2000-01-01, where PostgreSQL's clock starts.
  private static let postgresEpoch: Int64 = 946_684_800_000_000

  /// Int64.max and .min would mean infinity; a date that does not fit becomes the next value to them, which the
  /// server refuses as out of range.
  var postgresMicroseconds: Int64 {
    let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
    guard abs(microseconds) < 9.2e18 else { return .max - 1 }
    return Int64(microseconds) - Self.postgresEpoch
  }

  /// The sum is one of integers, so that whole milliseconds of the Unix epoch come back as the very same `Double`. In the
  /// last year of the server's range, 294276, the sum is greater than an integer can be.
  init(postgresMicroseconds microseconds: Int64) {
    let (sum, hasOverflowed) = microseconds.addingReportingOverflow(Self.postgresEpoch)
    let exact = hasOverflowed ? Double(microseconds) + Double(Self.postgresEpoch) : Double(sum)
    self.init(timeIntervalSince1970: exact / 1_000_000)
  }
}
