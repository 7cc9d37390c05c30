public import Foundation

/// Parses a feed in any known format from pieces of any size.
///
/// The format is recognised by content. Memory is bounded by one entry, except for JSON Feed, which is one JSON
/// document and kept whole. A reader is not safe to share between tasks. The events do not depend on how the bytes are
/// divided.
public final class FeedReader {
  /// The memory limits, in bytes.
  package struct Limits: Sendable {
    /// The limit of an XML `item` or `entry`, or of a line of JSON.
    package var entryBytes = 8 * 1024 * 1024
    /// The limit of a JSON Feed.
    package var documentBytes = 64 * 1024 * 1024
    /// The minimum number of an XML feed's last entries among which repetitions are found.
    package var rememberedEntries = EntryHistory.capacity

    package init() {}
  }

  /// The circumstances of a reading.
  public struct Options: Sendable {
    /// The address from which the feed is read. Relative links refer to it if the feed names no other address. The ids
    /// of entries do not depend on it.
    public var address: String?
    /// The `Content-Type` of the response. Its charset applies if the feed declares no encoding.
    public var contentType: String?
    /// The treatment of entries without a date.
    public var missingDate: MissingDate

    /// Whether lines of the export of a newsroom are recognised. Otherwise they are skipped, as lines without a text are.
    public var readsNewsrooms: Bool

    /// Creates options, by default those for a file.
    public init(
      address: String? = nil, contentType: String? = nil, missingDate: MissingDate = .skip, readsNewsrooms: Bool = false
    ) {
      self.address = address
      self.contentType = contentType
      self.missingDate = missingDate
      self.readsNewsrooms = readsNewsrooms
    }
  }

  private enum State {
    /// The first bytes, without leading blanks, until they determine the format.
    case undecided([UInt8])
    case xml(XMLFeedParser, FeedDocument)
    case jsonFeed([UInt8])
    case jsonLines(JSONLinesParser)
    case ended
  }

  /// The format; nil until it is recognised.
  public private(set) var format: FeedFormat?
  /// The properties of the feed, as far as it has been read. They are complete at the end, because they may follow the
  /// entries. JSON Lines has none.
  public var properties: FeedProperties { document?.properties ?? jsonProperties }

  private let limits: Limits
  private let options: Options
  private let decoder: FeedDecoder
  private var document: FeedDocument?
  private var references = ReferenceRepair(firstLine: 1)
  private var jsonProperties = FeedProperties()
  private var state = State.undecided([])
  /// The line on which the content starts, after blank lines.
  private var firstLine = 1
  /// The problem of text before the feed.
  private var excess: FeedProblem?

  /// Creates a reader, which expects the first byte of a feed.
  public convenience init(_ options: Options = Options()) {
    self.init(options, limits: Limits())
  }

  package init(_ options: Options = Options(), limits: Limits) {
    self.options = options
    self.limits = limits
    decoder = FeedDecoder(charset: options.contentType.flatMap(FeedDecoder.charset))
  }

  /// Parses more bytes.
  ///
  /// - Returns: The events that these bytes complete, in the order of the source. After `failed` there are no more.
  public func feed(_ bytes: Data) -> [FeedEvent] {
    process(decoder.decode(Array(bytes), isLast: false), isLast: false)
  }

  /// Ends the input. The reader cannot be used again.
  ///
  /// - Returns: The events that the end completes, `failed` if the document is truncated, and finally the problems with
  ///   the start, the encoding and references.
  public func finish() -> [FeedEvent] {
    defer { state = .ended }
    let rest = process(decoder.decode([], isLast: true), isLast: false)
    return rest + process([], isLast: true) + problems.map { .noted($0) }
  }

  /// The problems with the start, the encoding and references, ordered by line.
  private var problems: [FeedProblem] {
    let notes = properties.notes.map { FeedProblem(position: .line(firstLine), message: $0) }
    return ([excess].compactMap { $0 } + decoder.problems + references.problems + notes).sorted {
      ($0.position.number, $0.message) < ($1.position.number, $1.message)
    }
  }

  private func process(_ bytes: [UInt8], isLast: Bool) -> [FeedEvent] {
    switch state {
    case .undecided(let buffer):
      return decide(buffer + bytes, isLast: isLast)
    case .xml(let parser, let document):
      return parse(bytes, parser, document, isLast: isLast)
    case .jsonFeed(var document):
      // Resetting the state leaves the bytes with a single owner, so that they are not copied for each piece.
      state = .ended
      document += bytes
      guard document.count <= limits.documentBytes else {
        return fail("is a JSON Feed of more than \(limits.documentBytes) bytes; use JSON Lines, one object per line")
      }
      if isLast {
        let (events, properties) = JSONFeedParser.read(document, options: options)
        jsonProperties = properties ?? jsonProperties
        return events
      }
      state = .jsonFeed(document)
      return []
    case .jsonLines(var parser):
      state = .ended
      let events = isLast ? parser.finish() : parser.feed(bytes)
      state = .jsonLines(parser)
      return events
    case .ended:
      // The problems of the whole document are reported, however it is divided.
      if document != nil { _ = references.repaired(bytes, isLast: isLast) }
      return []
    }
  }

