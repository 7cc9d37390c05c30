/// The parser behind ``JSONValue/parse(_:)``: recursive descent, which examines each byte a fixed number of times.
///
/// Foundation's parser is not used because it accepts repeated keys and U+0000, and reports no positions.
struct StrictJSON {
  /// The maximum length of a number with a fraction or exponent, in bytes. Converting digits to a `Double` takes more
  /// than linear time. The greatest `Double`, written out, has 309 digits.
  private static let maximumNumberLength = 400

  private let bytes: [UInt8]
  private let limitsMarks: Bool
  private var position = 0
  /// The number of open arrays and objects.
  private var depth = 0

  init(bytes: [UInt8], limitsMarks: Bool) {
    self.bytes = bytes
    self.limitsMarks = limitsMarks
  }

  /// Parses the whole text. The caller may call it only once.
  mutating func parse() throws(StrictJSONError) -> JSONValue {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw error(.byteOrderMark, at: 0) }
    if let offset = Self.firstInvalidByte(inUTF8: bytes) { throw error(.notUTF8, at: offset) }
    skipWhitespace()
    guard position < bytes.count else { throw error(.empty, at: 0) }
    let value = try value()
    skipWhitespace()
    guard position == bytes.count else { throw error(.trailingContent, at: position) }
    return value
  }

  private func error(_ reason: StrictJSONError.Reason, at offset: Int) -> StrictJSONError {
    StrictJSONError(reason: reason, offset: offset)
  }

  /// The error for the byte at `position`, or for the end of the text.
  private func unexpected(expected: String) -> StrictJSONError {
    error(position < bytes.count ? .unexpected(expected: expected) : .unexpectedEnd, at: position)
  }

  /// The byte at `position`; nil at the end.
  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipWhitespace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }
}

// MARK: - Values

extension StrictJSON {
  private mutating func value() throws(StrictJSONError) -> JSONValue {
    guard let byte = current else { throw error(.unexpectedEnd, at: position) }
    switch byte {
    case UInt8(ascii: "{"): return try nested { parser throws(StrictJSONError) in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser throws(StrictJSONError) in try parser.array() }
    case UInt8(ascii: "\""):
      let start = position
      let text = try string()
      guard !limitsMarks || text.isStreamSafe else { throw error(.tooManyMarks, at: start) }
      return .string(text)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: throw unexpected(expected: "a value")
    }
  }

  private mutating func literal(_ word: StaticString, _ value: JSONValue) throws(StrictJSONError) -> JSONValue {
    let start = position
    for offset in 0..<word.utf8CodeUnitCount {
      guard let byte = current else { throw error(.unexpectedEnd, at: position) }
      guard byte == word.utf8Start[offset] else { throw error(.unexpected(expected: "a value"), at: start) }
      position += 1
    }
    return value
  }

  /// Parses an array or object, one level deeper.
  private mutating func nested(
    _ body: (inout StrictJSON) throws(StrictJSONError) -> JSONValue
  ) throws(StrictJSONError) -> JSONValue {
    guard depth < JSONValue.maximumDepth else { throw error(.tooDeep, at: position) }
    depth += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func array() throws(StrictJSONError) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipWhitespace()
    if skip("]") { return .array(elements) }
    while true {
      skipWhitespace()
      elements.append(try value())
      skipWhitespace()
      if skip("]") { return .array(elements) }
      guard skip(",") else { throw unexpected(expected: "\",\" or \"]\"") }
    }
  }

  private mutating func object() throws(StrictJSONError) -> JSONValue {
    position += 1
    var members: [String: JSONValue] = [:]
    skipWhitespace()
    if skip("}") { return .object(members) }
    while true {
      skipWhitespace()
      let start = position
      guard current == UInt8(ascii: "\"") else { throw unexpected(expected: "a key in double quotes") }
      let key = try string()
      // Hashing a key sorts its combining characters into canonical order, in time quadratic in their number. A key
      // of a megabyte would take minutes.
      guard key.utf8.count <= JSONValue.maximumKeyLength else { throw error(.keyTooLong, at: start) }
      if members[key] != nil { throw error(.duplicateKey(key), at: start) }
      skipWhitespace()
      guard skip(":") else { throw unexpected(expected: "\":\" after a key") }
      skipWhitespace()
      members[key] = try value()
      skipWhitespace()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw unexpected(expected: "\",\" or \"}\"") }
    }
  }
}

// MARK: - Numbers

