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

  private enum Reference {
    /// A reference of that length in bytes, and its text if it has to be changed.
    case complete(Int, changed: [UInt8]?)
    /// A reference of that length to a character that XML forbids.
    case forbidden(Int)
    /// An ampersand that is text.
    case text(problem: String)
    /// More bytes are needed.
    case open

    static let stray = Self.text(problem: "has ampersands that are not escaped; they are read as text")
    static let unknown = Self.text(problem: "refers to entities that are unknown; their names are read as text")
  }

  /// The problems found, each kind once.
  private(set) var problems: [FeedProblem] = []

  private var line: Int
  /// The texts of the entities that the document declares, as escaped XML; nil for those without one.
  private let entities: [String: [UInt8]?]
  private var replacedBytes = 0
  /// Whether the current position is inside of an entry. It is only known if the document declares entities.
  private var isInWhole = false
  /// The comment, section or instruction around the current position.
  private var around: OpaqueMarkup?
  /// The bytes whose meaning depends on those that follow.
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
    var rest = input[...]
    func copy(_ count: Int) {
      output += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    while !rest.isEmpty {
      if let part = around {
        let end = part.end(in: rest)
        if end != nil { around = nil } else if !isLast { held = rest.suffix(part.end.count - 1) }
        copy((end ?? rest.endIndex - held.count) - rest.startIndex)
        if end == nil { break }
      } else if rest.first == UInt8(ascii: "<") {
        let part = OpaqueMarkup.all.first(startingWith: rest)
        let isOpen = part == nil && !isLast && OpaqueMarkup.all.contains { $0.start.starts(with: rest) }
        guard !isOpen, entities.isEmpty || enter(rest, isLast: isLast) else {
          held = Array(rest)
          break
        }
        around = part
        copy(part?.start.count ?? 1)
      } else if rest.first == UInt8(ascii: "&") {
        let before = input[..<rest.startIndex]
        switch reference(in: rest, isLast: isLast) {
        case .complete(let length, let changed):
          output += changed ?? Array(rest.prefix(length))
          rest = rest.dropFirst(length)
        case .forbidden(let length):
          note("has references to characters that XML does not allow; they are removed", before)
          rest = rest.dropFirst(length)
        case .text(let problem):
          note(problem, before)
          output += "&amp;".utf8
          rest = rest.dropFirst()
        case .open:
          held = Array(rest)
          rest = []
        }
      } else {
        copy(rest.prefix { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }.count)
      }
    }
    line += input.dropLast(held.count).count { $0 == UInt8(ascii: "\n") }
    return output
  }

  private mutating func note(_ message: String, _ before: ArraySlice<UInt8>) {
    guard problems.allSatisfy({ $0.message != message }) else { return }
    let place = line + before.count { $0 == UInt8(ascii: "\n") }
    problems.append(FeedProblem(position: .line(place), message: message))
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
