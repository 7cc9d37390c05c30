import Foundation
import News

/// The terminal that shows the results.
struct Terminal {
  var columns: Int
  var rows: Int

  /// The terminal of standard output; nil if it is a pipe or a file.
  static var output: Terminal? { Terminal(STDOUT_FILENO) }
  /// The terminal of standard error; nil if it is a pipe or a file.
  static var errors: Terminal? { Terminal(STDERR_FILENO) }

  private init?(_ descriptor: Int32) {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    // A terminal may know one of the two only.
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
    columns = isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80
    rows = isKnown && size.ws_row > 0 ? Int(size.ws_row) : 24
  }

  /// The mark of a shortened line, in the character set of the locale.
  static let ellipsis: String = {
    let environment = ProcessInfo.processInfo.environment
    // The first variable that is set and not empty decides (locale(7)).
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    let isUnicode = ["utf-8", "utf8"].contains { name.lowercased().contains($0) }
    return isUnicode ? "…" : "..."
  }()
}

extension String {
  /// The columns on a terminal.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// Returns the longest beginning that fits.
  func prefix(columns limit: Int) -> String {
    var left = limit
    return String(
      prefix { character in
        left -= character.columns
        return left >= 0
      })
  }

  /// Returns the text, shortened with an ellipsis if it does not fit.
  func shortened(columns limit: Int) -> String {
    if columns <= limit { return self }
    let text = prefix(columns: Swift.max(0, limit - Terminal.ellipsis.columns))
    return text + Terminal.ellipsis.prefix(columns: Swift.max(0, limit))
  }

  /// Returns the lines of the text, safe for terminals and broken between words.
  ///
  /// - Parameter limit: The maximum number of columns of a line; nil to break no line.
  func wrapped(columns limit: Int?) -> [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).flatMap { line -> [String] in
      let safe = String(line).terminalSafe
      return limit.map { Self.wrapped(safe, Swift.max(1, $0)) } ?? [safe]
    }
  }

  private static func wrapped(_ line: String, _ limit: Int) -> [String] {
    var lines = [""]
    var used = 0
    for word in line.split(separator: " ") {
      var word = String(word)
      if used > 0, used + 1 + word.columns > limit {
        lines.append("")
        used = 0
      }
      if used > 0 { lines[lines.count - 1] += " " }
      // A word that is longer than a line is broken, such as a URL or a sentence in Chinese.
      while used == 0, word.columns > limit {
        let part = word.prefix(columns: limit)
        // A wide character may not fit into a single column.
        lines[lines.count - 1] = part.isEmpty ? String(word.prefix(1)) : part
        word.removeFirst(Swift.max(1, part.count))
        lines.append("")
      }
      lines[lines.count - 1] += word
      used = lines[lines.count - 1].columns
    }
    if lines.count > 1, lines.last == "" { lines.removeLast() }
    return lines
  }
}

extension Character {
  /// The columns on a terminal: two for wide characters and pictures (UAX #11), none for combining marks alone and for
  /// format characters, one for others.
  var columns: Int {
    let widths = unicodeScalars.map(\.columns)
    // A variation selector asks for the picture of a character that is also text.
    if unicodeScalars.count > 1, unicodeScalars.contains("\u{FE0F}") { return 2 }
    return widths.max() ?? 0
  }
}

extension Unicode.Scalar {
  fileprivate var columns: Int {
    if value < 0x300 { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch value {
    // The vowels and final consonants of Hangul join the preceding character.
    case 0x1160...0x11FF: return 0
    case 0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18DFF, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return properties.isEmojiPresentation ? 2 : 1
    }
  }
}
