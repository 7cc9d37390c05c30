internal import Foundation
internal import News
internal import SafeHTML

/// Collects the feeds of a list while it is parsed.
final class OPMLOutline: XMLDocumentBuilder {
  /// The maximum number of problems that are kept.
  private static let maximumProblems = 100

  private(set) var title: String?
  private(set) var feeds: [OPML.Feed] = []
  private(set) var problems: [FeedProblem] = []

  private struct Open {
    /// The topics of the outline and of those around it.
    var topics: [FeedCategory]
    /// The reason why an outline that claims to be a feed cannot be read as one; nil for a folder.
    var problem: FeedProblem?
  }

  /// The open elements, outermost first. Other elements than folders repeat the topics around them.
  private var open: [Open] = []
  private var isRoot = true
  /// The text of the list's title, while it is open.
  private var titleText: [UInt8]?
  /// The index of each feed by its address.
  private var indices: [String: Int] = [:]

  let structure = 0
  let isAtEdge = false

  func start(_ name: FeedName, _ attributes: [FeedAttribute], tag: String, line: Int) -> String? {
    let local = name.local.utf8.count <= 16 ? name.local.lowercased() : ""
    if isRoot {
      isRoot = false
      guard local == "opml" else {
        return "is XML, but not OPML: its root is <\(PlainText.shortened(name.local, to: 64))>"
      }
    }
    let around = open.last?.topics ?? []
    if local == "title", title == nil { titleText = [] }
    guard local == "outline" else {
      open.append(Open(topics: around))
      return nil
    }
    let outline = Outline(attributes)
    // An outline with outlines inside is a folder, whatever it claims to be.
    if !open.isEmpty { open[open.count - 1].problem = nil }
    guard outline.isFeed else {
      noteLength(of: outline, line: line)
      open.append(Open(topics: Self.union(around, outline.folderTopics)))
      return nil
    }
    guard outline.hasAddress else {
      let message = "the feed \"\(outline.name ?? "")\" has no http or https address (xmlUrl)"
      let problem = FeedProblem(position: .line(line), message: message)
      open.append(Open(topics: Self.union(around, outline.folderTopics), problem: problem))
      return nil
    }
    open.append(Open(topics: around))
    noteLength(of: outline, line: line)
    return add(outline, line: line, topics: Self.union(around, outline.categories))
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>, isCDATA: Bool) {
    if titleText != nil { titleText?.append(contentsOf: bytes) }
  }

  func end() {
    if let problem = open.popLast()?.problem { add(problem) }
    guard let text = titleText else { return }
    title = Outline.line(String(decoding: text.prefix(Outline.maximumBytes), as: UTF8.self))
    titleText = nil
  }

  private func noteLength(of outline: Outline, line: Int) {
    guard outline.isLong else { return }
    let name = PlainText.shortened(outline.name ?? "", to: 64)
    add(FeedProblem(position: .line(line), message: "a name or category of \"\(name)\" is shortened"))
  }

  private func add(_ problem: FeedProblem) {
    if problems.count < Self.maximumProblems { problems.append(problem) }
  }

  /// - Returns: The reason why the list is rejected; nil if it is not.
  private func add(_ outline: Outline, line: Int, topics: [FeedCategory]) -> String? {
    guard let feed = outline.feed(topics: topics) else {
      let message = "the feed \"\(outline.name ?? "")\" has no http or https address (xmlUrl)"
      add(FeedProblem(position: .line(line), message: message))
      return nil
    }
    if let index = indices[feed.address] {
      feeds[index].topics = Self.union(feeds[index].topics, topics)
      return nil
    }
    guard feeds.count < OPML.maximumFeeds else { return "has more than \(OPML.maximumFeeds) feeds" }
    indices[feed.address] = feeds.count
    feeds.append(feed)
    return nil
  }

  /// Returns all topics, each once, at most as many as an item may have.
  private static func union(_ topics: [FeedCategory], _ others: [FeedCategory]) -> [FeedCategory] {
    var all = topics
    for topic in others where all.count < EntryBuilder.maximumCategories {
      if !all.contains(where: { isSame($0, topic) }) { all.append(topic) }
    }
    return all
  }

  /// Whether two topics have the same slug, and the same name or the slug as the name of one.
  private static func isSame(_ first: FeedCategory, _ second: FeedCategory) -> Bool {
    guard first.slug == second.slug else { return false }
    return [first.label, second.label].contains(first.slug) || Slug.name(first.label) == Slug.name(second.label)
  }
}

/// The attributes of an `outline`. Their names are written with different capitals.
private struct Outline {
  private var values: [String: String] = [:]

  init(_ attributes: [FeedAttribute]) {
    for attribute in attributes where attribute.space == .none && attribute.name.utf8.count <= 16 {
      let name = attribute.name.lowercased().filter { $0 != "-" && $0 != "_" }
      if values[name]?.isEmpty != false { values[name] = attribute.value }
    }
  }

  /// The name on one line.
  var name: String? {
    ["title", "text", "name"].lazy.compactMap { values[$0] }
      .compactMap { Self.line($0) }.first
  }

