internal import Foundation

/// Text without markup.
enum PlainText {
  /// Converts line ends to LF, removes control characters except tab and line feed, and trims both ends.
  static func cleaned(_ text: String) -> String {
    // Nearly all texts have none, and copying them character by character takes far longer.
    guard text.unicodeScalars.contains(where: \.isControl) else { return text.trimmed }
    var scalars = String.UnicodeScalarView()
    var afterReturn = false
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0D: scalars.append("\n")
      case 0x0A where afterReturn: break
      default: if !scalar.isControl { scalars.append(scalar) }
      }
      afterReturn = scalar.value == 0x0D
    }
    return String(scalars).trimmed
  }

  /// Cleans a text and puts it on one line with single spaces.
  static func line(_ text: String) -> String {
    cleaned(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Shortens a text at the end of a word, or in the middle of a very long one, and adds an ellipsis.
  ///
  /// - Parameter limit: The maximum number of bytes, at least 16.
  static func shortened(_ text: String, to limit: Int) -> String {
    guard text.utf8.count > limit else { return text }
    let ellipsis = "\u{2026}"
    let scalars = text.unicodeScalars
    var place = text.utf8.index(text.startIndex, offsetBy: limit - ellipsis.utf8.count)
    while place.samePosition(in: scalars) == nil { place = text.utf8.index(before: place) }
    // A character keeps its marks.
    for _ in 0..<32 where place > text.startIndex {
      let previous = scalars.index(before: place)
      guard scalars[place].isMark || scalars[previous].value == 0x200D else { break }
      place = previous
    }
    let head = scalars[..<place]
    let isWordEnd = scalars[place].isBlank
    let longest = text.utf8.index(place, offsetBy: -min(maximumWordBytes, limit / 2), limitedBy: text.startIndex)
    if !isWordEnd, let blank = head.lastIndex(where: \.isBlank), blank >= longest ?? text.startIndex { place = blank }
    return String(scalars[..<place]).trimmed + ellipsis
  }

  /// The maximum length of a word that is dropped as a whole.
  private static let maximumWordBytes = 128
}

extension String {
  /// The text without white space and line ends at both ends, as `CharacterSet.whitespacesAndNewlines` has them.
  var trimmed: String {
    let isPlain = { (byte: UInt8) in byte > 0x20 && byte < 0x80 }
    if let first = utf8.first, let last = utf8.last, isPlain(first), isPlain(last) { return self }
    let scalars = unicodeScalars
    guard let start = scalars.firstIndex(where: { !$0.isBlank }), let end = scalars.lastIndex(where: { !$0.isBlank })
    else { return "" }
    return String(scalars[start...end])
  }

  var nonEmpty: String? { isEmpty ? nil : self }

  /// The text with U+FFFD for NUL, which PostgreSQL's `text` cannot hold.
  var withoutNUL: String {
    utf8.contains(0) ? String(String.UnicodeScalarView(unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 })) : self
  }
}

extension Unicode.Scalar {
  /// Whether the character is a control character other than tab and line feed, a byte order mark or no character.
  fileprivate var isControl: Bool {
    switch value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F...0x9F, 0xFEFF, 0xFFFE, 0xFFFF: true
    default: false
    }
  }

  /// Whether the character belongs to the one before it.
  fileprivate var isMark: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: value == 0x200D
    }
  }

  fileprivate var isBlank: Bool {
    switch value {
    case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200B, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: true
    default: false
    }
  }
}

extension [String] {
  /// Returns each text once, at its first position. Texts are compared as bytes: hashing characters takes time
  /// quadratic in their combining marks.
  func uniqued() -> [String] {
    var seen: Set<[UInt8]> = []
    return filter { seen.insert([UInt8]($0.utf8)).inserted }
  }
}
