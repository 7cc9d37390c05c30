/// Short forms of plain text.
package enum Excerpt {
  /// Returns the beginning of a text on one line.
  ///
  /// - Parameter limit: The maximum number of Unicode scalars, the ellipsis not included. The text is cut after a word if
  ///   one ends in its last third.
  package static func of(_ text: String, limit: Int) -> String {
    let (line, isWhole) = line(text, limit: limit)
    guard !isWhole else { return String(line[...]) }
    let end = line.lastIndex(of: " ") ?? 0
    let cut = end >= limit * 2 / 3 ? line[..<end] : line[...]
    return String(cut.trimmed) + "…"
  }

  /// Divides a text without a title into a headline and the rest.
  ///
  /// - Parameter limit: The maximum length of the headline in Unicode scalars.
  /// - Returns: The first line or sentence and the text after it; the beginning of the text and all of it if the first
  ///   sentence is longer than the limit.
  package static func headline(of text: String, limit: Int) -> (headline: String, rest: String) {
    let scalars = Array(text.unicodeScalars)[...].trimmed
    let window = scalars.prefix(limit + 1)
    for index in window.indices {
      let next = index + 1
      if window[index] == "\n" {
        return (Excerpt.of(String(scalars[..<index]), limit: limit), String(scalars[next...].trimmed))
      }
      let isEnd = [".", "!", "?", "…"].contains(window[index])
      // An abbreviation such as `Dr.` is shorter than a headline.
      guard isEnd, index - window.startIndex >= 20, next < scalars.endIndex, scalars[next].properties.isWhitespace
      else {
        continue
      }
      return (String(scalars[...index]), String(scalars[next...].trimmed))
    }
    guard scalars.count > limit else { return (String(scalars), "") }
    return (Excerpt.of(text, limit: limit), text)
  }

  /// Returns the first scalars of a text with white space collapsed, and whether they are all of it.
  private static func line(_ text: String, limit: Int) -> (line: [Unicode.Scalar], isWhole: Bool) {
    var line: [Unicode.Scalar] = []
    var needsSpace = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        needsSpace = !line.isEmpty
        continue
      }
      let count = line.count + (needsSpace ? 2 : 1)
      guard count <= limit else { return (line, false) }
      if needsSpace { line.append(" ") }
      line.append(scalar)
      needsSpace = false
    }
    return (line, true)
  }
}
