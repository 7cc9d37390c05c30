/// Keeps the words of a source that a parser of HTML would take for markup.
///
/// `The <iframe> tag is blocked`, `Array<Int>` and `I <3 you` name tags or have angle brackets, but are sentences. Their
/// `<` becomes `&lt;`. So does the text of elements that have no child elements, such as `textarea`. Comments and
/// instructions are removed. A wrong guess is harmless: the result is parsed as any other markup of unknown origin.
///
/// The time is proportional to the size. A search that has failed once is not repeated.
struct MarkupRepair {
  /// A start tag.
  struct Tag {
    /// The name in lower case; nil if no element can have such a name.
    var name: String?
    /// The offset after the name.
    var nameEnd: Int
    /// The offset of `>`.
    var end: Int
    var hasValues = false
    var isSelfClosing = false
  }

  private let source: [UInt8]
  private(set) var output: [UInt8] = []
  /// Whether the source has a tag or comment of HTML.
  private(set) var hasMarkup = false
  /// The offset of the last end tag of each name.
  private var lastEnds: [String: Int] = [:]
  private var started: Set<String> = []
  private var ignoresQuotes = false
  private var openSections = 0
  private let lastBracket: Int
  private let lastCommentEnd: Int

  private init(_ source: [UInt8]) {
    self.source = source
    lastBracket = source.lastIndex(of: UInt8(ascii: ">")) ?? -1
    lastCommentEnd = source.indices.last { Self.endsComment(source, at: $0) } ?? -1
    output.reserveCapacity(source.count + 64)
  }

  /// Returns the source with its words, and whether it is markup at all.
  static func repaired(_ source: [UInt8]) -> (markup: [UInt8], hasMarkup: Bool) {
    guard source.contains(UInt8(ascii: "<")) else { return (source, false) }
    var repair = MarkupRepair(source)
    repair.findEnds()
    repair.run()
    return (repair.output, repair.hasMarkup)
  }

  private mutating func findEnds() {
    var index = 0
    while let start = source[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = start + 1
      if byte(index) == UInt8(ascii: "/"), let name = name(at: index + 1).name { lastEnds[name] = start }
    }
  }

  private mutating func run() {
    var index = 0
    while let start = source[index...].firstIndex(of: UInt8(ascii: "<")) {
      copyText(source[index..<start])
      index = construct(at: start)
    }
    copyText(source[index...])
  }

  /// Copies text without the ends of CDATA sections, whose starts are removed.
  private mutating func copyText(_ text: ArraySlice<UInt8>) {
    guard openSections > 0 else {
      output += text
      return
    }
    var index = text.startIndex
    while index < text.endIndex {
      if openSections > 0, text[index...].starts(with: "]]>".utf8) {
        openSections -= 1
        index += 3
      } else {
        output.append(text[index])
        index += 1
      }
    }
  }

  /// Reads what begins with `<`, and returns the offset after it.
  private mutating func construct(at start: Int) -> Int {
    switch byte(start + 1) {
    case let next? where next.isASCIILetter: return startTag(at: start)
    case UInt8(ascii: "/") where byte(start + 2)?.isASCIILetter == true: return endTag(at: start)
    case UInt8(ascii: "!"): return declaration(at: start)
    case UInt8(ascii: "?") where start < lastBracket && source[(start + 2)...].starts(with: "xml".utf8):
      return bracket(after: start) + 1
    default: return literal(at: start)
    }
  }

  private mutating func literal(at start: Int) -> Int {
    output += "&lt;".utf8
    return start + 1
  }