extension StrictJSON {
  private mutating func number() throws(StrictJSONError) -> JSONValue {
    let start = position
    let isNegative = skip("-")
    let digits = position
    guard skipDigits() > 0 else { throw malformedNumber(at: start) }
    if bytes[digits] == UInt8(ascii: "0"), position - digits > 1 { throw error(.malformedNumber, at: start) }
    let integerEnd = position
    if skip(".") {
      guard skipDigits() > 0 else { throw malformedNumber(at: start) }
    }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      guard skipDigits() > 0 else { throw malformedNumber(at: start) }
    }
    if position == integerEnd { return .integer(try integer(digits..<integerEnd, isNegative: isNegative, at: start)) }
    guard position - start <= Self.maximumNumberLength,
      let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite
    else { throw error(.numberOutOfRange, at: start) }
    return .number(value)
  }

  private func malformedNumber(at start: Int) -> StrictJSONError {
    position < bytes.count ? error(.malformedNumber, at: start) : error(.unexpectedEnd, at: position)
  }

  /// - Returns: The number of digits.
  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = current, byte.isDigit { position += 1 }
    return position - start
  }

  private func integer(_ digits: Range<Int>, isNegative: Bool, at start: Int) throws(StrictJSONError) -> Int {
    // The value is accumulated as a negative number, because `Int.min` has no positive counterpart.
    var value = 0
    for byte in bytes[digits] {
      let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
      let (difference, overflow) = product.subtractingReportingOverflow(Int(byte - UInt8(ascii: "0")))
      if productOverflow || overflow { throw error(.numberOutOfRange, at: start) }
      value = difference
    }
    if isNegative { return value }
    guard value > Int.min else { throw error(.numberOutOfRange, at: start) }
    return -value
  }
}

// MARK: - Strings

extension StrictJSON {
  private mutating func string() throws(StrictJSONError) -> String {
    position += 1
    var start = position
    // The bytes decoded so far. Most strings have no escapes and are copied unchanged.
    var decoded: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        let rest = bytes[start..<position]
        position += 1
        return String(decoding: decoded.isEmpty ? rest : decoded + rest, as: UTF8.self)
      case UInt8(ascii: "\\"):
        decoded += bytes[start..<position]
        decoded += try escape().utf8
        start = position
      case 0..<0x20:
        throw error(.controlCharacter, at: position)
      default:
        position += 1
      }
    }
    throw error(.unexpectedEnd, at: position)
  }

  /// Parses the escape at `position`, or both escapes of a surrogate pair.
  private mutating func escape() throws(StrictJSONError) -> Unicode.Scalar {
    let start = position
    position += 1
    guard let byte = current else { throw error(.unexpectedEnd, at: position) }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw error(.malformedEscape, at: start)
    }
    let unit = try hexadecimal(of: start)
    if unit == 0 { throw error(.nulCharacter, at: start) }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard UTF16.isLeadSurrogate(unit), skip("\\"), skip("u") else { throw error(.loneSurrogate, at: start) }
    let trail = try hexadecimal(of: position - 2)
    guard UTF16.isTrailSurrogate(trail) else { throw error(.loneSurrogate, at: start) }
    guard let scalar = Unicode.Scalar(0x10000 + UInt32(unit - 0xD800) << 10 + UInt32(trail - 0xDC00)) else {
      throw error(.loneSurrogate, at: start)
    }
    return scalar
  }

  /// Parses the four digits of a `\u` escape that begins at `start`.
  private mutating func hexadecimal(of start: Int) throws(StrictJSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = current else { throw error(.unexpectedEnd, at: position) }
      guard let digit = byte.hexadecimalValue else { throw error(.malformedEscape, at: start) }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

// MARK: - UTF-8

extension StrictJSON {
  /// Returns the index of the first invalid byte, or the length if the last character is incomplete; nil for valid
  /// UTF-8 (Unicode 16, section 3.9, table 3-7).
  private static func firstInvalidByte(inUTF8 bytes: [UInt8]) -> Int? {
    var index = 0
    while index < bytes.count {
      let lead = bytes[index]
      index += 1
      if lead < 0x80 { continue }
      // The number of continuation bytes, and the valid range of the first one.
      let (count, first): (Int, ClosedRange<UInt8>)
      switch lead {
      case 0xC2...0xDF: (count, first) = (1, 0x80...0xBF)
      case 0xE0: (count, first) = (2, 0xA0...0xBF)
      case 0xED: (count, first) = (2, 0x80...0x9F)
      case 0xE1...0xEF: (count, first) = (2, 0x80...0xBF)
      case 0xF0: (count, first) = (3, 0x90...0xBF)
      case 0xF1...0xF3: (count, first) = (3, 0x80...0xBF)
      case 0xF4: (count, first) = (3, 0x80...0x8F)
      default: return index - 1
      }
      for offset in 0..<count {
        guard index < bytes.count, (offset == 0 ? first : 0x80...0xBF).contains(bytes[index]) else { return index }
        index += 1
      }
    }
    return nil
  }
}

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
