/// Access to the bytes of a field value in place, as a bounds-checked `Span`: parsing a condition allocates nothing.
extension StringProtocol {
  /// Calls `body` with the UTF-8 bytes of the text. They are copied only if they are not contiguous.
  @inline(__always)
  func withFieldBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable({ body($0.span) }) { return result }
    return body(Array(utf8).span)
  }

  /// The field value without surrounding whitespace, which is not part of it (RFC 9110 section 5.5).
  package var fieldContent: String {
    withFieldBytes { bytes in
      bytes.extracting(bytes.fieldContent).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension Span where Element == UInt8 {
  /// The range without surrounding whitespace, which RFC 9110 section 5.5 excludes from the field value.
  var fieldContent: Range<Int> {
    let start = indexAfterWhitespace(from: 0)
    var end = count
    while end > start, self[end - 1].isFieldWhitespace { end -= 1 }
    return start..<end
  }

  /// Returns the first index at or after `index` that is not optional whitespace (RFC 9110 section 5.6.3), or `count`.
  func indexAfterWhitespace(from index: Int) -> Int {
    var index = index
    while index < count, self[index].isFieldWhitespace { index += 1 }
    return index
  }

  /// Returns the first index at or after `index` that is neither whitespace nor a comma, or `count`. Skipping several
  /// commas at once ignores the empty list elements of RFC 9110 section 5.6.1.2.
  func indexOfListMember(from index: Int) -> Int {
    var index = index
    while index < count, self[index].isFieldWhitespace || self[index] == .comma { index += 1 }
    return index
  }

  /// Whether the bytes of `range` spell `lowercase`, ignoring ASCII case.
  func spells(_ lowercase: StaticString, in range: Range<Int>) -> Bool {
    guard range.count == lowercase.utf8CodeUnitCount else { return false }
    return lowercase.withUTF8Buffer { expected in
      for offset in 0..<range.count where self[range.lowerBound + offset].lowercasedASCII != expected[offset] {
        return false
      }
      return true
    }
  }
}

extension UInt8 {
  static var tab: UInt8 { 0x09 }
  static var space: UInt8 { 0x20 }
  static var quote: UInt8 { 0x22 }
  static var asterisk: UInt8 { 0x2A }
  static var comma: UInt8 { 0x2C }
  static var hyphen: UInt8 { 0x2D }
  static var dot: UInt8 { 0x2E }
  static var slash: UInt8 { 0x2F }
  static var colon: UInt8 { 0x3A }
  static var semicolon: UInt8 { 0x3B }
  static var equals: UInt8 { 0x3D }

  var isFieldWhitespace: Bool { self == .space || self == .tab }

  /// The value of a decimal digit, or nil.
  var digitValue: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }

  var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

  /// Whether the byte is an `etagc` (RFC 9110 section 8.8.3): a visible character other than the double quote, or a
  /// byte above ASCII. The comma is one of them.
  var isEntityTagCharacter: Bool { self == 0x21 || (0x23...0x7E).contains(self) || self >= 0x80 }
}
