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
