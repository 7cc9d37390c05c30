internal import CLibXML2
internal import News
internal import SafeHTML

/// Escapes the ampersands of XML that begin no reference, removes references to characters that XML forbids, and replaces
/// the names of HTML's entities by numbers.
///
/// These are the most common errors of feeds, above all in links: `<link>https://example.org/?a=1&b=2</link>`. The names
/// of HTML are in so common use without a declaration that they are not reported. Other names are text.
///
/// Entities that the document declares are replaced by their texts outside of entries, such as in the title of a feed. In an
/// entry they are left to the parser, which refuses them. Comments, CDATA sections and processing instructions are left
/// unchanged. Lines keep their numbers.
struct ReferenceRepair {
  /// The maximum length of a name in bytes. A longer one begins with a plain ampersand.
  private static let maximumNameBytes = 64

  /// The maximum number of bytes by which declared entities are replaced. Beyond it, their names are text.
  private static let maximumReplacedBytes = 64 * 1024
  /// The local names of elements that are read as a whole, or not at all.
  private static let wholes: Set<String> = ["item", "entry", "opml"]

  /// A part of XML in which ampersands have no meaning.
  private struct Opaque {
    let start: [UInt8]
    /// The end without its last byte, which is `>`.
    let end: [UInt8]
  }

  private static let opaque = OpaqueMarkup.all.map { Opaque(start: $0.start, end: $0.end.dropLast()) }

  private enum Reference {
    /// A reference of that length in bytes, and its text if it has to be changed.
    case complete(Int, changed: [UInt8]?)
    /// A reference of that length to a character that XML forbids.
    case forbidden(Int)
    case stray
    /// A reference to an entity that nothing declares.
    case unknown
    /// More bytes are needed.
    case open
  }

  /// The problems found, each kind once.
  private(set) var problems: [FeedProblem] = []

  private var line: Int
  /// The texts of the entities that the document declares, as escaped XML; nil for those without one.
  private let entities: [String: [UInt8]?]
  private var replacedBytes = 0
  /// Whether the current position is inside of an entry. It is only known if the document declares entities.
  private var isInWhole = false
  /// The bytes since a `<` that may be the start of an opaque part.
  private var mark: [UInt8] = []
  /// The opaque part around the current position.
  private var around: Opaque?
  /// The end of its bytes so far.
  private var tail: [UInt8] = []
  /// The start of an incomplete reference.
  private var held: [UInt8] = []

  /// - Parameters:
  ///   - firstLine: The number of the first line of the input.
  ///   - entities: The entities that the document declares: their texts as escaped XML, or nil for those without one.
  init(firstLine: Int, entities: [String: [UInt8]?] = [:]) {
    line = firstLine
    self.entities = entities
  }

  /// Repairs more of the document. The result does not depend on how the bytes are divided.
  mutating func repaired(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
    let input = held + bytes
    held = []
    var output: [UInt8] = []
    output.reserveCapacity(input.count)
    var index = 0
    while index < input.count {
      let plain = input[index...].prefix(plainCount(input[index...]))
      output += plain
      index += plain.count
      guard index < input.count else { break }
      if around == nil, !entities.isEmpty, input[index] == UInt8(ascii: "<"), !enter(input[index...], isLast: isLast) {
        held = Array(input[index...])
        break
      }
      guard around == nil, input[index] == UInt8(ascii: "&") else {
        follow(input[index])
        output.append(input[index])
        index += 1
        continue
      }
      mark = []
      switch reference(in: input[index...], isLast: isLast) {
      case .complete(let length, let changed):
        output += changed ?? Array(input[index..<index + length])
        index += length
      case .forbidden(let length):
        note("has references to characters that XML does not allow; they are removed", input[..<index])
        index += length
      case .stray:
        note("has ampersands that are not escaped; they are read as text", input[..<index])
        output += "&amp;".utf8
        index += 1
      case .unknown:
        note("refers to entities that are unknown; their names are read as text", input[..<index])
        output += "&amp;".utf8
        index += 1
      case .open:
        held = Array(input[index...])
        index = input.count
      }
    }
    line += bytes.count { $0 == UInt8(ascii: "\n") }
    return output
  }

  /// Returns the number of bytes that change nothing. They are copied together.
  private mutating func plainCount(_ bytes: ArraySlice<UInt8>) -> Int {
    if let around {
      let count = bytes.prefix { $0 != UInt8(ascii: ">") }.count
      tail = Array((tail + bytes.prefix(count).suffix(around.end.count)).suffix(around.end.count))
      return count
    }
    guard mark.isEmpty else { return 0 }
    return bytes.prefix { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }.count
  }

