internal import Foundation

/// Text without markup.
enum PlainText {
  /// Converts line ends to LF, removes control characters except tab and line feed, and trims both ends.
  static func cleaned(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var afterReturn = false
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0D: scalars.append("\n")
      case 0x0A where afterReturn: break
      case 0x09, 0x0A: scalars.append(scalar)
      case 0..<0x20, 0x7F...0x9F, 0xFEFF, 0xFFFE, 0xFFFF: break
      default: scalars.append(scalar)
      }
      afterReturn = scalar.value == 0x0D
    }
    return String(scalars).trimmed
  }

  /// Cleans a text and puts it on one line with single spaces.
  static func line(_ text: String) -> String {
    cleaned(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension String {
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
  var nonEmpty: String? { isEmpty ? nil : self }

  /// The text with U+FFFD for NUL, which PostgreSQL's `text` cannot hold.
  var withoutNUL: String {
    utf8.contains(0) ? String(String.UnicodeScalarView(unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 })) : self
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
