/// Writes the text of markup as a person would type it.
struct PlainTextWriter {
  private var output: [UInt8] = []
  /// The number of line feeds before the next character, at most 2.
  private var breaks = 0
  private var space = false
  /// The number of open `pre` elements.
  private var preformatted = 0

  private static let lineFeed = UInt8(ascii: "\n")

  var text: String {
    let end = output.lastIndex { $0 > 0x20 }
    return end.map { String(decoding: output[...$0], as: UTF8.self) } ?? ""
  }

  mutating func start(_ rule: ElementRules.Rule) {
    separate(rule)
    if rule.isPreformatted { preformatted += 1 }
  }

  mutating func end(_ rule: ElementRules.Rule) {
    if rule.isPreformatted {
      preformatted -= 1
      while let last = output.last, last <= 0x20 { output.removeLast() }
    }
    separate(rule)
  }

  mutating func lineBreak() {
    space = false
    breaks = min(breaks + 1, 2)
  }

  /// Separates what is before from what follows, unless it is preformatted.
  mutating func separateWords() { space = true }

  /// Appends UTF-8 without control characters other than tab and line feed.
  mutating func append(_ bytes: [UInt8]) {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      // U+00A0 keeps words together in a layout, but is an ordinary space in plain text.
      let isHardSpace = byte == 0xC2 && index + 1 < bytes.count && bytes[index + 1] == 0xA0
      let isBlank = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == Self.lineFeed || isHardSpace
      index += isHardSpace ? 2 : 1
      if preformatted > 0 {
        if output.isEmpty || breaks > 0, byte == Self.lineFeed { continue }
        flush()
        output.append(isHardSpace ? UInt8(ascii: " ") : byte)
      } else if isBlank {
        space = true
      } else {
        flush()
        output.append(byte)
      }
    }
  }

  // MARK: Marks around content

  /// A place in the text, to which it can be reset.
  struct Place {
    fileprivate var count: Int
    fileprivate var breaks: Int
    fileprivate var space: Bool
  }

  var place: Place { Place(count: output.count, breaks: breaks, space: space) }

  /// Forgets what has separated words since a place. Returns whether there are none.
  mutating func reset(to place: Place) -> Bool {
    guard output.count == place.count else { return false }
    (breaks, space) = (place.breaks, place.space)
    return true
  }

  /// Ends a quotation, whose first mark stands at a place. A quotation that has marks of its own gets no others.
  mutating func endQuote(_ place: Place, _ mark: String) {
    let length = mark.utf8.count
    guard let start = output[min(place.count, output.count)...].firstIndex(where: { $0 > 0x20 }).map({ $0 + length }),
      start <= output.count
    else { return }
    let content = output[start...]
    if content.isEmpty {
      output.removeSubrange(place.count...)
      (breaks, space) = (max(breaks, place.breaks), space || place.space)
    } else if ["\"", "\u{201C}", "\u{201E}", "\u{AB}"].contains(where: { content.starts(with: $0.utf8) }) {
      output.removeSubrange(start - length..<start)
    } else {
      output.removeSubrange(start..<(content.firstIndex { $0 > 0x20 } ?? start))
      output += mark.utf8
    }
  }

  /// Writes a number as an exponent, as in "10⁶", if it directly follows other text.
  mutating func raise(from place: Place) {
    guard 0 < place.count, place.count < output.count, output[place.count - 1] > 0x20 else { return }
    let written = output[place.count...].prefix(17)
    let raised = written.compactMap { Self.exponents[$0] }
    guard raised.count == written.count, written.count <= 16, written.contains(where: \.isASCIIDigit) else { return }
    output.replaceSubrange(place.count..., with: raised.joined().utf8)
  }

  private static let exponents: [UInt8: String] = [
    0x30: "⁰", 0x31: "¹", 0x32: "²", 0x33: "³", 0x34: "⁴", 0x35: "⁵", 0x36: "⁶", 0x37: "⁷", 0x38: "⁸", 0x39: "⁹",
    0x2B: "⁺", 0x2D: "⁻",
  ]

  private mutating func separate(_ rule: ElementRules.Rule) {
    switch rule.layout {
    case .inline: break
    case .cell: space = true
    case .line: breaks = max(breaks, 1)
    case .block: breaks = max(breaks, 2)
    }
  }

  private mutating func flush() {
    if output.isEmpty {
      // The first character needs no separator.
    } else if breaks > 0 {
      output += repeatElement(Self.lineFeed, count: breaks)
    } else if space {
      output.append(UInt8(ascii: " "))
    }
    breaks = 0
    space = false
  }
}
