public import Foundation

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
