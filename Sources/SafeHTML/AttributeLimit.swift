/// Limits the attributes of a start tag before libxml2 parses it.
///
/// libxml2 compares each attribute of a tag with all previous ones: 60,000 of them take half a minute. This automaton
/// follows the tokens of its HTML parser up to version 2.13 (`htmlParseStartTag`, `htmlParseAttribute`,
/// `htmlParseHTMLName`). Later versions, and the stricter XML parser, find no more attributes than it.
///
/// The automaton cannot know whether a `<` is inside a comment, a script or a quoted value. It therefore treats each
/// one as the start of a tag, and follows all tags at once. Among the tags in one state only the greatest number of
/// attributes counts. The cost of a byte thus does not depend on the number of open tags.
package struct AttributeLimit {
  /// The position of a byte in a tag.
  private enum State: Int, CaseIterable {
    /// After `<`.
    case opening
    case tagName
    /// Where an attribute may begin.
    case between
    case name
    case afterName
    case afterEquals
    case doubleQuoted
    case singleQuoted
    case unquoted
    /// Text that begins no attribute, which is skipped up to a blank.
    case bogus
  }

  /// The syntax of the input.
  package enum Syntax: Sendable {
    case html
    /// Names may have any character beyond ASCII, and only attributes with a value count.
    case xml
  }

  /// The length in bytes at which libxml2's HTML parser ends a name, whatever follows (`HTML_PARSER_BUFFER_SIZE`).
  private static let nameLength = 100

  private let maximum: Int
  private let isXML: Bool
  /// The states of the open tags, as bits.
  private var active: UInt16 = 0
  /// The greatest number of attributes of a tag, by state.
  private var counts = [Int](repeating: 0, count: State.allCases.count)
  private var nextCounts = [Int](repeating: 0, count: State.allCases.count)
  /// The length in bytes of the longest unfinished name.
  private var length = 0

  /// - Parameter maximum: The maximum number of attributes of a tag.
  package init(maximum: Int, syntax: Syntax = .html) {
    self.maximum = maximum
    isXML = syntax == .xml
  }

  /// Removes the bytes that would begin a further attribute. Separators stay, so that no end of a tag, comment or
  /// quoted value is lost.
  package static func applied(to bytes: [UInt8], maximum: Int) -> [UInt8] {
    var limit = AttributeLimit(maximum: maximum)
    guard let first = bytes.firstIndex(where: { !limit.accepts($0) }) else { return bytes }
    var output = Array(bytes[..<first])
    for byte in bytes[(first + 1)...] where limit.accepts(byte) { output.append(byte) }
    return output
  }

  /// Reads a byte, unless it would belong to an attribute beyond the limit.
  ///
  /// - Returns: Whether the byte was read.
  package mutating func accepts(_ byte: UInt8) -> Bool {
    let isOpening = byte == UInt8(ascii: "<")
    if active == 0 {
      if isOpening { enter(.opening, count: 0) }
      return true
    }
    let isNameByte = isNameByte(byte)
    let length = isNameByte ? self.length + 1 : 0
    let isCut = length > Self.nameLength && !isXML
    var (rest, next) = (active, UInt16(0))
    while rest != 0 {
      let index = rest.trailingZeroBitCount
      rest &= rest - 1
      guard let state = State(rawValue: index),
        let successor = successor(of: state, byte, isNameByte: isNameByte, isCut: isCut)
      else { continue }
      let isCounted =
        isXML ? successor == .afterEquals && state != successor : successor == .name && (state != .name || isCut)
      let count = counts[index] + (isCounted ? 1 : 0)
      if count > maximum { return false }
      let bit = UInt16(1) << successor.rawValue
      nextCounts[successor.rawValue] = next & bit == 0 ? count : max(nextCounts[successor.rawValue], count)
      next |= bit
    }
    active = next
    swap(&counts, &nextCounts)
    self.length = isCut ? 1 : length
    if isOpening { enter(.opening, count: 0) }
    return true
  }

  private mutating func enter(_ state: State, count: Int) {
    active |= 1 << state.rawValue
    counts[state.rawValue] = count
  }

  private func successor(of state: State, _ byte: UInt8, isNameByte: Bool, isCut: Bool) -> State? {
    let isBlank = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    switch state {
    case .doubleQuoted: return byte == UInt8(ascii: "\"") ? .between : state
    case .singleQuoted: return byte == UInt8(ascii: "'") ? .between : state
    case .opening:
      return isNameStart(byte) ? .tagName : nil
    case _ where byte == UInt8(ascii: ">"):
      return nil
    case .unquoted, .bogus:
      return isBlank ? .between : state
    case .tagName where isNameByte:
      return isCut ? .name : .tagName
    case .name where isNameByte:
      return .name
    case .afterEquals where isBlank:
      return .afterEquals
    case .afterEquals:
      return byte == UInt8(ascii: "\"") ? .doubleQuoted : byte == UInt8(ascii: "'") ? .singleQuoted : .unquoted
    case .name where isBlank, .afterName where isBlank:
      return .afterName
    case .name where byte == UInt8(ascii: "="), .afterName where byte == UInt8(ascii: "="):
      return .afterEquals
    case .tagName, .between, .name, .afterName:
      return isBlank ? .between : isNameStart(byte) ? .name : .bogus
    }
  }

  private func isNameStart(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
      || byte == UInt8(ascii: ".") || isXML && byte >= 0x80
  }

  private func isNameByte(_ byte: UInt8) -> Bool {
    isNameStart(byte) || byte.isASCIIDigit || byte == UInt8(ascii: "-")
  }
}