  /// Whether a text is longer than its limit.
  var isLong: Bool {
    let labels = categoryLabels + (isFeed ? [] : [name ?? ""])
    let names = ["title", "text", "name"].compactMap { values[$0] }
    return labels.contains { $0.utf8.count > EntryBuilder.maximumLabelBytes }
      || names.contains { $0.utf8.count > EntryBuilder.maximumTitleBytes }
      || (values["category"] ?? "").utf8.count > Self.maximumBytes
  }

  /// The attributes that name the address of a feed, by preference, without hyphens and underscores.
  private static let addresses = ["xmlurl", "feedurl", "rssurl", "atomurl", "xml"]
  /// The attributes that name an address of a feed if the type is that of feeds.
  private static let otherAddresses = ["url", "href", "link", "uri"]

  /// Whether the outline claims to be a feed.
  var isFeed: Bool { Self.addresses.contains { values[$0] != nil } || hasFeedType }

  /// Whether the type is that of feeds, such as `rss`, `RSS2` or `application/atom+xml`.
  private var hasFeedType: Bool {
    let type = values["type"].map { $0.utf8.count <= 32 ? $0.lowercased() : "" } ?? ""
    return ["rss", "atom", "feed", "rdf", "podcast"].contains { type.contains($0) }
  }

  /// Whether an address is given, valid or not.
  var hasAddress: Bool { address != nil }

  private var address: String? {
    let names = Self.addresses + (hasFeedType ? Self.otherAddresses : [])
    return names.lazy.compactMap { values[$0]?.trimmed.nonEmpty }.first
  }

  /// Returns the feed; nil without a valid address.
  func feed(topics: [FeedCategory]) -> OPML.Feed? {
    guard let address = address.flatMap(Self.address) else { return nil }
    return OPML.Feed(
      address: address, title: name, homePage: values["htmlurl"].flatMap { SafeLink.web($0) },
      language: values["language"].flatMap(LanguageTag.normalised), topics: topics)
  }

  /// The topics that `category` names: slash-delimited paths, separated by commas.
  var categories: [FeedCategory] {
    categoryLabels.compactMap(Self.topic)
  }

  private var categoryLabels: [String] {
    let written = (values["category"] ?? "").utf8.prefix(Self.maximumBytes)
    return written.split { ",/".utf8.contains($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The topics of a folder. A single category has the folder's name as its label.
  var folderTopics: [FeedCategory] {
    let categories = categories
    if categories.count == 1, let name {
      return [
        FeedCategory(slug: categories[0].slug, label: PlainText.shortened(name, to: EntryBuilder.maximumLabelBytes))
      ]
    }
    return categories.isEmpty ? [name.flatMap(Self.topic)].compactMap { $0 } : categories
  }

  private static func topic(_ label: String) -> FeedCategory? {
    guard let label = line(label, within: EntryBuilder.maximumLabelBytes) else { return nil }
    return Slug.make(label).map { FeedCategory(slug: $0, label: label) }
  }

  /// The maximum number of bytes of an attribute or a title that are read.
  static let maximumBytes = 8192

  /// Returns a text on one line, shortened to a limit; nil if it is empty.
  static func line(_ text: String, within limit: Int = EntryBuilder.maximumTitleBytes) -> String? {
    let start = text.utf8.count <= maximumBytes ? text : String(decoding: text.utf8.prefix(maximumBytes), as: UTF8.self)
    return EntryBuilder.line(RawText(start, .unsure)).nonEmpty.map { PlainText.shortened($0, to: limit) }
  }

  /// The schemes with which programs open feeds.
  private static let feedSchemes: Set<String> = ["feed", "feeds", "itpc", "itpcs", "pcast", "podcast", "rss"]
  /// The extensions of files. A text such as `feed.xml` is no host.
  private static let extensions: Set<String> = [
    "asp", "aspx", "atom", "cgi", "htm", "html", "json", "opml", "php", "rdf", "rss", "txt", "xml",
  ]

  /// Returns an address. `feed://example.org/` and `feed:https://example.org/` are those of programs that open feeds, and
  /// an address may lack its scheme.
  private static func address(_ written: String) -> String? {
    let written = written.trimmed
    guard written.utf8.count <= 4096 else { return nil }
    if let colon = written.utf8.firstIndex(of: UInt8(ascii: ":")),
      feedSchemes.contains(String(decoding: written.utf8[..<colon].prefix(16), as: UTF8.self).lowercased())
    {
      let rest = String(written[colon...].dropFirst())
      return rest.utf8.starts(with: "//".utf8) ? SafeLink.web("https:" + rest) : address(rest)
    }
    return SafeLink.web(written) ?? (startsWithHost(written) ? SafeLink.web("https://" + written) : nil)
  }

  /// Whether an address begins with the name of a host, such as `example.org/feed` or `www.example.org:8080`.
  private static func startsWithHost(_ written: String) -> Bool {
    let authority = written.utf8.prefix { !"/?#".utf8.contains($0) }
    let host = authority.prefix { $0 != UInt8(ascii: ":") }
    guard authority.dropFirst(host.count + 1).allSatisfy(\.isASCIIDigit), host.first != UInt8(ascii: "."),
      let point = host.lastIndex(of: UInt8(ascii: "."))
    else { return false }
    let last = host[host.index(after: point)...]
    return last.count >= 2 && last.allSatisfy(\.isASCIILetter)
      && host.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
      && !extensions.contains(String(decoding: last.prefix(8), as: UTF8.self).lowercased())
  }
}
