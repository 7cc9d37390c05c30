extension RandomAccessCollection<UInt8> where Index == Int {
  /// Finds the end of a tag. A quote begins a value only after `=` (HTML Standard section 13.2.5.37).
  ///
  /// - Parameter start: The offset after the name of the tag.
  /// - Returns: The offset of `>`, and whether an attribute has a value; nil if there is no end, as behind an open quote.
  func endOfTag(from start: Int) -> (end: Int, hasValues: Bool)? {
    var quote: UInt8?
    var (hasValues, afterEquals) = (false, false)
    for index in start..<endIndex {
      let byte = self[index]
      if let mark = quote {
        if byte == mark { quote = nil }
      } else if byte == UInt8(ascii: ">") {
        return (index, hasValues)
      } else if afterEquals, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        (quote, afterEquals) = (byte, false)
      } else if byte == UInt8(ascii: "=") {
        (hasValues, afterEquals) = (true, true)
      } else if !MarkupRepair.isBlank(byte) {
        afterEquals = false
      }
    }
    return nil
  }
}
