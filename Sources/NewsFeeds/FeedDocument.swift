/// Follows the elements of an XML feed and makes an entry of each `item` or `entry` when it ends. Only the element in
/// hand is in memory.
final class FeedDocument {
  private enum Dialect {
    case rss, rdf, atom
    /// Atom whose elements have no namespace.
    case bareAtom
  }

  /// What has been found and not been taken.
  private(set) var events: [FeedEvent] = []
  private(set) var format: FeedFormat?

  private let maximumEntryBytes: Int
  private var dialect: Dialect?
  private var feed = FeedMetadata()
  /// Open elements that are not kept: the root and `channel`.
  private var structure = 0
  /// The elements being kept, outermost first.
  private var open: [FeedElement] = []
  /// Elements open inside one that is too large to be kept.
  private var discarding = 0
  private var keptBytes = 0

  init(maximumEntryBytes: Int) {
    self.maximumEntryBytes = maximumEntryBytes
  }

  func takeEvents() -> [FeedEvent] {
    defer { events = [] }
    return events
  }

  /// - Returns: Why this is no feed.
  func start(_ name: FeedName, _ attributes: [FeedAttribute], line: Int) -> String? {
    if dialect == nil { return startRoot(name, attributes) }
    var name = name
    if dialect == .bareAtom, name.space == .none { name.space = .atom }
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

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard discarding == 0, let element = open.last else { return }
    element.append(bytes)
    keep(bytes.count)
  }

  func end() {
    if discarding > 0 {
      discarding -= 1
    } else if let element = open.popLast() {
      if open.isEmpty { complete(element) }
    } else {
      structure -= 1
    }
  }

  private func keep(_ count: Int) {
    keptBytes += count
    guard keptBytes > maximumEntryBytes, let outermost = open.first else { return }
    if isEntry(outermost) {
      let message = "is larger than \(maximumEntryBytes) bytes"
      events.append(.skipped(FeedProblem(position: .line(outermost.line), message: message)))
    }
    discarding = open.count
    open = []
  }

  private func startRoot(_ name: FeedName, _ attributes: [FeedAttribute]) -> String? {
    switch (name.space, name.local) {
    case (.none, "rss"): dialect = .rss
    case (.rdf, "RDF"): dialect = .rdf
    case (.atom, "feed"): dialect = .atom
    case (.none, "feed"): dialect = .bareAtom
    default: return "is XML, but no feed: its root is <\(name.local.prefix(64))>"
    }
    format = dialect == .rss || dialect == .rdf ? .rss : .atom
    structure = 1
    feed.apply(attributes)
    return nil
  }

  private func isEntry(_ element: FeedElement) -> Bool {
    format == .rss
      ? element.name == FeedName(space: .none, local: "item") : element.name == FeedName(space: .atom, local: "entry")
  }

  private func complete(_ element: FeedElement) {
    guard isEntry(element) else {
      if format == .rss { feed.applyRSS(element) } else { feed.applyAtom(element) }
      return
    }
    events += EntryBuilder.events(for: format == .rss ? RawEntry(rss: element, feed) : RawEntry(atom: element, feed))
  }
}
