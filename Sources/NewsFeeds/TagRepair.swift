internal import News

/// Repairs the start tags of a list of feeds: of an attribute that is written twice, the first one applies, and a `<` in a
/// value is escaped. XML allows neither, and one tag is no reason to lose a list. Lines keep their numbers.
struct TagRepair {
  /// The maximum number of problems that are kept.
  private static let maximumProblems = 100

  /// The tags with an attribute that is written twice.
  private(set) var problems: [FeedProblem] = []
  private var line: Int
  private var output: [UInt8] = []

  /// - Parameter firstLine: The number of the first line of the input.
  init(firstLine: Int) {
    line = firstLine
  }

  /// Repairs a whole document.
  mutating func repaired(_ bytes: [UInt8]) -> [UInt8] {
    output = []
    output.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      copy(rest[..<start])
      rest = rest[start...]
      if let opaque = OpaqueMarkup.all.first(startingWith: rest) {
        let end = opaque.end(of: rest) ?? rest.endIndex
        copy(rest[..<end])
        rest = rest[end...]
      } else if rest.dropFirst().first?.isASCIILetter == true {
        rest = repairTag(rest)
      } else {
        copy(rest.prefix(1))
        rest = rest.dropFirst()
      }
    }
    copy(rest)
    return output
  }

  private mutating func copy(_ bytes: ArraySlice<UInt8>) {
    output += bytes
    line += bytes.count { $0 == UInt8(ascii: "\n") }
  }

  /// Copies a start tag up to its `>`, which stays in the rest, or up to where it is malformed.
  private mutating func repairTag(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let first = line
    var names: Set<[UInt8]> = []
    var rest = tag
    func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    func take(_ count: Int) -> ArraySlice<UInt8> {
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    copy(take(rest.prefix { !isBlank($0) && $0 != UInt8(ascii: ">") }.count))
    while true {
      let blanks = take(rest.prefix(while: isBlank).count)
      let name = rest.prefix { !isBlank($0) && !"=<>/\"'".utf8.contains($0) }
      var value = rest.dropFirst(name.count).drop(while: isBlank)
      guard !name.isEmpty, value.popFirst() == UInt8(ascii: "=") else {
        copy(blanks)
        return rest
      }
      value = value.drop(while: isBlank)
      guard let quote = value.first, "\"'".utf8.contains(quote), let end = value.dropFirst().firstIndex(of: quote)
      else {
        copy(blanks)
        return rest
      }
      let attribute = take(end + 1 - rest.startIndex)
      if names.insert(Array(name)).inserted {
        copy(blanks)
        copy(attribute[..<value.startIndex])
        for byte in value[...end] {
          if byte == UInt8(ascii: "<") { output += "&lt;".utf8 } else { copy([byte]) }
        }
      } else {
        copy((blanks + attribute).filter { $0 == UInt8(ascii: "\n") }[...])
        note("has the attribute \"\(PlainText.shortened(String(decoding: name, as: UTF8.self), to: 64))\" twice", first)
      }
    }
  }

  private mutating func note(_ message: String, _ line: Int) {
    guard problems.count < Self.maximumProblems else { return }
    problems.append(FeedProblem(position: .line(line), message: message + "; the first one applies"))
  }
}
