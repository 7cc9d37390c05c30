/// A JSON value (RFC 8259) as the body of a request holds it.
package enum JSONValue: Sendable, Equatable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction and exponent; `-0` is 0.
  case integer(Int)
  /// A number written with a fraction or an exponent, `1.0` and `1e3` included; finite, and the nearest `Double`.
  case number(Double)
  /// A string without U+0000, which PostgreSQL's `text` cannot hold.
  case string(String)
  /// The elements in their order.
  case array([JSONValue])
  /// The members by key. Keys that Unicode holds to be equivalent count as one key.
  case object([String: JSONValue])

  /// Arrays and objects may lie this deep in one another.
  package static let maximumDepth = 32
  /// A key has at most this many bytes of UTF-8 once its escapes are resolved.
  package static let maximumKeyLength = 256

  /// Reads a whole body, in time that grows with its length alone.
  ///
  /// - Parameter bytes: The body in UTF-8, without a byte order mark: exactly one value, of whatever kind, with
  ///   whitespace around it.
  /// - Returns: The value.
  /// - Throws: The first fault, and the byte where it is.
  package static func parse(_ bytes: some Sequence<UInt8>) throws(StrictJSONError) -> JSONValue {
    var parser = StrictJSON(bytes: Array(bytes))
    return try parser.parse()
  }
}
