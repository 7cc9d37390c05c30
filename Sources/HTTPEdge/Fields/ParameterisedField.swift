/// A field value with parameters, such as `multipart/form-data; boundary=x`.
package struct ParameterisedField {
  /// The syntax is wrong, or a parameter is repeated.
  package struct Malformed: Error {}

  /// The meaning of `\` in a quoted value.
  package enum Backslash {
    /// It escapes the next character (RFC 9110 section 5.6.4).
    case escapes
    /// It is a character like any other, as browsers send it in the names of files (HTML standard, section 4.10.21.8).
    case isLiteral
  }

  /// The value before the parameters, in lower case.
  package private(set) var value = ""
  /// The values of the parameters by name in lower case.
  package private(set) var parameters: [String: [UInt8]] = [:]

  private let acceptsNonTokens: Bool
  private var rest: ArraySlice<UInt8>

  /// Parses a field value (RFC 9110 section 5.6.6).
  ///
  /// - Parameter acceptsNonTokens: Whether a value without quotes needs not be a token. Clients also send names of files
  ///   that are none.
  /// - Throws: `Malformed`.
  package init(
    _ bytes: some Collection<UInt8>, backslash: Backslash, acceptsNonTokens: Bool = false
  ) throws(Malformed) {
    self.acceptsNonTokens = acceptsNonTokens
    rest = Array(bytes)[...]
    skipSpaces()
    value = Self.lowercased(rest.prefix { Self.isToken($0) || $0 == UInt8(ascii: "/") })
    guard !value.isEmpty else { throw Malformed() }
    rest = rest.dropFirst(value.utf8.count)
    while true {
      skipSpaces()
      guard let separator = rest.popFirst() else { return }
      guard separator == UInt8(ascii: ";") else { throw Malformed() }
      skipSpaces()
      let name = Self.lowercased(rest.prefix(while: Self.isToken))
      rest = rest.dropFirst(name.utf8.count)
      // An empty parameter is allowed.
      if name.isEmpty { continue }
      guard rest.popFirst() == UInt8(ascii: "=") else { throw Malformed() }
      let text = try rest.first == UInt8(ascii: "\"") ? quoted(backslash) : token()
      guard parameters.updateValue(text, forKey: name) == nil else { throw Malformed() }
    }
  }

  private mutating func skipSpaces() {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  private mutating func token() throws(Malformed) -> [UInt8] {
    let token = rest.prefix { acceptsNonTokens ? !" \t;,=\"".utf8.contains($0) : Self.isToken($0) }
    guard !token.isEmpty else { throw Malformed() }
    rest = rest.dropFirst(token.count)
    return Array(token)
  }

  private mutating func quoted(_ backslash: Backslash) throws(Malformed) -> [UInt8] {
    rest = rest.dropFirst()
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "\\") where backslash == .escapes:
        guard let next = rest.popFirst() else { throw Malformed() }
        text.append(next)
      default: text.append(byte)
      }
    }
    throw Malformed()
  }

  /// Returns a token in lower case.
  private static func lowercased(_ token: ArraySlice<UInt8>) -> String {
    String(decoding: token, as: UTF8.self).lowercased()
  }

  /// Whether a byte can be part of a token (RFC 9110 section 5.6.2).
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
