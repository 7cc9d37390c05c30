/// A part of an XML document in which `<` and `&` are not markup.
struct OpaqueMarkup {
  let start: [UInt8]
  let end: [UInt8]

  static let comment = OpaqueMarkup(start: Array("<!--".utf8), end: Array("-->".utf8))
  static let instruction = OpaqueMarkup(start: Array("<?".utf8), end: Array("?>".utf8))
  static let section = OpaqueMarkup(start: Array("<![CDATA[".utf8), end: Array("]]>".utf8))
  static let all = [comment, instruction, section]

  /// Returns the place after the part that the bytes begin with; nil if it does not end.
  func end(of bytes: ArraySlice<UInt8>) -> Int? { end(in: bytes.dropFirst(start.count)) }

  /// Returns the place after the first end in the bytes; nil if there is none.
  func end(in bytes: ArraySlice<UInt8>) -> Int? {
    var rest = bytes
    while let bracket = rest.firstIndex(of: UInt8(ascii: ">")) {
      rest = rest[(bracket + 1)...]
      if bytes[...bracket].suffix(end.count).elementsEqual(end) { return bracket + 1 }
    }
    return nil
  }
}

extension Sequence<OpaqueMarkup> {
  /// Returns the one that the bytes begin with.
  func first(startingWith bytes: ArraySlice<UInt8>) -> OpaqueMarkup? { first { bytes.starts(with: $0.start) } }
}
