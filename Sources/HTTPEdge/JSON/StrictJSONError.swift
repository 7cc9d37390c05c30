/// The reason for which a body is not accepted as JSON, and its position.
package struct StrictJSONError: Error, Hashable, Sendable {
  /// The kind of error.
  package enum Reason: Hashable, Sendable {
    /// A body of whitespace only.
    case empty
    /// U+FEFF at the start, which RFC 8259 section 8.1 forbids to senders.
    case byteOrderMark
    /// A byte that is not valid UTF-8 at its position: stray, missing or overlong, a surrogate, or beyond U+10FFFF.
    case notUTF8
    /// The body ends before its value does.
    case unexpectedEnd
    /// A byte that does not begin any of the expected elements.
    case unexpected(expected: String)
    /// A number that RFC 8259 section 6 does not allow, such as `01`, `1.` or `+1`.
    case malformedNumber
    /// An integer beyond 64 bits, or another number that is too great for a double or has too many digits.
    case numberOutOfRange
    /// A character below U+0020 that is not escaped.
    case controlCharacter
    /// A backslash before anything but `"\/bfnrt`, or `u` and four hexadecimal digits.
    case malformedEscape
    /// One half of a surrogate pair without the other, which encodes no character.
    case loneSurrogate
    /// U+0000, escaped.
    case nulCharacter
    /// A string with more than 30 combining marks in a row, which is not in Stream-Safe Text Format (UAX #15-D4).
    case tooManyMarks
    /// A key of more than ``JSONValue/maximumKeyLength`` bytes.
    case keyTooLong
    /// A key that is repeated in its object.
    case duplicateKey(String)
    /// Arrays and objects nested deeper than ``JSONValue/maximumDepth``.
    case tooDeep
    /// Content after the value.
    case trailingContent
  }

  /// The kind of error.
  package var reason: Reason
  /// The index of the first invalid byte; the length of the body if it ends too early.
  package var offset: Int

  /// - Parameters:
  ///   - reason: The kind of error.
  ///   - offset: The index of the first invalid byte; the length of the body if it ends too early.
  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// A sentence for the sender of the body. It quotes nothing from the body except the start of a repeated key.
  package var message: String {
    switch reason {
    case .empty: "The body is empty, but a JSON value is required."
    case .byteOrderMark: "The body starts with a byte order mark, which JSON does not allow."
    case .notUTF8: "The body is not valid UTF-8 at byte \(offset)."
    case .unexpectedEnd: "The body is not valid JSON: it ends at byte \(offset), before its value is complete."
    case .unexpected(let expected): "The body is not valid JSON: expected \(expected) at byte \(offset)."
    case .malformedNumber: "The body is not valid JSON: malformed number at byte \(offset)."
    case .numberOutOfRange: "The number at byte \(offset) is out of range."
    case .controlCharacter: "The body is not valid JSON: control character in a string, not escaped, at byte \(offset)."
    case .malformedEscape: "The body is not valid JSON: malformed escape in a string at byte \(offset)."
    case .loneSurrogate: "The escape at byte \(offset) is one half of a surrogate pair without the other."
    case .nulCharacter: "The string escape \\u0000 at byte \(offset) is not allowed."
    case .tooManyMarks: "The string at byte \(offset) has more than 30 combining marks in a row."
    case .keyTooLong: "The key at byte \(offset) is longer than \(JSONValue.maximumKeyLength) bytes."
    case .duplicateKey(let key): "The key \"\(Self.excerpt(of: key))\" at byte \(offset) is repeated in its object."
    case .tooDeep:
      "The array or object at byte \(offset) is nested too deeply: at most \(JSONValue.maximumDepth) levels are allowed."
    case .trailingContent: "The body is not valid JSON: unexpected content after the value at byte \(offset)."
    }
  }

  /// Returns the first 64 scalars of a key, because a message must be short. Control characters, which are invisible,
  /// are replaced by U+FFFD.
  private static func excerpt(of key: String) -> String {
    var excerpt = String.UnicodeScalarView()
    for scalar in key.unicodeScalars.prefix(64) {
      excerpt.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(excerpt) + (key.unicodeScalars.dropFirst(64).isEmpty ? "" : "…")
  }
}

extension StrictJSONError: CustomStringConvertible {
  /// The ``message``.
  package var description: String { message }
}
