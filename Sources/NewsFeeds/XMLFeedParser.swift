/// Reads a feed of XML. After what is not well-formed it goes on with the next entry, so that an entry is given whole or
/// not at all.
final class XMLFeedParser {
  /// Bytes for one call of the parser: smaller pieces cost more calls, larger ones more copying where much is broken.
  private static let maximumPieceSize = 16 * 1024
  /// Behind something broken the next may be broken too, and what follows it is read again.
  private static let minimumPieceSize = 256
  /// A file that is broken in more places is none that somebody wrote.
  private static let maximumRestarts = 10_000

  /// Why reading ended before the end.
  private(set) var failure: XMLFailure?

  private let document: FeedDocument
  private let maximumEntryBytes: Int
  private var parser: XMLPushParser
  private var search: EntrySearch?
  private var restarts = 0
  private var pieceSize = XMLFeedParser.maximumPieceSize
  /// What the parser was given, from the last place on from which it could be read again, and where that starts.
  private var recent: [UInt8] = []
  private var recentStart = 0

  /// - Parameter firstLine: The number of the line the document starts with.
  init(document: FeedDocument, maximumEntryBytes: Int, firstLine: Int) {
    self.document = document
    self.maximumEntryBytes = maximumEntryBytes
    parser = XMLPushParser(document: document, firstLine: firstLine)
  }

  /// Parses more of the document, which starts with at least four bytes unless the whole is shorter.
  func feed(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, failure == nil {
      read(rest.prefix(Self.maximumPieceSize))
      rest = rest.dropFirst(Self.maximumPieceSize)
    }
  }

  /// Tells that the document ends here.
  func finish() {
    while failure == nil, search == nil {
      parser.finish()
      guard parser.failure != nil else { return }
      read(startSearch())
    }
    if search?.foundEnd == true { abandon() } else { failure = failure ?? parser.failure }
  }

  private func read(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, failure == nil {
      if search == nil {
        let piece = rest.prefix(pieceSize)
        rest = rest.dropFirst(pieceSize)
        parser.feed(piece)
        remember(piece)
        pieceSize = min(2 * pieceSize, Self.maximumPieceSize)
        if parser.failure != nil { rest = startSearch() + rest }
      } else if let found = search?.find(in: rest) {
        restart()
        rest = found[...]
      } else {
        rest = []
      }
    }
  }

  private func remember(_ piece: ArraySlice<UInt8>) {
    recent += piece
    let isLost = parser.anchor.offset < recentStart || recent.count > maximumEntryBytes + Self.maximumPieceSize
    let passed = isLost ? recent.count : parser.anchor.offset - recentStart
    recent.removeFirst(passed)
    recentStart += passed
  }

  /// - Returns: What is to be searched.
  private func startSearch() -> ArraySlice<UInt8> {
    let anchor = parser.anchor
    guard let entry = document.entryTag, anchor.offset == recentStart, restarts < Self.maximumRestarts else {
      failure = parser.failure
      return []
    }
    search = EntrySearch(entry: entry, root: parser.structure[0].name, line: anchor.line)
    return recent[...]
  }

  private func restart() {
    guard let line = search?.line else { return }
    abandon()
    parser = XMLPushParser(document: document, firstLine: line, within: parser.structure)
    (recent, recentStart) = ([], 0)
    pieceSize = Self.minimumPieceSize
    restarts += 1
  }

  private func abandon() {
    if let failure = parser.failure { document.abandon(failure) }
    search = nil
  }
}
