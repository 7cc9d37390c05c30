/// Removes the elements of markup that is nested too deeply to be parsed, not their text.
///
/// Pictures and line breaks stay, and each start of a block becomes a line break. The time is proportional to the size: a
/// search that has failed once is not repeated.
struct FlatMarkup {
  private let source: ArraySlice<UInt8>
  private let lastBracket: Int
  private var output: [UInt8] = []
  /// Whether a tag had an open quote, so that quotes have no meaning.
  private var ignoresQuotes = false
  private var hasCommentEnds = true
  /// The elements whose end is missing.
  private var unclosed: Set<String> = []

  private init(_ source: ArraySlice<UInt8>) {
    self.source = source
    lastBracket = source.lastIndex(of: UInt8(ascii: ">")) ?? -1
  }

  /// - Parameter source: The rest of a source. It may begin inside of a tag, after the attributes.
  static func flattened(_ source: ArraySlice<UInt8>) -> [UInt8] {
    var rest = source
    let tagEnd = rest.prefix { $0 <= 0x20 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">") }
    if let end = tagEnd.firstIndex(of: UInt8(ascii: ">")) { rest = source[(end + 1)...] }
    var markup = FlatMarkup(rest)
    markup.run()
    return markup.output
  }

  private mutating func run() {
    var index = source.startIndex
    while let start = source[index...].firstIndex(of: UInt8(ascii: "<")) {
      output += source[index..<start]
      index = construct(at: start)
    }
    output += source[index...]
  }

  /// Reads what begins with `<`, and returns the offset after it.
  private mutating func construct(at start: Int) -> Int {
    if hasCommentEnds, source[start...].starts(with: "<!--".utf8) {
      if let end = source[start...].firstRange(of: Array("-->".utf8)) { return end.upperBound }
      hasCommentEnds = false
    }
    let isEnd = source.dropFirst(start + 1 - source.startIndex).first == UInt8(ascii: "/")
    let written = source[(start + (isEnd ? 2 : 1))...].prefix(32).prefix { $0.isASCIIAlphanumeric || $0 == 0x2D }
    guard written.first?.isASCIILetter == true, start < lastBracket, let end = endOfTag(from: written.endIndex) else {
      output += "&lt;".utf8
      return start + 1
    }
    let name = String(decoding: written, as: UTF8.self).lowercased()
    if isEnd {
      if let layout = ElementRules.rule(for: name)?.layout, layout != .inline { output.append(UInt8(ascii: " ")) }
      return end + 1
    }
    if ElementRules.dropped.contains(name) { return endOfContent(name, from: end + 1) }
    switch ElementRules.rule(for: name)?.layout {
    case _ where name == "img" || name == "br" || name == "hr": output += source[start...end]
    case .line, .block: output += "<br>".utf8
    case .cell: output.append(UInt8(ascii: " "))
    case .inline, nil: break
    }
    return end + 1
  }

  /// Returns the offset of the end tag of an element that is dropped with its content.
  private mutating func endOfContent(_ name: String, from start: Int) -> Int {
    var index = start
    while !unclosed.contains(name), let next = source[index...].firstIndex(of: UInt8(ascii: "<")) {
      index = next + 1
      let end = source[index...].prefix(name.utf8.count + 1)
      if end.elementsEqual("/\(name)".utf8, by: { $0 | 0x20 == $1 | 0x20 }) { return next }
    }
    unclosed.insert(name)
    return start
  }

  private mutating func endOfTag(from start: Int) -> Int? {
    if !ignoresQuotes {
      if let (end, _) = source.endOfTag(from: start) { return end }
      ignoresQuotes = true
    }
    return source[start...].firstIndex(of: UInt8(ascii: ">"))
  }
}
