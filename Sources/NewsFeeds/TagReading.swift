internal import News
internal import SafeHTML

/// Decides whether the tags of a text are markup or words about markup, as in "When <script> tags block".
///
/// A tag is markup if there is evidence that it acts: it can show something, its end tag follows, or it is glued to the
/// text like no word. Tags that stand alone like words are words, and so are pairs in a sentence, as in "The <p> and </p>
/// tags". Attributes, several like pairs and tags directly around a pair are evidence against such a sentence. An element
/// that would swallow the rest of the text, because it is never closed, is a word in any case.
///
/// The time is proportional to the size of the text.
struct TagReading {
  /// A tag of a text.
  private struct Tag {
    var range: Range<Int>
    var name: String
    var isEnd: Bool
    var isKnown: Bool
    var hasAttributes = false
    var address = Address.none
    /// Whether the tag stands between blanks or punctuation like a word.
    var isWord = false
    /// Whether a blank or punctuation is directly before the tag, and directly after it. A quotation mark is
    /// punctuation if it does not belong to a word beside it.
    var isOpen = false
    var isClosed = false
    /// Whether a quotation mark, a bracket or a comma around the tag says that it is named.
    var isQuoted = false
    /// Whether it begins a text or a line.
    var isFirst = false
    var isLast = false
    /// Whether only blanks are between another tag and this one.
    var isAfterTag = false
    var isBeforeTag = false
    /// Whether a new sentence may begin at the tag.
    var isAtSentence = false
    /// Whether a blank and a small letter follow, so that a sentence goes on.
    var isBeforeSmallLetter = false
    /// Whether the text goes on directly after the tag, and no word ends directly before it.
    var opensText = false
    var pair = Pair.missing
  }

  /// The address of what an element shows.
  private enum Address { case none, relative, absolute }

  /// The other tag of a tag.
  private enum Pair {
    case missing
    case markup
    /// A sentence names both tags.
    case words
    /// A sentence joins both tags with a conjunction.
    case joined
  }

