/// The properties that all feeds of a server share.
///
///     let site = FeedSite(url: "https://news.example", title: "Harbour News")
///     print(site.address(of: .atom, topic: nil))  // https://news.example/feed.atom
public struct FeedSite: Sendable, Hashable {
  /// The content of the entries.
  public enum Content: String, Sendable, CaseIterable {
    /// The whole text of an item.
    case full
    /// The summary of an item, or the beginning of its text.
    case summary
  }

  /// The public URL of the server, without a slash at the end.
  public var url: String
  /// The title of the feed of all items.
  public var title: String
  /// The content of the entries.
  public var content: Content
  /// The URLs of WebSub hubs, which notify subscribers of changes.
  public var hubs: [String]

  /// Creates a site.
  ///
  /// - Parameters:
  ///   - url: An absolute http or https URL without a slash at the end.
  ///   - title: The title of the feed of all items.
  ///   - hubs: The URLs of WebSub hubs.
  public init(url: String, title: String, content: Content = .full, hubs: [String] = []) {
    self.url = url
    self.title = title
    self.content = content
    self.hubs = hubs
  }

  /// The URL of a feed.
  ///
  /// - Parameter topic: The slug of a topic; nil for the feed of all items.
  public func address(of format: PublishedFormat, topic: String?) -> String {
    url + (topic.map { "/topics/\($0)" } ?? "") + "/\(format.fileName)"
  }

  /// The title of a feed.
  ///
  /// - Parameter topic: The slug of a topic; nil for the feed of all items.
  public func title(ofTopic topic: String?) -> String { topic.map { "\(title): \($0)" } ?? title }
}

/// A format in which feeds are published. The raw value is the extension of the file name.
public enum PublishedFormat: String, Sendable, Hashable, CaseIterable {
  /// JSON Feed 1.1 (jsonfeed.org).
  case json
  /// Atom (RFC 4287), with deleted entries (RFC 6721).
  case atom
  /// RSS 2.0 (rssboard.org).
  case rss

  /// The name of the format.
  public var name: String {
    switch self {
    case .json: "JSON Feed"
    case .atom: "Atom"
    case .rss: "RSS"
    }
  }

  /// The media type of a document.
  public var mediaType: String {
    switch self {
    case .json: "application/feed+json"
    case .atom: "application/atom+xml"
    case .rss: "application/rss+xml"
    }
  }

  /// The last part of the address of a feed, such as `feed.atom`.
  public var fileName: String { "feed.\(rawValue)" }

  /// Whether a document can say that an entry was removed.
  public var canRemove: Bool { self == .atom }
}
