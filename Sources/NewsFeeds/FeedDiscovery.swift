public import Foundation
internal import SafeHTML

/// Finds the feeds that an HTML page links to.
///
/// ```swift
/// let feeds = FeedDiscovery.feeds(in: body, at: "https://example.org/blog/")
/// let address = feeds.first?.address  // "https://example.org/blog/feed.xml"
/// ```
///
/// A caller that has any address reads the response with a ``FeedReader`` first. If its `format` is known, the address
/// is that of a feed.
public enum FeedDiscovery {
  /// The maximum number of bytes of a page that are searched.
  public static let maximumBytes = 4 * 1024 * 1024
  /// The maximum number of feeds that are returned.
  public static let maximumFeeds = 32

  /// A link to a feed.
  public struct Link: Sendable, Equatable {
    /// An absolute http or https URL of at most 2048 bytes.
    public var address: String
    /// The title on one line, at most 1 KiB; nil if the link has none.
    public var title: String?
  }

  /// Returns the feeds of a page in order of preference.
  ///
  /// These are the links that name a media type of feeds (HTML Standard section 4.6.7.1, "alternate"), and those with
  /// the relation `feed`. The order is that of the page, because the first one is the publisher's choice, except that
  /// general types (`application/json`, `text/xml`) come after those of feeds, and comments come last.
  ///
  /// - Parameters:
  ///   - page: The bytes of the page, of which the first ``maximumBytes`` are read. Any bytes are accepted.
  ///   - address: The address of the page after redirects.
  ///   - contentType: The `Content-Type` of the response, for its charset.
  /// - Returns: Each address once, at most ``maximumFeeds``.
  public static func feeds(in page: Data, at address: String, contentType: String? = nil) -> [Link] {
    let bytes = Array(page.prefix(maximumBytes))
    let charset = contentType.flatMap(FeedDecoder.charset) ?? declaredCharset(of: bytes)
    let decoder = FeedDecoder(charset: charset)
    let text = decoder.decode(bytes, isLast: true)
    let finder = LinkFinder()
    HTMLScanner.scan(String(decoding: text, as: UTF8.self), into: finder)
    return finder.links(at: address)
  }

  /// Returns the charset of a `meta` element at the start of a page (HTML Standard section 13.2.3.2).
  private static func declaredCharset(of page: [UInt8]) -> String? {
    let start = String(decoding: page.prefix(1024), as: UTF8.self)
    return start.firstMatch(of: #/(?i)<meta[^>]*?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]+)/#).map { String($0.1) }
  }
}

/// Collects the links to feeds and the base of a page.
private final class LinkFinder: HTMLBuilder {
  private struct Candidate {
    var reference: String
    var title: String?
    /// The order of preference: 0 for a type of feeds, 1 for a general one.
    var rank: Int
  }

  /// The maximum number of links that are kept, repeated ones included.
  private static let maximumCandidates = 1024
  private static let feedTypes = [
    "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
  ]
  private static let generalTypes = ["application/json", "application/xml", "text/xml"]

  private var candidates: [Candidate] = []
  private var base: String?

  func start(_ name: String, _ attributes: [(name: String, value: String)]) {
    func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    switch name {
    case "base":
      base = base ?? value("href")
    case "link", "a", "area":
      guard candidates.count < Self.maximumCandidates, let reference = value("href")?.trimmed.nonEmpty,
        let rank = rank(relation: value("rel") ?? "", type: value("type") ?? "")
      else { return }
      candidates.append(Candidate(reference: reference, title: value("title"), rank: rank))
    default: break
    }
  }

  func end(_ name: String) {}

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {}

  private func rank(relation: String, type: String) -> Int? {
    // Longer values are not known ones, and comparing them would take time quadratic in their combining marks.
    guard relation.utf8.count <= 256, type.utf8.count <= 256 else { return nil }
    let relations = relation.lowercased().split(whereSeparator: \.isWhitespace)
    let isFeed = relations.contains("feed")
    guard isFeed || relations.contains("alternate"), !relations.contains("stylesheet") else { return nil }
    let essence = type.lowercased().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    if isFeed || Self.feedTypes.contains(essence) { return 0 }
    return Self.generalTypes.contains(essence) ? 1 : nil
  }

  func links(at address: String) -> [FeedDiscovery.Link] {
    let base = base.flatMap { SafeLink.web($0, base: address) } ?? address
    var ranked: [(rank: Int, link: FeedDiscovery.Link)] = []
    var seen: Set<String> = []
    for candidate in candidates {
      guard let address = SafeLink.web(candidate.reference, base: base), seen.insert(address).inserted else { continue }
      // WordPress links each page to its data, in the same way as to a feed.
      if candidate.rank > 0, address.contains("/wp-json/") { continue }
      let title = candidate.title.flatMap { PlainText.line($0).nonEmpty }.flatMap {
        $0.utf8.count <= EntryBuilder.maximumTitleBytes ? $0 : nil
      }
      let isComments = [address, title ?? ""].contains { text in
        Self.comments.contains { text.lowercased().contains($0) }
      }
      ranked.append((candidate.rank + (isComments ? 2 : 0), FeedDiscovery.Link(address: address, title: title)))
    }
    let sorted = (0...3).flatMap { rank in ranked.filter { $0.rank == rank } }
    return sorted.prefix(FeedDiscovery.maximumFeeds).map(\.link)
  }

  /// The stems of "comments" in English, French, German, Dutch, Spanish and Portuguese.
  private static let comments = ["comment", "kommentar", "reactie", "comentario", "comentários"]
}
