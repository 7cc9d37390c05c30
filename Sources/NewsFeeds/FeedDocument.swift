/// Follows the elements of an XML feed, and makes an entry of each `item` or `entry` at its end. Only the current
/// element is kept in memory.
final class FeedDocument: XMLDocumentBuilder {
  private enum Dialect {
    case rss, rdf, atom
    /// Atom without a namespace.
    case bareAtom
  }

  /// The events that have not been taken yet.
  private(set) var events: [FeedEvent] = []
  private(set) var format: FeedFormat?

  /// The number of open elements that are not kept: the root and `channel`.
  private(set) var structure = 0

  private let maximumEntryBytes: Int
  private var dialect: Dialect?
  private var feed: FeedMetadata
  private var queue: EntryQueue
  /// Whether part of the document was malformed. After that, content outside of entries is not trusted.
  private var isBroken = false
  /// The qualified name of entries.
  private var tag: String?
  /// The line of the current entry, whether it is kept or skipped because it is too large.
  private var entryLine: Int?
  /// The open elements that are kept, outermost first.
  private var open: [FeedElement] = []
  /// The number of open elements inside one that is too large to be kept, itself included.
  private var discarding = 0
  private var keptBytes = 0

  init(limits: FeedReader.Limits, options: FeedReader.Options) {
    maximumEntryBytes = limits.entryBytes
    feed = FeedMetadata(documentAddress: options.address)
    queue = EntryQueue(
      missingDate: options.missingDate, skipsRepetitions: true, rememberedEntries: limits.rememberedEntries)
  }

  var properties: FeedProperties { feed.properties }

  /// Returns the events that have not been taken yet.
  ///
  /// - Parameter isLast: Whether no entries follow, so that those which wait are complete.
  func takeEvents(isLast: Bool) -> [FeedEvent] {
    if isLast { events += queue.finish() }
    defer { events = [] }
    return events
  }

  /// The qualified name of entries, if parsing can resume at one after an error. It is nil before the feed is
  /// identified and after its end.
  var entryTag: String? { structure > 0 && (entryLine != nil || isBroken || feed.isIdentified) ? tag : nil }

  /// Whether the parser is outside of all kept elements, or an entry has just started.
  var isAtEdge: Bool {
    discarding == 0 && (open.isEmpty || open.count == 1 && open[0].content.isEmpty && entryLine != nil)
  }

  /// Whether the parser is in an element of an unknown vocabulary inside of an entry. It may have entries of its own, such
  /// as the superseded versions of Simple Sharing Extensions. In a malformed document the end tags are missing instead.
  private var isInExtension: Bool { !isBroken && open.dropFirst().contains { $0.name.space == .other } }

  /// Discards the open elements, and records the loss as an event.
  func abandon(_ failure: XMLFailure) {
    let place = failure.line == entryLine ? "" : " (line \(failure.line))"
    if let entryLine, discarding == 0 {
      events += queue.add(.skipped(FeedProblem(position: .line(entryLine), message: failure.message + place)))
    } else if entryLine == nil {
      events += queue.add(.noted(FeedProblem(position: .line(failure.line), message: failure.message)))
    }
    (open, discarding, entryLine, isBroken) = ([], 0, nil, true)
  }

  /// - Parameter tag: The qualified name.
  /// - Returns: The reason why the document cannot be parsed; nil if it can.
  func start(_ name: FeedName, _ attributes: [FeedAttribute], tag: String, line: Int) -> String? {
    if dialect == nil, !startsWithEntry(name) { return startRoot(name, attributes, tag: tag) }
    var name = name
    if dialect == .bareAtom, name.space == .none { name.space = .atom }
    if isEntry(name) {
      guard entryLine == nil || isInExtension else { return "has another entry inside" }
      if open.isEmpty, discarding == 0 {
        entryLine = line
        self.tag = tag
      }
    }
    if discarding > 0 {
      discarding += 1
      return nil
    }
    if open.isEmpty, dialect == .rss || dialect == .rdf, structure == 1, name.local == "channel" {
      structure += 1
      feed.apply(attributes)
      return nil
    }
    if open.isEmpty { keptBytes = 0 }
    let element = FeedElement(name: name, attributes: attributes, line: line)
    open.last?.append(element)
    open.append(element)
    keep(attributes.reduce(64) { $0 + $1.value.utf8.count })
    return nil
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>, isCDATA: Bool) {
    guard discarding == 0, let element = open.last else { return }
    element.append(bytes)
    if isCDATA { element.hasCDATA = true }
    keep(bytes.count)
  }

  func end() {
    if discarding > 0 {
      discarding -= 1
      if discarding == 0 { entryLine = nil }
    } else if let element = open.popLast() {
      if open.isEmpty {
        complete(element)
        entryLine = nil
      }
    } else {
      structure -= 1
    }
  }

  private func keep(_ count: Int) {
    keptBytes += count
    guard keptBytes > maximumEntryBytes, let outermost = open.first else { return }
    if entryLine != nil {
      let message = "is larger than \(maximumEntryBytes) bytes"
      events += queue.add(.skipped(FeedProblem(position: .line(outermost.line), message: message)))
    }
    discarding = open.count
    open = []
  }

  /// Whether the root is an entry (RFC 4287 section 2, "Atom Entry Document").
  private func startsWithEntry(_ name: FeedName) -> Bool {
    guard name.local == "entry", name.space == .atom || name.space == .none else { return false }
    (dialect, format) = (name.space == .atom ? .atom : .bareAtom, .atom)
    return true
  }

  private func startRoot(_ name: FeedName, _ attributes: [FeedAttribute], tag: String) -> String? {
    switch (name.space, name.local) {
    case (.none, "rss"): dialect = .rss
    case (.rdf, "RDF"): dialect = .rdf
    case (.atom, "feed"): dialect = .atom
    case (.none, "feed"): dialect = .bareAtom
    default: return "is XML, but not a feed: its root is <\(PlainText.shortened(name.local, to: 64))>"
    }
    format = dialect == .rss || dialect == .rdf ? .rss : .atom
    structure = 1
    self.tag = format == .rss ? "item" : tag.dropLast("feed".count) + "entry"
    feed.apply(attributes)
    feed.applyVersion(name.space, attributes)
    return nil
  }

  private func isEntry(_ name: FeedName) -> Bool {
    name == (format == .rss ? FeedName(space: .none, local: "item") : FeedName(space: .atom, local: "entry"))
  }

  private func complete(_ element: FeedElement) {
    guard entryLine != nil else {
      if isBroken { return }
      if ["pubDate", "lastBuildDate"].contains(element.name.local) { queue.learn(from: element.text) }
      if format == .rss { feed.applyRSS(element) } else { feed.applyAtom(element) }
      return
    }
    if let evidence = element.evidence(
      ofTwoEntries: format == .rss ? ["guid", "title", "link", "pubDate"] : ["id", "title", "published"])
    {
      events += queue.add(.skipped(FeedProblem(position: .line(element.line), message: evidence)))
      return
    }
    let entry = format == .rss ? RawEntry(rss: element, feed) : RawEntry(atom: element, feed)
    events += queue.add(entry)
  }
}
