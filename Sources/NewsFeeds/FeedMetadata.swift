internal import Foundation
internal import SafeHTML

/// The properties that the entries of a feed share, and those of the feed as a whole.
struct FeedMetadata {
  /// The maximum number of authors of a feed that are kept.
  static let maximumAuthors = 64
  /// The maximum length of each text. Every entry repeats it, so that the work would grow with the product of both.
  private static let maximumBytes = 4096

  /// The address from which the feed was read, if it is known.
  private let documentAddress: String?
  private var identifier: String?
  private(set) var link: String?
  /// The link as an absolute address.
  private var homePage: String?
  /// The page of an Atom link in RSS.
  private var otherPage: String?
  private var address: String?
  private var title: String?
  private var titleText: RawText?
  /// The place of that title's element among those that may be one.
  private var titleRank = Int.max
  private(set) var language: String?
  private(set) var base: String?
  private(set) var authors: [String] = []
  /// The authors whose names are too long, which older versions did not read, shortened.
  private(set) var longAuthors: [String] = []
  /// The address of the feed's picture: that of a podcast, or else that of the channel.
  private(set) var picture: String?
  /// The date of the feed; nil from RSS 2.0 on, where entries have their own dates.
  private(set) var date: String?
  private var isOld = false
  private var updatePeriod: String?
  private var updateFrequency: String?
  private var updateBase: String?
  private var hints = FeedProperties()

  init(documentAddress: String?) {
    self.documentAddress = documentAddress
  }

  /// The name of the feed in the ids of its entries. Feeds without any identification share one name. It does not depend
  /// on the address from which the feed was read.
  var source: String { identifier ?? link ?? address ?? title ?? "urn:tidings:feed" }

  /// Whether `source` is final.
  var isIdentified: Bool { (identifier ?? link) != nil }

  /// The base of relative links if neither the entry nor the feed specifies one.
  var fallbackBase: String? {
    homePage ?? address ?? identifier.flatMap { SafeLink.web($0) } ?? documentAddress
  }

  /// The properties of the feed, as far as it has been read.
  var properties: FeedProperties {
    var properties = hints
    properties.homePage = homePage ?? otherPage
    properties.setUpdateInterval(period: updatePeriod, frequency: updateFrequency, base: updateBase)
    properties.setTexts(title: titleText, language: language)
    return properties
  }

  /// Returns a text without surrounding blanks; nil if it is empty or too long to be repeated.
  static func bounded(_ text: String) -> String? {
    guard text.utf8.count <= 2 * maximumBytes, let text = text.trimmed.nonEmpty, text.utf8.count <= maximumBytes else {
      return nil
    }
    return text
  }

  /// The length to which a name is shortened that is too long to be repeated. It is longer than an author of an entry, so
  /// that the entry reports it.
  static let maximumLongBytes = 512

  /// Returns a text of at most as many bytes as are kept.
  static func shortened(_ text: String) -> String {
    text.utf8.count <= maximumBytes ? text : PlainText.shortened(text.trimmed, to: maximumBytes)
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
      case "base": base = SafeLink.web(attribute.value, base: base ?? documentAddress) ?? base
      case "lang": language = Self.bounded(attribute.value)
      default: break
      }
    }
  }

  /// Reads a child of an RSS channel.
  mutating func applyRSS(_ element: FeedElement) {
    let text = Self.bounded(element.text)
    switch (element.name.space, element.name.local) {
    case (.none, "link") where element.relation == "alternate":
      guard link == nil, let target = element.target.flatMap(Self.bounded) else { break }
      link = SafeLink.web(target, base: base) ?? target
      homePage = absolute(target)
    case (.none, "link"), (.atom, "link"): applyLink(element)
    case (.none, "title"):
      title = title ?? text
      applyTitle(RawEntry.text(element), rank: 0)
    case (.dublinCore, "title"), (.itunes, "title"), (.atom, "title"):
      applyTitle(RawEntry.text(element), rank: RawEntry.titles.firstIndex(of: element.name))
    case (.none, "pubDate"), (.none, "lastBuildDate"), (.dublinCore, "date"): date = date ?? (isOld ? text : nil)
    case (.none, "language"), (.dublinCore, "language"): language = text ?? language
    case (.itunes, "image"): picture = element["href"].flatMap(Self.bounded) ?? picture
    case (.googlePlay, "image"), (.podcast, "image"):
      picture = picture ?? element["href"].flatMap(Self.bounded)
    case (.none, "image"): picture = picture ?? element.value(.none, "url").flatMap(Self.bounded)
    case (.none, "ttl"): hints.setMinutesToLive(text)
    case (.none, "skipHours"): hints.addSkippedHours(element)
    case (.none, "skipDays"): hints.addSkippedDays(element)
    case (.syndication, "updatePeriod"): updatePeriod = updatePeriod ?? text
    case (.syndication, "updateFrequency"): updateFrequency = updateFrequency ?? text
    case (.syndication, "updateBase"): updateBase = updateBase ?? text
    default: break
    }
  }

  /// Reads a child of an Atom feed.
  mutating func applyAtom(_ element: FeedElement) {
    guard element.name.space == .atom else {
      if element.name == FeedName(space: .dublinCore, local: "title") {
        applyTitle(RawEntry.text(element), rank: 1)
      } else if [.syndication, .itunes, .googlePlay, .podcast].contains(element.name.space) {
        applyRSS(element)
      }
      return
    }
    let text = Self.bounded(element.text)
    switch element.name.local {
    case "id": identifier = identifier ?? text
    case "title":
      title = title ?? text
      applyTitle(RawEntry.atomText(element), rank: 0)
    case "author":
      guard authors.count < Self.maximumAuthors else { break }
      let name = RawEntry.name(ofPerson: element)
      if let name = name.flatMap(Self.bounded) {
        authors.append(name)
      } else if longAuthors.isEmpty, let name = name ?? RawEntry.longName(element) {
        longAuthors.append(PlainText.shortened(name, to: Self.maximumLongBytes))
      }
    case "logo": picture = picture ?? text
    case "link" where element.relation == "alternate":
      guard link == nil, let target = element.target else { break }
      link = SafeLink.web(target, base: base)
      homePage = absolute(target)
    case "link": applyLink(element)
    default: break
    }
  }

  /// Sets the title that is shown, unless there is one from the same element or from one that is preferred.
  private mutating func applyTitle(_ text: RawText?, rank: Int?) {
    guard let text, let rank, rank < titleRank else { return }
    titleText = RawText(Self.shortened(text.value), text.kind)
    titleRank = rank
  }

  /// Reads a link other than that of the home page.
  private mutating func applyLink(_ element: FeedElement) {
    guard let target = element.target else { return }
    for relation in element.relation.split(separator: " ") {
      switch relation {
      case "alternate": otherPage = otherPage ?? absolute(target)
      case "self":
        address = address ?? SafeLink.web(target, base: base)
        hints.ownAddress = hints.ownAddress ?? absolute(target)
      case "hub": hints.addHub(absolute(target))
      default: break
      }
    }
  }

  private func absolute(_ reference: String) -> String? {
    SafeLink.web(reference, base: base ?? documentAddress)
  }
}
