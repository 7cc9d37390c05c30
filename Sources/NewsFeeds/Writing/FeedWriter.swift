internal import Crypto
internal import Foundation
public import News

/// Writes a feed in one format.
///
/// The entries are independent of the document that contains them, so each is written once.
///
///     let site = FeedSite(url: "https://news.example", title: "Harbour News")
///     let writer = FeedWriter(.atom, of: site)
///     let item = NewsItem(id: UUID(), version: 1, date: Date(), text: "The ferry is back.", updated: Date())
///     let head = FeedHead(topic: nil, updated: item.updated, archives: .init(count: 0))
///     let document = writer.document(head, entries: [writer.entry(item)])
public struct FeedWriter: Sendable {
  /// The version of all that this build writes. It changes with the bytes of equal items.
  private static let version = 2

  /// The format.
  public let format: PublishedFormat
  /// The properties of all feeds of the server.
  public let site: FeedSite
  /// A name of the form in which entries are written. It is equal only for writers that write equal entries and heads.
  public let fingerprint: String

  /// Creates a writer.
  public init(_ format: PublishedFormat, of site: FeedSite) {
    self.format = format
    self.site = site
    let parts = ["\(Self.version)", format.rawValue, site.url, site.title, site.content.rawValue] + site.hubs
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    fingerprint = Array(SHA256.hash(data: Array(text.utf8)).prefix(6)).hexadecimal
  }

  /// Writes the entry of an item. Its id is `urn:uuid:` and the id of the item.
  ///
  /// - Parameter item: The item with its `html`.
  public func entry(_ item: NewsItem) -> [UInt8] {
    let entry = PublishedEntry(item, of: site)
    switch format {
    case .json: return JSONFeedWriter.entry(entry)
    case .atom: return AtomWriter.entry(entry)
    case .rss: return RSSWriter.entry(entry)
    }
  }

  /// Writes a document.
  ///
  /// - Parameter entries: The bytes of the entries, in order.
  public func document(_ head: FeedHead, entries: [[UInt8]]) -> [UInt8] {
    let feed = PublishedFeed(head, format, of: site)
    switch format {
    case .json: return JSONFeedWriter.document(feed, entries)
    case .atom: return AtomWriter.document(feed, entries)
    case .rss: return RSSWriter.document(feed, entries)
    }
  }
}

/// All that a document says besides its entries.
struct PublishedFeed {
  let head: FeedHead
  let site: FeedSite
  let title: String
  /// The URL of the current document, which identifies the feed.
  let address: String
  /// The URL of this document.
  let ownAddress: String
  let previousArchive: String?
  let nextArchive: String?

  init(_ head: FeedHead, _ format: PublishedFormat, of site: FeedSite) {
    let address = site.address(of: format, topic: head.topic)
    func archive(_ number: Int?) -> String? { number.map { "\(address)?archive=\($0)" } }
    self.head = head
    self.site = site
    self.address = address
    title = site.title(ofTopic: head.topic)
    ownAddress = archive(head.archives.number) ?? address
    previousArchive = archive(head.archives.previous)
    nextArchive = archive(head.archives.next)
  }

  var isArchive: Bool { head.archives.number != nil }

  /// The links of RFC 5005 and RFC 4287 and of WebSub, by relation.
  var links: [(relation: String, address: String)] {
    var links = [("self", ownAddress)]
    if isArchive { links.append(("current", address)) }
    if let previousArchive { links.append(("prev-archive", previousArchive)) }
    if let nextArchive { links.append(("next-archive", nextArchive)) }
    // The topic of a hub is the current document.
    if !isArchive { links += site.hubs.map { ("hub", $0) } }
    return links
  }
}
