extension String {
  /// The text on one line, safe to print on a terminal and to write to a log.
  ///
  /// A run of line breaks and tabs becomes one space. Other control characters (C0, DEL and C1, including the escape
  /// that starts terminal sequences) are removed. So are the bidirectional embeddings, overrides and isolates of UAX
  /// #9, and characters without a glyph that hide text. All other characters stay, including joiners and directional
  /// marks.
  ///
  ///     print("Goal!\u{1B}]0;owned\u{07}\nNext".terminalSafe)  // Goal!]0;owned Next
  public var terminalSafe: String {
    if unicodeScalars.allSatisfy({ $0.terminalRole == .shown }) { return self }
    var shown = String.UnicodeScalarView()
    var isAfterBreak = false
    for scalar in unicodeScalars {
      switch scalar.terminalRole {
      case .shown: shown.append(scalar)
      case .lineBreak where !isAfterBreak: shown.append(" ")
      case .lineBreak, .hidden: break
      }
      if scalar.terminalRole != .hidden { isAfterBreak = scalar.terminalRole == .lineBreak }
    }
    return String(shown)
  }

  /// JSON with the same values, safe to print on a terminal and to write to a log.
  ///
  /// The characters from U+007F on that ``terminalSafe`` removes or replaces are written as `\uXXXX` (RFC 8259 section
  /// 7). In JSON they occur only in strings, where encoders already escape the characters below U+0020.
  ///
  ///     print("{\"text\":\"gnp.\u{202E}exe\"}".terminalSafeJSON)  // {"text":"gnp.\u202eexe"}
  public var terminalSafeJSON: String {
    func isEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x7F && scalar.terminalRole != .shown }
    guard unicodeScalars.contains(where: isEscaped) else { return self }
    var json = ""
    for scalar in unicodeScalars {
      guard isEscaped(scalar) else {
        json.unicodeScalars.append(scalar)
        continue
      }
      // All of them are in the Basic Multilingual Plane: four digits at most.
      let digits = String(scalar.value, radix: 16)
      json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return json
  }
}

extension Unicode.Scalar {
  fileprivate enum TerminalRole {
    case shown, lineBreak, hidden
  }

  fileprivate var terminalRole: TerminalRole {
    switch value {
    // Tabs and the mandatory breaks of UAX #14.
    case 0x09...0x0D, 0x85, 0x2028, 0x2029: .lineBreak
    case 0..<0x20, 0x7F...0x9F: .hidden
    // Embeddings and overrides, isolates and deprecated format characters, byte order mark, annotations.
    case 0x202A...0x202E, 0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB: .hidden
    default: .shown
    }
  }
}
