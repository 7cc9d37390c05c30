internal import News
internal import SafeHTML

/// Decides whether the tags of a text are markup or words about markup, as in "When <script> tags block".
///
/// A tag is markup if there is evidence that it acts: it has attributes, its end tag follows, or it is glued to the text
/// like no word. Tags that stand alone like words are words. An element that would swallow the rest of the text, because it
/// is never closed, is a word in any case.
struct TagReading {
  /// A tag of a text.
  private struct Tag {
    var range: Range<Int>
    var name: String
    var isEnd: Bool
    var isKnown: Bool
    var hasAttributes = false
    var isSelfClosing = false
    /// Whether the tag stands between blanks or punctuation like a word.
    var isWord = false
    /// Whether it begins a text or a line.
    var isFirst = false
    /// Whether the text goes on directly after the tag, and no word ends directly before it.
    var opensText = false
    /// Whether the other tag of its pair exists, and there is something between them.
    var isPaired = false
    var hasContent = false
  }

  /// The elements whose content is not shown as text. Unclosed, they swallow the rest.
  private static let swallowing: Set<String> = [
    "audio", "canvas", "head", "iframe", "math", "noembed", "noframes", "noscript", "object", "option", "plaintext",
    "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
  ]
  /// The elements that act without an end tag.
  private static let single: Set<String> = [
    "blockquote", "br", "dd", "div", "dt", "hr", "img", "li", "p", "td", "th", "tr", "wbr",
  ]
  private static let maximumNameBytes = 16

  /// Whether any tag is markup.
  private(set) var isMarkup = false

  private let bytes: [UInt8]
  private let isLine: Bool
  /// The place of the first character that is not blank.
  private let firstPlace: Int?
  private var tags: [Tag] = []
  /// The places of `<` that begin no tag, but would hide what follows.
  private var words: [Int] = []

  /// - Parameter isLine: Whether the text is a title or a name, in which only elements of lines act.
  init(_ text: String, isLine: Bool) {
    bytes = Array(text.utf8)
    self.isLine = isLine
    firstPlace = bytes.firstIndex { $0 > 0x20 }
    guard bytes.contains(UInt8(ascii: "<")) else { return }
    findTags()
    pair()
    let counts = Dictionary(tags.map { ($0.name, 1) }, uniquingKeysWith: +)
    isMarkup = isMarkup || tags.contains { acts($0, count: counts[$0.name] ?? 0) }
  }

