/// Parses an XML feed. After malformed content it resumes at the next entry, so that each entry is complete or absent.
final class XMLFeedParser {
  /// The maximum number of bytes per parser call. Smaller pieces cost more calls. Larger pieces cost more copying in
  /// documents with many errors.
  private static let maximumPieceSize = 16 * 1024
  /// The number of bytes of the first parser call after a restart. More errors are likely there, and the bytes after an
  /// error are parsed again.
  private static let minimumPieceSize = 256
  /// The number of restarts before the document is rejected. A real feed has fewer errors.
  private static let maximumRestarts = 10_000

  /// The reason why parsing ended early.
  private(set) var failure: XMLFailure?

  private let document: FeedDocument
  private let maximumEntryBytes: Int
  private var parser: XMLPushParser
  private var search: EntrySearch?
  private var restarts = 0
  private var pieceSize = XMLFeedParser.maximumPieceSize
  /// The parsed bytes since the last place where parsing can resume, and the offset of that place.
  private var recent: [UInt8] = []
  private var recentStart = 0

  /// - Parameter firstLine: The number of the document's first line.
  init(document: FeedDocument, maximumEntryBytes: Int, firstLine: Int) {
    self.document = document
    self.maximumEntryBytes = maximumEntryBytes
    parser = XMLPushParser(document: document, firstLine: firstLine)
  }

  /// Parses more of the document. The first piece has at least four bytes, unless the whole document is shorter.
  func feed(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, failure == nil {
      read(rest.prefix(Self.maximumPieceSize))
      rest = rest.dropFirst(Self.maximumPieceSize)
    }
  }

  /// Ends the document.
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
        appendRecent(piece)
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

  private func appendRecent(_ piece: ArraySlice<UInt8>) {
    recent += piece
    let isLost = parser.anchor.offset < recentStart || recent.count > maximumEntryBytes + Self.maximumPieceSize
    let passed = isLost ? recent.count : parser.anchor.offset - recentStart
    recent.removeFirst(passed)
    recentStart += passed
  }

  /// - Returns: The bytes to search.
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
