extension Substring {
  /// The text without surrounding white space (RFC 9110 section 5.6.3).
  package var trimmed: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
