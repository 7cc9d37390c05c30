internal import Foundation
internal import SafeHTML

/// The properties that the entries of a feed share.
struct FeedMetadata {
  /// The maximum number of authors of a feed that are kept.
  static let maximumAuthors = 64
  /// The maximum length of each text. Every entry repeats it, so that the work would grow with the product of both.
  private static let maximumBytes = 4096

  private var identifier: String?
  private(set) var link: String?
  private var address: String?
  private var title: String?
  private(set) var language: String?
  private(set) var base: String?
  private(set) var authors: [String] = []
  /// The date of the feed; nil from RSS 2.0 on, where entries have their own dates.
  private(set) var date: String?
  private var isOld = false

  /// The name of the feed in the ids of its entries. Feeds without any identification share one name.
  var source: String { identifier ?? link ?? address ?? title ?? "urn:tidings:feed" }

  /// Whether `source` is final.
  var isIdentified: Bool { (identifier ?? link) != nil }

  /// The base of relative links if neither the entry nor the feed specifies one.
  var fallbackBase: String? { link ?? address ?? identifier.flatMap { SafeLink.web($0) } }

  /// Returns a text without surrounding blanks; nil if it is empty or too long to be repeated.
  static func bounded(_ text: String) -> String? {
    guard text.utf8.count <= 2 * maximumBytes, let text = text.trimmed.nonEmpty, text.utf8.count <= maximumBytes else {
      return nil
    }
    return text
  }

  /// Reads the version of RSS.
  mutating func applyVersion(_ root: FeedNamespace, _ attributes: [FeedAttribute]) {
    let version = attributes.first { $0.space == .none && $0.name == "version" }?.value
    isOld = root == .rdf || version?.utf8.starts(with: "0.9".utf8) == true
  }

  /// Reads `xml:base` and `xml:lang` of an element around the entries.
  mutating func apply(_ attributes: [FeedAttribute]) {
    for attribute in attributes where attribute.space == .xml {
      switch attribute.name {
      case "base": base = SafeLink.web(attribute.value, base: base) ?? base
      case "lang": language = Self.bounded(attribute.value)
      default: break
      }
    }
  }

  /// Reads a child of an RSS channel.
  mutating func applyRSS(_ element: FeedElement) {
    let text = Self.bounded(element.text)
    switch (element.name.space, element.name.local) {
    case (.none, "link"): link = link ?? text.flatMap { SafeLink.web($0, base: base) ?? $0 }
    case (.atom, "link") where element["rel"] == "self":
      address = address ?? element["href"].flatMap { SafeLink.web($0, base: base) }
    case (.none, "title"): title = title ?? text
    case (.none, "pubDate"), (.none, "lastBuildDate"), (.dublinCore, "date"): date = date ?? (isOld ? text : nil)
    case (.none, "language"), (.dublinCore, "language"): language = text ?? language
    default: break
    }
  }

  /// Reads a child of an Atom feed.
  mutating func applyAtom(_ element: FeedElement) {
    guard element.name.space == .atom else { return }
    let text = Self.bounded(element.text)
    switch element.name.local {
    case "id": identifier = identifier ?? text
    case "title": title = title ?? text
    case "author":
      if authors.count < Self.maximumAuthors, let name = element.value(.atom, "name").flatMap(Self.bounded) {
        authors.append(name)
      }
    case "link":
      let target = element["href"].flatMap { SafeLink.web($0, base: base) }
      switch element["rel"] ?? "alternate" {
      case "alternate": link = link ?? target
      case "self": address = address ?? target
      default: break
      }
    default: break
    }
  }
}