  /// The elements whose content is not shown as text. Unclosed, they swallow the rest.
  private static let swallowing: Set<String> = [
    "audio", "canvas", "head", "iframe", "math", "noembed", "noframes", "noscript", "object", "option", "plaintext",
    "script", "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
  ]
  /// The elements that act without an end tag.
  private static let single: Set<String> = [
    "blockquote", "dd", "div", "dt", "li", "p", "td", "th", "tr",
  ]
  /// The elements of a line, which act around any text.
  private static let inline: Set<String> = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "blink", "cite", "code", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var",
  ]
  /// The elements whose content has a vocabulary of its own.
  private static let foreign: Set<String> = ["math", "svg"]
  /// The elements without content that show a document of their own.
  private static let embeds: Set<String> = ["bgsound", "embed", "frame", "iframe", "object", "source"]
  private static let maximumNameBytes = 16
  /// The words and signs that join two tags in a sentence. Those that are also other words in a common language, such as
  /// "a", "do" and "of", are left out.
  private static let conjunctions = Set(
    """
    & &amp; and or to until through und oder bis et ou à y o e hasta até ed fino en tot og och eller till til i oraz lub \
    albo nebo až alebo ili és vagy și sau ve veya tai sekä või un vai ir arba dan atau và kaj eta agus και ή и или до і \
    та або чи و أو او یا או ו और या এবং และ หรือ 和 与 與 或 及 到 至 と や または 와 과 및 또는
    """.split(separator: " ").map(String.init))

  /// Whether any tag is markup.
  private(set) var isMarkup = false

  private let bytes: [UInt8]
  private let isLine: Bool
  /// The place of the first character that is not blank, and the place after the last one.
  private let firstPlace: Int?
  private let lastPlace: Int
  private var tags: [Tag] = []
  /// The places of `<` that begin no tag, but would hide what follows.
  private var words: [Int] = []

  /// - Parameter isLine: Whether the text is a title or a name, in which only elements of lines act.
  init(_ text: String, isLine: Bool) {
    bytes = Array(text.utf8)
    self.isLine = isLine
    firstPlace = bytes.firstIndex { $0 > 0x20 }
    lastPlace = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? 0
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

  private func acts(_ tag: Tag, count: Int = 0) -> Bool {
    guard tag.isKnown else { return false }
    if tag.pair != .missing { return tag.pair == .markup }
    let isSingle = Self.single.contains(tag.name)
    switch tag.name {
    case "br", "hr", "wbr": return !tag.isQuoted && (!isLine && tag.name != "wbr" || !tag.isWord)
    case "img": return tag.hasAttributes && !tag.isWord || tag.address == .absolute || !isLine && tag.address != .none
    case _ where Self.swallowing.contains(tag.name) || SafeHTML.isVoid(tag.name):
      let isShown = tag.address == .absolute && Self.embeds.contains(tag.name)
      return !isLine && tag.hasAttributes && (!tag.isWord || isShown)
    case _ where tag.isEnd: return !tag.isWord
    case _ where isLine: return tag.hasAttributes || !isSingle ? tag.opensText : !tag.isWord
    case _ where !isSingle && !tag.hasAttributes: return tag.opensText
    default:
      if !tag.isWord { return true }
      let isStart = tag.isFirst || isSingle && tag.isAtSentence
      return isStart && (!tag.isBeforeSmallLetter || tag.isFirst && count > 2)
    }
  }

  private func isWordInMarkup(_ tag: Tag) -> Bool {
    if tag.pair == .joined { return true }
    if isLine, tag.isKnown { return !acts(tag) && (!tag.isEnd || tag.pair != .missing) }
    guard tag.pair == .missing, !tag.hasAttributes, bytes[tag.range.upperBound - 2] != UInt8(ascii: "/") else {
      return false
    }
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
    var rest = bytes[(start + (isEnd ? 2 : 1))...]
    if rest.starts(with: "mml:".utf8) { rest = rest.dropFirst(4) }
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
      case UInt8(ascii: ">"): return index + 1
      case UInt8(ascii: "<"): return nil
      case UInt8(ascii: "="):
        guard !tag.isEnd else { break }
        tag.hasAttributes = true
        readAddress(of: &tag, after: index)
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard tag.hasAttributes, !missing.contains(byte) else { break }
        if let end = bytes[(index + 1)...].firstIndex(of: byte) { index = end } else { missing.insert(byte) }
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Reads the address of what an element shows, if the attribute before `=` has one.
  private func readAddress(of tag: inout Tag, after place: Int) {
    let name = String(decoding: bytes[max(tag.range.upperBound, place - 4)..<place], as: UTF8.self).lowercased()
    guard ["src", "set", "data", "url"].contains(where: name.hasSuffix), tag.address != .absolute else { return }
    let value = bytes[(place + 1)...].drop { " \t\r\n\"'".utf8.contains($0) }
    let isAbsolute = ["http://", "https://", "/"].contains { value.starts(with: $0.utf8) }
    tag.address = isAbsolute ? .absolute : .relative
  }

  /// Describes what is around a tag.
  private func describe(_ tag: inout Tag) {
    let (start, end) = (tag.range.lowerBound, tag.range.upperBound)
    let before = start == 0 ? nil : bytes[start - 1]
    let after = end == bytes.count ? nil : bytes[end]
    let isInQuotes = before.map { "([{".utf8.contains($0) } == true || opensQuotation(before: start)
    // A comma without a blank belongs to a list of tags, or else to the sentence that a tag breaks.
    let isInList = before == UInt8(ascii: ",") && start > 1 && bytes[start - 2] == UInt8(ascii: ">")
    let isAfterDash = hasMark(at: start - 3) && quotationMark(at: start - 3) == 0
    tag.isOpen = before.map { $0 <= 0x20 || $0 == UInt8(ascii: "/") } ?? true || isInQuotes || isInList || isAfterDash
    let isBeforeMark = after.map { ")]}/.,;:!?".utf8.contains($0) } == true || closesQuotation(after: end)
    let isBeforeDash = hasMark(at: end) && quotationMark(at: end) == 0
    tag.isClosed = after.map { $0 <= 0x20 } ?? true || isBeforeMark || isBeforeDash
    tag.isWord = tag.isOpen && tag.isClosed
    tag.isFirst = start == firstPlace || before == UInt8(ascii: "\n")
    tag.isLast = end >= lastPlace
    let afterLetter = before.map { $0.isASCIILetter || $0.isASCIIDigit } ?? false
    tag.opensText = !tag.isClosed && !afterLetter
    let isBeforeEllipsis = bytes[end...].starts(with: "..".utf8)
    tag.isQuoted = tag.isWord && (isInQuotes || isBeforeMark && !isBeforeEllipsis) || isNamed(after: end)
    let previous = bytes[..<start].last { $0 > 0x20 }
    tag.isAtSentence = !isInQuotes && (previous.map { ".!?:;>".utf8.contains($0) } ?? true || endsSentence(start))
    tag.isAfterTag = previous == UInt8(ascii: ">")
    let next = bytes[end...].first { $0 > 0x20 }
    tag.isBeforeTag = next == UInt8(ascii: "<")
    tag.isBeforeSmallLetter = after.map { $0 <= 0x20 } == true && next.map { 0x61...0x7A ~= $0 } == true
  }

  /// Whether one of the marks … ” » 。 ！ ？ is before a place, and blanks.
  private func endsSentence(_ place: Int) -> Bool {
    guard let last = bytes[..<place].lastIndex(where: { $0 > 0x20 }) else { return true }
    return ["\u{2026}", "\u{201D}", "\u{BB}", "\u{3002}", "\u{FF01}", "\u{FF1F}"].contains {
      bytes[...last].suffix($0.utf8.count).elementsEqual($0.utf8)
    }
  }

  /// Whether a word such as "tag" or "element" follows.
  private func isNamed(after end: Int) -> Bool {
    let rest = bytes[end...].prefix(9).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }
    let word = String(decoding: rest.prefix { $0.isASCIILetter }, as: UTF8.self).lowercased()
    return word.hasPrefix("tag") || word.hasPrefix("element")
  }

  /// Whether a character of the block "General Punctuation", such as a dash, is at a place.
  private func hasMark(at place: Int) -> Bool {
    place >= 0 && place + 2 < bytes.count && bytes[place] == 0xE2 && bytes[place + 1] == 0x80
  }

  /// The number of bytes of the quotation mark at a place; 0 if there is none.
  private func quotationMark(at place: Int) -> Int {
    guard bytes.indices.contains(place) else { return 0 }
    if "'\"`".utf8.contains(bytes[place]) { return 1 }
    return hasMark(at: place) && (0x98...0x9F ~= bytes[place + 2] || 0xB9...0xBA ~= bytes[place + 2]) ? 3 : 0
  }

  /// Whether a quotation mark is directly before a place, and no word directly before the mark.
  private func opensQuotation(before place: Int) -> Bool {
    guard let count = [1, 3].first(where: { quotationMark(at: place - $0) == $0 }) else { return false }
    guard place > count else { return true }
    let previous = bytes[place - count - 1]
    return !(isPartOfWord(previous) || previous >= 0x80 || ".,!?)".utf8.contains(previous))
  }

  /// Whether a quotation mark is directly after a place, and no word directly after the mark.
  private func closesQuotation(after place: Int) -> Bool {
    let count = quotationMark(at: place)
    guard count > 0, place + count < bytes.count else { return count > 0 }
    let next = bytes[place + count]
    return !isPartOfWord(next) && (next < 0x80 || hasMark(at: place + count))
  }

  private func isPartOfWord(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte.isASCIIDigit }

  // MARK: Pairs

  private mutating func pair() {
    var open: [String: [Int]] = [:]
    let ends = Dictionary(tags.lazy.filter(\.isEnd).map { ($0.name, 1) }, uniquingKeysWith: +)
    // The number of characters outside of tags.
    var counts: [Int] = []
    var (count, place) = (0, 0)
    for index in tags.indices {
      count += bytes[place..<tags[index].range.lowerBound].count { $0 > 0x20 }
      place = tags[index].range.upperBound
      counts.append(count)
      let name = tags[index].name
      guard tags[index].isEnd else {
        open[name, default: []].append(index)
        continue
      }
      guard let start = open[name]?.popLast() else { continue }
      let isRepeated = ends[name] ?? 0 > 1
      let pair = meaning(tags[start], tags[index], hasContent: counts[start] < count, isRepeated: isRepeated)
      (tags[start].pair, tags[index].pair) = (pair, pair)
    }
  }

  /// - Parameters:
  ///   - hasContent: Whether the pair has text inside.
  ///   - isRepeated: Whether the text has several pairs with this name. An author who formats with an element escapes its
  ///     name in a sentence.
  private func meaning(_ start: Tag, _ end: Tag, hasContent: Bool, isRepeated: Bool) -> Pair {
    let isWhole = start.isFirst && end.isLast
    let isBesideTag = start.isAfterTag || end.isBeforeTag
    let isInline = Self.inline.contains(start.name)
    let isSwallowing = Self.swallowing.contains(start.name)
    let isApart = start.isOpen && end.isClosed
    let content = bytes[start.range.upperBound..<end.range.lowerBound]
    if isApart, !start.hasAttributes, !isWhole, !isBesideTag, !(isInline && isRepeated) {
      if joins(content) { return .joined }
      if isEllipsis(content), !isInline { return .joined }
      // Excerpts have an emphasised ellipsis, too.
      if isEllipsis(content), !start.isFirst, !end.isLast { return .words }
    }
    if Self.foreign.contains(start.name), start.isBeforeTag, content.contains(where: { $0 > 0x20 }) { return .markup }
    if isLine, isSwallowing { return start.hasAttributes && hasContent ? .markup : .words }
    if isInline { return hasContent || start.hasAttributes || !isApart ? .markup : .words }
    guard hasContent else {
      return isApart && start.address == .none && (isLine || !start.isFirst && !start.isAtSentence) ? .words : .markup
    }
    let isMentioned = start.isWord && end.isWord && !isWhole && !isRepeated && !start.hasAttributes
    let isInSentence = isLine ? !start.isFirst && !isBesideTag : !start.isFirst && !start.isAtSentence
    return isMentioned && isInSentence && (isLine || isSwallowing || !end.isLast) ? .words : .markup
  }

  /// Whether a text is a conjunction between blanks, such as " and " or " & ".
  private func joins(_ text: ArraySlice<UInt8>) -> Bool {
    let isApart = [text.first, text.last].allSatisfy { $0.map { $0 <= 0x20 } == true }
    return isApart && word(text).map(Self.conjunctions.contains) == true
  }

  private func isEllipsis(_ text: ArraySlice<UInt8>) -> Bool { ["...", "\u{2026}"].contains(word(text)) }

  /// The only word of a short text; nil for another one.
  private func word(_ text: ArraySlice<UInt8>) -> String? {
    let words = text.prefix(32).split { $0 <= 0x20 }
    return words.count == 1 && text.count < 32 ? String(decoding: words[0], as: UTF8.self) : nil
  }
}
