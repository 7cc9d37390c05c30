extension String {
  /// The text on one line without control characters, since a server may have sent it and a terminal may show it.
  ///
  /// A run of tabs and line breaks (UAX #14) becomes one space. Other control characters are removed, as are the
  /// bidirectional embeddings, overrides and isolates of UAX #9 and characters that hide text.
  var singleLine: String {
    var line = String.UnicodeScalarView()
    var isAfterBreak = false
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x09...0x0D, 0x85, 0x2028, 0x2029:
        if !isAfterBreak { line.append(" ") }
        isAfterBreak = true
      case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB: break
      default:
        line.append(scalar)
        isAfterBreak = false
      }
    }
    return String(line)
  }
}