  private func fail(_ message: String, line: Int? = nil) -> [FeedEvent] {
    state = .ended
    return [.failed(FeedProblem(position: .line(line ?? firstLine), message: message))]
  }

  private func parse(
    _ bytes: [UInt8], _ parser: XMLFeedParser, _ document: FeedDocument, isLast: Bool
  ) -> [FeedEvent] {
    parser.feed(references.repaired(bytes, isLast: isLast))
    if isLast { parser.finish() }
    format = document.format
    let events = document.takeEvents(isLast: isLast || parser.failure != nil)
    guard let failure = parser.failure else { return events }
    return events + fail(failure.message, line: failure.line)
  }
}

// MARK: - Format

extension FeedReader {
  private func decide(_ bytes: [UInt8], isLast: Bool) -> [FeedEvent] {
    var content = bytes[...]
    let blanks = content.prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    firstLine += blanks.count { $0 == UInt8(ascii: "\n") }
    content = content.dropFirst(blanks.count)
    switch content.first {
    case nil where isLast: return fail("is empty")
    case nil:
      state = .undecided([])
      return []
    case UInt8(ascii: "{"):
      if let format = jsonFormat(content, isLast: isLast) { return begin(format, Array(content), isLast: isLast) }
    case UInt8(ascii: "["):
      return fail("is a JSON array; a JSON Feed or one object per line is required")
    default:
      if let events = decideByRoot(content, isLast: isLast) { return events }
    }
    state = .undecided(Array(content))
    return []
  }

  /// Begins at the root element of a feed, or at the object of a JSON Feed after other text.
  ///
  /// - Returns: nil if more bytes are needed.
  private func decideByRoot(_ content: ArraySlice<UInt8>, isLast: Bool) -> [FeedEvent]? {
    let found = FeedProlog.find(in: content, isWhole: isLast)
    // The texts of a JSON Feed may have the elements of pages and feeds inside, but no feed begins before it.
    let isMarkup = content.first == UInt8(ascii: "<") && found != .none
    let root = if case .excess(let count) = found { content.startIndex + count } else { content.endIndex }
    if found != .open, !isMarkup, let start = JSONFeedParser.start(in: content), start <= root {
      drop(content[..<start])
      return begin(.jsonFeed, Array(content[start...]), isLast: isLast)
    }
    switch found {
    case .open: return nil
    case .regular: return begin(.rss, Array(content), isLast: isLast)
    case .excess(let count):
      drop(content.prefix(count))
      return begin(.rss, Array(content.dropFirst(count)), isLast: isLast)
    case .none:
      return content.first == UInt8(ascii: "<")
        ? begin(.rss, Array(content), isLast: isLast) : fail("is neither XML nor JSON")
    }
  }

  /// Skips what precedes a feed.
  private func drop(_ bytes: ArraySlice<UInt8>) {
    excess = FeedProblem(position: .line(firstLine), message: "has other content before it, which is ignored")
    firstLine += bytes.count { $0 == UInt8(ascii: "\n") }
  }

  private func begin(_ format: FeedFormat, _ bytes: [UInt8], isLast: Bool) -> [FeedEvent] {
    var bytes = bytes
    switch format {
    case .rss, .atom:
      let document = FeedDocument(limits: limits, options: options)
      references = ReferenceRepair(firstLine: firstLine, entities: DocumentType(removedFrom: &bytes).entities)
      let parser = XMLFeedParser(
        document: document, maximumEntryBytes: limits.entryBytes, firstLine: firstLine)
      self.document = document
      state = .xml(parser, document)
    case .jsonFeed:
      self.format = format
      state = .jsonFeed([])
    case .jsonLines:
      self.format = format
      state = .jsonLines(
        JSONLinesParser(maximumLineBytes: limits.entryBytes, firstLine: firstLine, options: options))
    }
    let events = process(bytes, isLast: false)
    return isLast ? events + process([], isLast: true) : events
  }

  /// Recognises the JSON format by the first line; nil until the line is complete.
  ///
  /// An object that fills the line is an item, unless it is a whole JSON Feed. A line that ends with a bracket, comma
  /// or colon is the start of a document.
  private func jsonFormat(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> FeedFormat? {
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard line.count < bytes.count || isLast else {
      return line.count > limits.entryBytes ? .jsonFeed : nil
    }
    if JSONFeedParser.isJSONFeed(Array(line)) { return .jsonFeed }
    let last = line.last { ![0x20, 0x09, 0x0D].contains($0) }
    return last.map { "{[,:".utf8.contains($0) } == true ? .jsonFeed : .jsonLines
  }
}
