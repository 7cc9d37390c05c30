internal import Foundation
internal import SafeHTML

/// What the entries of a feed have in common.
struct FeedMetadata {
  /// The authors of the feed that are kept.
  static let maximumAuthors = 64
  /// Of each text. Every entry repeats it, so that the work for a feed would grow with the product of both.
  private static let maximumBytes = 4096

  private var identifier: String?
  private(set) var link: String?
  private var address: String?
  private var title: String?
  private(set) var language: String?
  private(set) var base: String?
  private(set) var authors: [String] = []
  /// Before RSS 2.0, whose entries have dates of their own.
  private(set) var date: String?
  private var isOld = false

  /// The feed's name in the ids of its entries; a feed that says nothing of itself shares one with its like.
  var source: String { identifier ?? link ?? address ?? title ?? "urn:tidings:feed" }

  /// Whether `source` will stay as it is.
  var isIdentified: Bool { (identifier ?? link) != nil }

  /// What relative links refer to where neither entry nor feed say it.
  var fallbackBase: String? { link ?? address ?? identifier.flatMap { SafeLink.web($0) } }

  /// A text without blanks around it; nil for an empty one and one that is too long to be repeated.
  static func bounded(_ text: String) -> String? {
    guard text.utf8.count <= 2 * maximumBytes, let text = text.trimmed.nonEmpty, text.utf8.count <= maximumBytes else {
      return nil
    }
    return text
  }

  /// Takes the version of RSS.
  mutating func applyVersion(_ root: FeedNamespace, _ attributes: [FeedAttribute]) {
    let version = attributes.first { $0.space == .none && $0.name == "version" }?.value
    isOld = root == .rdf || version?.utf8.starts(with: "0.9".utf8) == true
  }

  /// Takes `xml:base` and `xml:lang` from an element that holds entries.
  mutating func apply(_ attributes: [FeedAttribute]) {
    for attribute in attributes where attribute.space == .xml {
      switch attribute.name {
      case "base": base = SafeLink.web(attribute.value, base: base) ?? base
      case "lang": language = Self.bounded(attribute.value)
      default: break
      }
    }
  }

  /// Takes what a child of an RSS channel says.
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

  /// Takes what a child of an Atom feed says.
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
