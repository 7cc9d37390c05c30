/// Searches malformed XML for the place where parsing can resume: the start tag of an entry outside of comments, CDATA
/// sections and processing instructions.
struct EntrySearch {
  /// The current line.
  private(set) var line: Int
  /// Whether the end tag of the whole feed has been passed.
  private(set) var foundEnd = false

  private let entry: [UInt8]
  private let end: [UInt8]
  /// The end mark of the comment, section or instruction around the current position.
  private var terminator: [UInt8]?
  /// The bytes that have been read and may be the start of a mark.
  private var rest: [UInt8] = []

  /// - Parameters:
  ///   - entry: The qualified name of entries.
  ///   - root: The qualified name of the root element.
  ///   - line: The line at which the search starts.
  init(entry: String, root: String, line: Int) {
    self.entry = Array("<\(entry)".utf8)
    end = Array("</\(root)".utf8)
    self.line = line
  }

  /// Continues the search.
  ///
  /// - Returns: The bytes from the start tag on, or nil if none has been found yet.
  mutating func find(in bytes: some Collection<UInt8>) -> [UInt8]? {
    rest += bytes
    var index = 0
    while let start = nextMark(from: index) {
      let tail = rest[start...]
      if isTag(entry, tail) {
        drop(start)
        return rest
      }
      if isTag(end, tail) { foundEnd = true }
      let opaque = OpaqueMarkup.all.first(startingWith: tail)
      let maximumTagBytes = max(entry.count, end.count, 9) + 1
      if opaque == nil, tail.count < maximumTagBytes, !tail.dropFirst().contains(UInt8(ascii: ">")) {
        drop(start)
        return nil
      }
      terminator = opaque?.end
      index = start + (opaque?.start.count ?? 1)
    }
    drop(max(index, rest.count - (terminator.map { $0.count - 1 } ?? 0)))
    return nil
  }

  /// Finds the next `<` from an index on, after the end of the current comment, section or instruction.
  private mutating func nextMark(from index: Int) -> Int? {
    var index = index
    if let terminator {
      guard let found = rest[index...].firstRange(of: terminator) else { return nil }
      self.terminator = nil
      index = found.upperBound
    }
    return rest[index...].firstIndex(of: UInt8(ascii: "<"))
  }

  private func isTag(_ tag: [UInt8], _ tail: ArraySlice<UInt8>) -> Bool {
    tail.starts(with: tag) && tail.dropFirst(tag.count).first.map { " \t\r\n/>".utf8.contains($0) } == true
  }

  private mutating func drop(_ count: Int) {
    line += rest.prefix(count).count { $0 == UInt8(ascii: "\n") }
    rest.removeFirst(count)
  }
}
