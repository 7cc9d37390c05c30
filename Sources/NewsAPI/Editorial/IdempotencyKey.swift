import HTTPEdge
import HTTPTypes
import News

/// The name of a request that its client may repeat: the field `Idempotency-Key`
/// (draft-ietf-httpapi-idempotency-key-header).
///
/// The draft's form is a string in quotes (RFC 8941 section 3.3.3). Many clients send the text alone; both are the same key.
struct IdempotencyKey: Sendable, Equatable {
  /// The length of a key in characters, all of which are ASCII.
  static let lengths = 1...255
  private static let rule = """
    must be one string in quotes (RFC 8941), or one token without quotes, of \(lengths.lowerBound) to \
    \(lengths.upperBound) ASCII characters
    """

  /// The text without quotes.
  let text: String

  /// Reads the field.
  ///
  /// - Returns: nil if the request has no such field.
  /// - Throws: `ProblemError`, 400, if the field is malformed or repeated.
  init?(_ headers: HTTPFields) throws(ProblemError) {
    let lines = headers[values: .idempotencyKey]
    if lines.isEmpty { return nil }
    guard lines.count == 1, let text = Self.text(of: lines[0][...].trimmed.utf8), Self.lengths ~= text.count else {
      throw ProblemError.invalidParameters([FieldError(field: "Idempotency-Key", rule: Self.rule)])
    }
    self.text = String(decoding: text, as: UTF8.self)
  }

  /// - Returns: nil if the value has neither form.
  private static func text(of value: some Collection<UInt8>) -> [UInt8]? {
    guard value.first == quote else { return value.allSatisfy(isTokenByte) ? Array(value) : nil }
    var text: [UInt8] = []
    var rest = value.dropFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case quote: return rest.isEmpty ? text : nil
      case backslash:
        guard let escaped = rest.popFirst(), [quote, backslash].contains(escaped) else { return nil }
        text.append(escaped)
      case 0x20...0x7E: text.append(byte)
      default: return nil
      }
    }
    return nil
  }

  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")

  /// Whether a byte can be part of a token (RFC 9110 section 5.6.2), or of Base64.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "!#$%&'*+-.^_`|~:/=".utf8.contains(byte)
  }
}
