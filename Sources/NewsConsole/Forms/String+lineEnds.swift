extension String {
  /// The text with a line feed at the end of each line.
  ///
  /// Browsers send the lines of a text area with CR LF (HTML standard, section 4.10.21.8). A lone CR is a line end too.
  package var withLineFeeds: String {
    let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    guard utf8.contains(carriageReturn) else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    var isAfterReturn = false
    for byte in utf8 {
      if !isAfterReturn || byte != lineFeed { bytes.append(byte == carriageReturn ? lineFeed : byte) }
      isAfterReturn = byte == carriageReturn
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
