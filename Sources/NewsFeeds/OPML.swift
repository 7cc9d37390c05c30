public import Foundation

/// A list of feeds in OPML (opml.org/spec2.opml), the format in which feed readers exchange subscriptions.
///
/// ```swift
/// var list = try OPML(reading: data)
/// for feed in list.feeds { print(feed.address, feed.topics.map(\.slug)) }
/// list.title = "Our feeds"
/// let file = list.data(createdAt: Date())
/// ```
public struct OPML: Sendable, Equatable {
  /// The maximum number of bytes of a list.
  public static let maximumBytes = 8 * 1024 * 1024
  /// The maximum number of feeds in a list.
  public static let maximumFeeds = 10_000

  /// A feed of a list.
  public struct Feed: Sendable, Equatable {
    /// The address, an absolute http or https URL of at most 2048 bytes.
    public var address: String
    /// The title on one line, at most 1 KiB.
    public var title: String?
    /// The address of the page that the feed belongs to.
    public var homePage: String?
    /// A BCP 47 language tag.
    public var language: String?
    /// The topics by the folders around the feed and by its `category`, each slug once, at most 16.
    public var topics: [FeedCategory]

    /// Creates a feed. The values are not validated.
    public init(
      address: String, title: String? = nil, homePage: String? = nil, language: String? = nil,
      topics: [FeedCategory] = []
    ) {
      self.address = address
      self.title = title
      self.homePage = homePage
      self.language = language
      self.topics = topics
    }
  }

  /// The title of the list.
  public var title: String?
  /// The feeds in the order of the list, each address once.
  public var feeds: [Feed]
  /// The outlines that name a feed and cannot be read. A list that is written has none.
  public private(set) var problems: [FeedProblem] = []

  /// Creates a list.
  public init(title: String? = nil, feeds: [Feed] = []) {
    self.title = title
    self.feeds = feeds
  }

  /// Reads a list of any version of OPML, in any encoding.
  ///
  /// Folders become topics by their names, or by their `category` if they have one. A feed that occurs in several
  /// folders has the topics of all of them. Addresses that begin with `feed:` are read as `https:`.
  ///
  /// - Parameter data: The list, at most ``maximumBytes``.
  /// - Throws: `FeedProblem`, if the data is no OPML or exceeds a limit. Nothing is read from a malformed list.
  public init(reading data: Data) throws(FeedProblem) {
    guard data.count <= Self.maximumBytes else {
      throw FeedProblem(position: .line(1), message: "is a list of more than \(Self.maximumBytes) bytes")
    }
    let decoded = FeedDecoder().decode(Array(data), isLast: true)
    var content = decoded.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if case .excess(let count) = FeedProlog.find(in: content, isWhole: true) { content = content.dropFirst(count) }
    let firstLine = 1 + decoded.prefix(decoded.count - content.count).count { $0 == UInt8(ascii: "\n") }
    guard content.first == UInt8(ascii: "<") else {
      throw FeedProblem(position: .line(firstLine), message: content.isEmpty ? "is empty" : "is not XML")
    }
    var document = Array(content)
    var references = ReferenceRepair(firstLine: firstLine, entities: DocumentType(removedFrom: &document).entities)
    var tags = TagRepair(firstLine: firstLine)
    var rest = tags.repaired(references.repaired(document, isLast: true))[...]
    let outline = OPMLOutline()
    let parser = XMLPushParser(document: outline, firstLine: firstLine)
    while !rest.isEmpty, parser.failure == nil {
      parser.feed(rest.prefix(Self.pieceBytes))
      rest = rest.dropFirst(Self.pieceBytes)
    }
    parser.finish()
    if let failure = parser.failure {
      throw FeedProblem(position: .line(failure.line), message: failure.message)
    }
    self.init(title: outline.title, feeds: outline.feeds)
    problems = outline.problems + tags.problems
  }

  private static let pieceBytes = 16 * 1024
}
