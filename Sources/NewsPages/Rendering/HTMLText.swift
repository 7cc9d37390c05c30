import News

/// Plain text as HTML.
///
/// All functions work on bytes or scalars: comparing or hashing characters takes time that grows with the square of
/// their combining marks, and texts come from feeds of strangers.
package enum HTMLText {
  /// Escapes the characters that have a meaning in content or in a quoted attribute.
  package static func escaped(_ text: String) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(text.utf8.count + 16)
    append(text.utf8, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Writes text as paragraphs: an empty line separates two of them, and a line break stays one. Web addresses become
  /// links.
  ///
  /// - Returns: HTML; empty for a text of white space.
  package static func paragraphs(_ text: String) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(text.utf8.count * 9 / 8 + 64)
    var isOpen = false
    for line in lines(of: text) {
      guard let line else {
        if isOpen { output += "</p>".utf8 }
        isOpen = false
        continue
      }
      if !output.isEmpty { output += (isOpen ? "<br>\n" : "\n").utf8 }
      if !isOpen { output += "<p>".utf8 }
      isOpen = true
      appendLinked(line, to: &output)
    }
    if isOpen { output += "</p>".utf8 }
    return String(decoding: output, as: UTF8.self)
  }

  /// The lines of a text without the blanks around them; nil for an empty line.
  private static func lines(of text: String) -> [ArraySlice<Unicode.Scalar>?] {
    let scalars = Array(text.unicodeScalars)
    return scalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\u{2029}" || $0 == "\u{2028}" }.map {
      let line = $0.trimmed
      return line.isEmpty ? nil : line
    }
  }

  private static func append(_ bytes: some Sequence<UInt8>, to output: inout [UInt8]) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "&"): output += "&amp;".utf8
      case UInt8(ascii: "<"): output += "&lt;".utf8
      case UInt8(ascii: ">"): output += "&gt;".utf8
      case UInt8(ascii: "\""): output += "&quot;".utf8
      case UInt8(ascii: "'"): output += "&#39;".utf8
      default: output.append(byte)
      }
    }
  }

  private static func append(_ scalars: ArraySlice<Unicode.Scalar>, to output: inout [UInt8]) {
    append(String(scalars).utf8, to: &output)
  }

  // MARK: Links

  /// Appends a line whose web addresses are links.
  private static func appendLinked(_ line: ArraySlice<Unicode.Scalar>, to output: inout [UInt8]) {
    var (position, plainStart) = (line.startIndex, line.startIndex)
    while position < line.endIndex {
      guard line[position] == "h" || line[position] == "H", let address = address(in: line, at: position) else {
        position += 1
        continue
      }
      guard let link = address.link else {
        position = address.end
        continue
      }
      append(line[plainStart..<position], to: &output)
      output += "<a href=\"".utf8
      append(link.utf8, to: &output)
      output += "\" rel=\"nofollow noopener\">".utf8
      append(line[position..<address.end], to: &output)
      output += "</a>".utf8
      (position, plainStart) = (address.end, address.end)
    }
    append(line[plainStart...], to: &output)
  }

  /// Reads a web address that begins at a position.
  ///
  /// - Returns: The link, nil for an invalid address, and the end of the address; nil if none begins there.
  private static func address(
    in line: ArraySlice<Unicode.Scalar>, at start: Int
  ) -> (link: String?, end: Int)? {
    // Not in the middle of a word.
    if start > line.startIndex, line[start - 1].properties.isAlphabetic { return nil }
    guard let scheme = ["https://", "http://"].first(where: { line[start...].hasPrefix($0) }) else { return nil }
    let whole = line[start...].prefix(while: isPartOfAddress)
    // A longer address is no link, and the rest of it begins no other one.
    guard whole.count <= WebLink.maximumBytes else { return (nil, whole.endIndex) }
    let end = end(of: whole, after: scheme.count)
    return (WebLink.normalised(String(whole[..<end])), end)
  }

  private static func isPartOfAddress(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.isASCII else { return scalar.properties.isAlphabetic || scalar.properties.numericType != nil }
    return scalar.value > 0x20 && scalar.value != 0x7F && !"<>\"`{}|\\^".unicodeScalars.contains(scalar)
  }

  /// The end of an address without what belongs to the sentence around it: punctuation, and closing brackets that the
  /// address does not open.
  private static func end(of address: ArraySlice<Unicode.Scalar>, after schemeLength: Int) -> Int {
    var unopened: [Unicode.Scalar: Int] = [:]
    for (opening, closing) in [("(", ")"), ("[", "]")] as [(Unicode.Scalar, Unicode.Scalar)] {
      unopened[closing] = address.count { $0 == closing } - address.count { $0 == opening }
    }
    var end = address.endIndex
    while end > address.startIndex + schemeLength {
      let last = address[end - 1]
      if let count = unopened[last] {
        guard count > 0 else { break }
        unopened[last] = count - 1
      } else if !".,;:!?'*_".unicodeScalars.contains(last) {
        break
      }
      end -= 1
    }
    return end
  }
}

extension ArraySlice<Unicode.Scalar> {
  /// The scalars without white space at both ends.
  var trimmed: ArraySlice<Unicode.Scalar> {
    guard let first = firstIndex(where: { !$0.properties.isWhitespace }),
      let last = lastIndex(where: { !$0.properties.isWhitespace })
    else { return [] }
    return self[first...last]
  }

  /// Whether the scalars begin with an ASCII text in lower case, regardless of their own case.
  fileprivate func hasPrefix(_ lowercase: String) -> Bool {
    let prefix = lowercase.unicodeScalars
    guard count >= prefix.count else { return false }
    return zip(self, prefix).allSatisfy { $0 == $1 || $0.isASCII && $0.value | 0x20 == $1.value }
  }
}

extension String {
  init(_ scalars: ArraySlice<Unicode.Scalar>) {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    self.init(view)
  }
}
