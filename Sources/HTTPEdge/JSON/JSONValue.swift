/// A JSON value (RFC 8259) in the body of a request.
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
  /// The members by key. Canonically equivalent keys (Unicode) count as one key.
  case object([String: JSONValue])

  /// The maximum nesting depth of arrays and objects.
  package static let maximumDepth = 32
  /// The maximum length of a key in bytes of UTF-8, after its escapes are decoded.
  package static let maximumKeyLength = 256

  /// The elements of an array of strings; nil for any other value.
  package var strings: [String]? {
    guard case .array(let elements) = self else { return nil }
    let strings = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    return strings.count == elements.count ? strings : nil
  }

  /// Compares values. Strings are equal if their bytes are, which takes linear time for any text.
  package static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.number(let one), .number(let other)): one == other
    case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }

  /// Parses a whole body, in time proportional to its length.
  ///
  /// - Parameter bytes: The body in UTF-8, without a byte order mark: exactly one value of any kind, with optional
  ///   whitespace around it.
  /// - Parameter limitsMarks: Whether strings must be in Stream-Safe Text Format, so that they are compared and hashed in
  ///   linear time. Keys are, because they are short.
  /// - Throws: The first error and its position.
  package static func parse(
    _ bytes: some Sequence<UInt8>, limitsMarks: Bool = false
  ) throws(StrictJSONError) -> JSONValue {
    var parser = StrictJSON(bytes: Array(bytes), limitsMarks: limitsMarks)
    return try parser.parse()
  }
}
