public import Foundation

/// A JSON text, sent as `jsonb` and read from `jsonb` or `json`.
public struct PostgresJSON: Sendable, Hashable {
  /// The text in UTF-8. What comes back from `jsonb` is the same value, with white space and key order of the
  /// server's own.
  public var data: Data

  /// A text, which the server checks (SQLSTATE 22P02).
  public init(data: Data) {
    self.data = data
  }
}

extension PostgresJSON: PostgresEncodable, PostgresDecodable {
  /// `jsonb`
  public static var postgresType: PostgresType { .jsonb }

  /// The version number 1 and the text, as `jsonb_recv` wants it.
  public func encodePostgres(into bytes: inout [UInt8]) {
    bytes.append(1)
    bytes.append(contentsOf: data)
  }

  /// From `jsonb` or `json`.
  public static func decodePostgres(_ value: PostgresValue) throws -> PostgresJSON {
    let bytes = try value.bytes(of: .jsonb, .json)
    if value.type == .json { return PostgresJSON(data: Data(bytes)) }
    guard bytes.first == 1 else { throw PostgresValue.Mismatch("it is of an unknown version") }
    return PostgresJSON(data: Data(UnsafeRawBufferPointer(rebasing: bytes.dropFirst())))
  }
}