  /// Reads a comment (HTML Standard section 13.1.6), a section or a document type.
  private mutating func declaration(at start: Int) -> Int {
    let rest = source[(start + 2)...]
    if rest.starts(with: "--".utf8) {
      let isEmpty = rest.dropFirst(2).first == UInt8(ascii: ">") || rest.dropFirst(2).starts(with: "->".utf8)
      guard isEmpty || start + 4 <= lastCommentEnd else { return literal(at: start) }
      hasMarkup = true
      if isEmpty { return bracket(after: start) + 1 }
      let end = (start + 4...lastCommentEnd).first { Self.endsComment(source, at: $0) } ?? lastCommentEnd
      return bracket(after: end) + 1
    }
    if rest.starts(with: "[CDATA[".utf8) {
      openSections += 1
      return start + 9
    }
    let isDeclaration = rest.first.map { $0.isASCIILetter || $0 == UInt8(ascii: "[") } == true
    guard isDeclaration, start < lastBracket else { return literal(at: start) }
    return bracket(after: start) + 1
  }

  private static func endsComment(_ source: [UInt8], at index: Int) -> Bool {
    let rest = source[index...]
    return rest.starts(with: "-->".utf8) || rest.starts(with: "--!>".utf8)
  }

  private func bracket(after start: Int) -> Int {
    source[start...].firstIndex(of: UInt8(ascii: ">")) ?? source.count - 1
  }

  // MARK: Tags

  private mutating func endTag(at start: Int) -> Int {
    guard start < lastBracket else { return literal(at: start) }
    let (written, nameEnd) = name(at: start + 2)
    guard let name = written else { return literal(at: start) }
    if !started.contains(name), TagMeaning(of: name) == .word { return literal(at: start) }
    hasMarkup = true
    if byte(nameEnd) == UInt8(ascii: "<") {
      // The end of this tag is missing.
      output += source[start..<nameEnd] + [UInt8(ascii: ">")]
      return nameEnd
    }
    let end = bracket(after: start) + 1
    output += source[start..<end]
    return end
  }

  private mutating func startTag(at start: Int) -> Int {
    guard start < lastBracket, let tag = tag(at: start) else { return literal(at: start) }
    guard let name = tag.name, !isLiteral(name, tag, from: start) else {
      return literal(at: start)
    }
    hasMarkup = true
    started.insert(name)
    let text = source[start...tag.end]
    if ignoresQuotes, text.count(where: { $0 == UInt8(ascii: "\"") }) % 2 + text.count(where: { $0 == 0x27 }) % 2 > 0 {
      output += source[start..<tag.nameEnd] + [UInt8(ascii: ">")]
    } else {
      output += text
    }
    guard !tag.isSelfClosing, TagMeaning.holdsText(name) else { return tag.end + 1 }
    return content(of: name, from: tag.end + 1)
  }

  /// Reads the content of an element that has only text.
  private mutating func content(of name: String, from start: Int) -> Int {
    let isCode = name == "script" || name == "style"
    guard lastEnds[name].map({ $0 >= start }) == true else {
      // An element without end would swallow the rest of the source.
      if isCode { output += "</\(name)>".utf8 }
      return start
    }
    var index = start
    while let next = source[index...].firstIndex(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) {
      output += source[index..<next]
      index = next + 1
      if source[next] == UInt8(ascii: "&") {
        // Only `xmp` has no references.
        output += name == "xmp" ? Array("&amp;".utf8) : [UInt8(ascii: "&")]
      } else if byte(next + 1) == UInt8(ascii: "/"), self.name(at: next + 2).name == name {
        return next
      } else if isCode {
        output.append(UInt8(ascii: "<"))
      } else {
        output += "&lt;".utf8
      }
    }
    return index
  }