  private mutating func note(_ message: String, _ before: ArraySlice<UInt8>) {
    guard problems.allSatisfy({ $0.message != message }) else { return }
    let place = line + before.count { $0 == UInt8(ascii: "\n") }
    problems.append(FeedProblem(position: .line(place), message: message))
  }

  /// Follows the starts and ends of tags and opaque parts. Inside an opaque part, the byte is a `>`.
  private mutating func follow(_ byte: UInt8) {
    if let part = around {
      if tail == part.end { around = nil } else { tail = [byte] }
    } else if byte == UInt8(ascii: "<") {
      mark = [byte]
    } else if !mark.isEmpty {
      mark.append(byte)
      let candidates = Self.opaque.filter { $0.start.starts(with: mark) }
      if candidates.isEmpty {
        mark = []
      } else if let part = candidates.first(where: { $0.start.count == mark.count }) {
        (around, tail, mark) = (part, [], [])
      }
    }
  }

  /// Notes whether a tag begins or ends an entry.
  ///
  /// - Returns: false if more bytes are needed.
  private mutating func enter(_ tag: ArraySlice<UInt8>, isLast: Bool) -> Bool {
    let limit = Self.maximumNameBytes
    let name = tag.dropFirst().prefix(limit).prefix { Self.isNameByte($0) || $0 == UInt8(ascii: "/") }
    if name.count < limit, name.endIndex == tag.endIndex, !isLast { return false }
    let isEnd = name.first == UInt8(ascii: "/")
    let local = name.split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }.last ?? []
    if Self.wholes.contains(String(decoding: local, as: UTF8.self)) { isInWhole = !isEnd }
    return true
  }

  /// Examines the bytes from an ampersand on (XML 1.0 section 4.1).
  private mutating func reference(in bytes: ArraySlice<UInt8>, isLast: Bool) -> Reference {
    let name = bytes.dropFirst().prefix(Self.maximumNameBytes).prefix { Self.isNameByte($0) || $0 == 0x23 }
    guard let end = bytes.dropFirst(1 + name.count).first else {
      return isLast ? .stray : .open
    }
    guard end == UInt8(ascii: ";"), let first = name.first else { return .stray }
    let length = name.count + 2
    if first == UInt8(ascii: "#") { return character(name.dropFirst(), length: length) }
    let isName = !(first.isASCIIDigit || first == UInt8(ascii: "-") || first == UInt8(ascii: "."))
    guard isName, !name.contains(UInt8(ascii: "#")) else { return .stray }
    let text = String(decoding: name, as: UTF8.self)
    if Self.ownNames.contains(text) { return .complete(length, changed: nil) }
    if let numbers = Self.numbers(of: text) { return .complete(length, changed: numbers) }
    guard let declared = entities[text] else { return .unknown }
    if isInWhole { return .complete(length, changed: nil) }
    guard let declared, replacedBytes + declared.count <= Self.maximumReplacedBytes else { return .unknown }
    replacedBytes += declared.count
    return .complete(length, changed: declared)
  }

  /// The names of XML.
  private static let ownNames: Set<String> = ["amp", "lt", "gt", "quot", "apos"]

  /// Returns the characters of an HTML entity as numeric references; nil for unknown names.
  private static func numbers(of name: String) -> [UInt8]? {
    let old = htmlEntityLookup(name).flatMap { Unicode.Scalar($0.pointee.value) }
    let characters = old.map { String($0) } ?? HTMLEntities.characters(named: name)
    return characters.map { Array($0.unicodeScalars.map { "&#\($0.value);" }.joined().utf8) }
  }

  private func character(_ number: ArraySlice<UInt8>, length: Int) -> Reference {
    let isHexadecimal = number.first.map { $0 | 0x20 == UInt8(ascii: "x") } == true
    let digits = isHexadecimal ? number.dropFirst() : number
    let text = String(decoding: digits, as: UTF8.self)
    guard !digits.isEmpty, digits.allSatisfy({ isHexadecimal ? $0.isASCIIHexDigit : $0.isASCIIDigit }) else {
      return .stray
    }
    guard let value = UInt32(text, radix: isHexadecimal ? 16 : 10), Self.isAllowed(value) else {
      return .forbidden(length)
    }
    // XML knows only the small letter.
    return .complete(length, changed: isHexadecimal ? Array("&#x\(text);".utf8) : nil)
  }

  /// Whether XML allows the character (XML 1.0 section 2.2).
  private static func isAllowed(_ value: UInt32) -> Bool {
    switch value {
    case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte.isASCIIDigit || byte.isASCIILetter || "-._:".utf8.contains(byte)
  }
}