  /// The text as HTML, in which the tags that are words are escaped.
  var source: String {
    let mentioned = isMarkup ? tags.filter { isWordInMarkup($0) } : tags
    let places = Set(mentioned.map(\.range.lowerBound) + words)
    if places.isEmpty { return String(decoding: bytes, as: UTF8.self) }
    var output: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if places.contains(index) { output += "&lt;".utf8 } else { output.append(byte) }
    }
    return String(decoding: output, as: UTF8.self)
  }

  private func acts(_ tag: Tag, count: Int) -> Bool {
    let isSwallowing = Self.swallowing.contains(tag.name)
    guard tag.isKnown, !isLine || !isSwallowing || tag.hasAttributes && tag.isPaired else { return false }
    if tag.hasAttributes || tag.isPaired && (tag.hasContent || !isLine) { return true }
    if isSwallowing { return false }
    if !isLine, tag.isSelfClosing || tag.isFirst && !tag.isEnd && Self.single.contains(tag.name) { return true }
    if !isLine, count > 1, Self.single.contains(tag.name) { return true }
    if tag.isEnd || Self.single.contains(tag.name) { return !tag.isWord }
    return tag.opensText
  }

  private func isWordInMarkup(_ tag: Tag) -> Bool {
    guard !tag.isPaired, !tag.hasAttributes, !tag.isSelfClosing else { return false }
    return tag.isKnown ? Self.swallowing.contains(tag.name) : !tag.isEnd
  }

  // MARK: Tags

  private mutating func findTags() {
    var index = 0
    // The quotation marks of which no more follow, so that each is searched once.
    var missing: Set<UInt8> = []
    while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start + 1
      if bytes[index...].starts(with: "!--".utf8) {
        guard let end = bytes[(index + 3)...].firstRange(of: "-->".utf8) else {
          words.append(start)
          return
        }
        isMarkup = isMarkup || !isLine
        index = end.upperBound
        continue
      }
      if bytes[index...].first == UInt8(ascii: "!") {
        readDeclaration(at: start)
        continue
      }
      guard var tag = tag(at: start) else {
        if hidesText(at: start) { words.append(start) }
        continue
      }
      guard let end = end(of: &tag, missing: &missing) else {
        if !tag.hasAttributes { words.append(start) }
        continue
      }
      tag.range = start..<end
      describe(&tag)
      tags.append(tag)
      index = end
    }
  }

  /// Reads a document type, which is markup at the start of a text.
  private mutating func readDeclaration(at start: Int) {
    let word = String(decoding: bytes[(start + 1)...].prefix(8), as: UTF8.self).lowercased()
    guard word == "!doctype" else { return }
    if start == firstPlace, !isLine { isMarkup = true } else { words.append(start) }
  }

  /// Whether HTML would take a text such as `<K, V>` for a tag.
  private func hidesText(at start: Int) -> Bool {
    let name = bytes[(start + 1)...].prefix(Self.maximumNameBytes).prefix { $0.isASCIILetter || $0.isASCIIDigit }
    guard name.first?.isASCIILetter == true, let next = bytes[name.endIndex...].first else { return false }
    return !(next.isASCIILetter || next.isASCIIDigit || "-:_. \t\r\n/>".utf8.contains(next))
  }

  private func tag(at start: Int) -> Tag? {
    let isEnd = start + 1 < bytes.count && bytes[start + 1] == UInt8(ascii: "/")
    let rest = bytes[(start + (isEnd ? 2 : 1))...]
    let name = rest.prefix(Self.maximumNameBytes + 1).prefix { $0.isASCIILetter || $0.isASCIIDigit }
    guard name.first?.isASCIILetter == true, name.count <= Self.maximumNameBytes,
      let next = rest.dropFirst(name.count).first, " \t\r\n/>".utf8.contains(next)
    else { return nil }
    let lowercased = String(decoding: name, as: UTF8.self).lowercased()
    return Tag(
      range: start..<name.endIndex, name: lowercased, isEnd: isEnd, isKnown: SafeHTML.isElement(lowercased))
  }

  /// Finds the end of a tag after its name, and its attributes on the way.
  private func end(of tag: inout Tag, missing: inout Set<UInt8>) -> Int? {
    var index = tag.range.upperBound
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: ">"):
        tag.isSelfClosing = bytes[index - 1] == UInt8(ascii: "/")
        return index + 1
      case UInt8(ascii: "<"): return nil
      case UInt8(ascii: "="):
        tag.hasAttributes = tag.hasAttributes || !tag.isEnd
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard tag.hasAttributes, !missing.contains(byte) else { break }
        if let end = bytes[(index + 1)...].firstIndex(of: byte) { index = end } else { missing.insert(byte) }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Describes what is around a tag.
  private func describe(_ tag: inout Tag) {
    let before = tag.range.lowerBound == 0 ? nil : bytes[tag.range.lowerBound - 1]
    let after = tag.range.upperBound == bytes.count ? nil : bytes[tag.range.upperBound]
    let isAtOpening = before.map { $0 <= 0x20 || "([{'\"`/,".utf8.contains($0) } ?? true
    let isAtClosing = after.map { $0 <= 0x20 || ")]}'\"`/.,;:!?".utf8.contains($0) } ?? true
    let isOpen = isAtOpening || endsWithMark(tag.range.lowerBound)
    let isClosed = isAtClosing || startsWithMark(tag.range.upperBound)
    tag.isWord = isOpen && isClosed
    tag.isFirst = tag.range.lowerBound == firstPlace || before == UInt8(ascii: "\n")
    let afterLetter = before.map { $0.isASCIILetter || $0.isASCIIDigit } ?? false
    tag.opensText = !isClosed && !afterLetter
  }

  /// Whether a character of the block "General Punctuation", such as a quotation mark, ends before a place.
  private func endsWithMark(_ place: Int) -> Bool {
    place >= 3 && bytes[place - 3] == 0xE2 && bytes[place - 2] == 0x80
  }

  private func startsWithMark(_ place: Int) -> Bool {
    place + 2 < bytes.count && bytes[place] == 0xE2 && bytes[place + 1] == 0x80
  }

  private mutating func pair() {
    var open: [String: [Int]] = [:]
    for index in tags.indices {
      let name = tags[index].name
      guard tags[index].isEnd else {
        open[name, default: []].append(index)
        continue
      }
      guard let start = open[name]?.popLast() else { continue }
      let content = bytes[tags[start].range.upperBound..<tags[index].range.lowerBound]
      for place in [start, index] {
        tags[place].isPaired = true
        tags[place].hasContent = content.contains { $0 > 0x20 }
      }
    }
  }
}