  private func isLiteral(_ name: String, _ tag: Tag, from start: Int) -> Bool {
    if tag.hasValues {
      // The fragments that the sanitiser writes have such elements in code.
      return !["br", "hr", "img"].contains(name) && isCode(tag, from: start)
    }
    let meaning = TagMeaning(of: name)
    let isClosed = lastEnds[name].map { $0 > start } == true
    let words = source[tag.nameEnd..<tag.end].drop { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
    // No attribute has such a name, as in `a<b && c>d`.
    if words.contains(where: { "&,;(|".utf8.contains($0) }) { return true }
    if !isClosed, isCode(tag, from: start) { return true }
    guard meaning != .markup else { return false }
    if !words.isEmpty, !isClosed, !tag.isSelfClosing { return true }
    let isVoid = ElementRules.isVoid(name)
    if tag.isSelfClosing || isVoid { return isMention(tag, from: start, inAnyScript: isVoid) }
    return !isClosed && (meaning == .word || isMention(tag, from: start))
  }

  /// Whether a tag is the whole content of a `code` element.
  private func isCode(_ tag: Tag, from start: Int) -> Bool {
    guard source[(tag.end + 1)...].starts(with: "</code".utf8), start > 0, source[start - 1] == UInt8(ascii: ">"),
      let open = source[max(0, start - 256)..<start].lastIndex(of: UInt8(ascii: "<"))
    else { return false }
    return name(at: open + 1).name == "code"
  }

  /// Whether a tag stands in a sentence: after a word or at the start, and before a blank, punctuation or the end.
  ///
  /// - Parameter inAnyScript: Whether a character beyond ASCII may follow, because scripts such as Chinese have no blanks.
  private func isMention(_ tag: Tag, from start: Int, inAnyScript: Bool = false) -> Bool {
    let previous = source[..<start].last { !Self.isBlank($0) }
    guard previous != UInt8(ascii: ">"), let next = byte(tag.end + 1) else { return previous != UInt8(ascii: ">") }
    if next == UInt8(ascii: " ") {
      return source[(tag.end + 1)...].first { $0 != UInt8(ascii: " ") }.map { $0 != UInt8(ascii: "<") } ?? true
    }
    return ".,;:!?)(]'\"`/".utf8.contains(next) || inAnyScript && next >= 0x80 && !isHardSpace(tag.end + 1)
  }

  private func isHardSpace(_ index: Int) -> Bool { byte(index) == 0xC2 && byte(index + 1) == 0xA0 }

  // MARK: Syntax

  private func byte(_ index: Int) -> UInt8? { index < source.count ? source[index] : nil }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
  }

  /// Reads the name of a tag, up to a blank, `/`, `<` or `>`.
  private func name(at start: Int) -> (name: String?, end: Int) {
    var index = start
    var isName = true
    while let byte = byte(index), !Self.isBlank(byte), !"/<>".utf8.contains(byte) {
      isName = isName && (byte.isASCIIAlphanumeric || "-_:.".utf8.contains(byte)) && index - start < 64
      index += 1
      if !isName { return (nil, index) }
    }
    guard isName, index > start, source[index - 1] != UInt8(ascii: ":") else { return (nil, index) }
    return (String(decoding: source[start..<index], as: UTF8.self).lowercased(), index)
  }

  /// Reads a start tag; nil if it has no name or no end. After a first tag without end, quotes are ignored.
  private mutating func tag(at start: Int) -> Tag? {
    let (name, nameEnd) = name(at: start + 1)
    // Another tag that begins before any value makes this one a word. So no byte is searched by more than two tags.
    let next = source[nameEnd...].first { "<=>".utf8.contains($0) }
    guard name != nil, next != UInt8(ascii: "<") else { return nil }
    var tag = Tag(name: name, nameEnd: nameEnd, end: 0)
    if !ignoresQuotes {
      if let (end, hasValues) = source.endOfTag(from: nameEnd) {
        (tag.end, tag.hasValues) = (end, hasValues)
        tag.isSelfClosing = source[end - 1] == UInt8(ascii: "/")
        return tag
      }
      ignoresQuotes = true
    }
    guard let end = source[start...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
    tag.nameEnd = min(nameEnd, end)
    tag.end = end
    tag.hasValues = source[tag.nameEnd..<end].contains(UInt8(ascii: "="))
    tag.isSelfClosing = source[end - 1] == UInt8(ascii: "/")
    return tag
  }
}
