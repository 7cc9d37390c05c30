import Foundation
import News

/// The facts about an installation that its pages show.
public struct PageSite: Sendable {
  /// The language of the pages' own texts.
  public var language: InterfaceLanguage
  /// The feeds for feed readers, in the order of the links to them; empty for none.
  public var feeds: [PageFeed]
  /// Whether lists offer notifications by Web Push, for which they have a script.
  public var offersNotifications: Bool
  /// The public URL of the installation without a slash at the end; nil if it is unknown. Addresses that must be
  /// absolute are then omitted, because the `Host` of a request may be anyone's choice.
  public let publicURL: String?
  /// The name of the site: the host of its URL.
  public let name: String
  /// The path of the URL, with which all paths begin; empty for a URL without a path.
  let basePath: String

  /// - Parameters:
  ///   - language: The language of the pages' own texts.
  ///   - publicURL: An absolute URL without a query and without a slash at the end.
  ///   - feeds: The feeds for feed readers.
  ///   - offersNotifications: Whether lists offer notifications by Web Push.
  public init(
    language: InterfaceLanguage = .english, publicURL: String? = nil, feeds: [PageFeed] = [],
    offersNotifications: Bool = false
  ) {
    self.language = language
    self.feeds = feeds
    self.offersNotifications = offersNotifications
    let url = publicURL.flatMap { WebLink.normalised($0) }
    self.publicURL = url
    let host = url.flatMap { URL(string: $0)?.host() } ?? "Tidings"
    name = host.hasPrefix("www.") ? String(host.dropFirst(4)) : host
    let afterScheme = url.map { $0.drop { $0 != ":" }.dropFirst(3) } ?? ""
    basePath = String(afterScheme.drop { $0 != "/" })
  }

  /// The address of a path of this server, for links within pages.
  package func link(_ path: String) -> String { basePath + path }

  /// The absolute address of a path of this server; nil without a public URL.
  func absolute(_ path: String) -> String? { publicURL.map { $0 + path } }

  /// The path of an address of this server; nil for other addresses.
  func ownPath(_ address: String) -> String? {
    if address.utf8.starts(with: "/v1/".utf8) { return address }
    guard let publicURL, address.utf8.starts(with: (publicURL + "/").utf8) else { return nil }
    return String(decoding: address.utf8.dropFirst(publicURL.utf8.count), as: UTF8.self)
  }
}

/// A format of the site's feeds.
public struct PageFeed: Sendable, Hashable {
  /// The name of the format, such as `Atom`.
  public let name: String
  /// The media type of the documents.
  public let mediaType: String
  /// The last part of the paths, such as `feed.atom`.
  public let fileName: String

  /// Creates a format.
  public init(name: String, mediaType: String, fileName: String) {
    (self.name, self.mediaType, self.fileName) = (name, mediaType, fileName)
  }
}

/// A section of the site.
public struct PageTopic: Sendable, Hashable {
  /// The slug, `[a-z0-9-]{1,64}`.
  public let slug: String
  /// The titles by BCP 47 language tag.
  public let titles: [String: String]

  /// Creates a section.
  public init(slug: String, titles: [String: String]) {
    self.slug = slug
    self.titles = titles
  }

  /// The title in a language, or else in English or any other language, with its language tag; the slug without one.
  package func title(in language: InterfaceLanguage) -> (text: String, language: String?) {
    let tags = titles.keys.sorted()
    let wanted = [language.tag, InterfaceLanguage.english.tag]
    let tag =
      wanted.lazy.compactMap { want in tags.first { $0.lowercased() == want || $0.lowercased().hasPrefix(want + "-") } }
      .first ?? tags.first
    guard let tag, let text = titles[tag], !text.isEmpty else { return (slug, nil) }
    return (text, tag.lowercased() == language.tag ? nil : tag)
  }
}
