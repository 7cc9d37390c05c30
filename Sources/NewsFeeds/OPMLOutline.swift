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
    return add(outline, line: line, topics: Self.union(around, outline.categories))
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>, isCDATA: Bool) {
    if titleText != nil { titleText?.append(contentsOf: bytes) }
  }

  func end() {
    if let problem = open.popLast()?.problem { add(problem) }
    guard let text = titleText else { return }
    title = Outline.line(String(decoding: text, as: UTF8.self), within: EntryBuilder.maximumTitleBytes)
    titleText = nil
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
      .compactMap { Self.line($0, within: EntryBuilder.maximumTitleBytes) }.first
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
    let written = values["category"] ?? ""
    return written.utf8.count <= 8192
      ? written.split(whereSeparator: { ",/".contains($0) }).compactMap { Self.topic(String($0)) } : []
  }

  /// The topics of a folder. A single category has the folder's name as its label.
  var folderTopics: [FeedCategory] {
    let categories = categories
    if categories.count == 1, let name = name.flatMap({ Self.line($0, within: EntryBuilder.maximumLabelBytes) }) {
      return [FeedCategory(slug: categories[0].slug, label: name)]
    }
    return categories.isEmpty ? [name.flatMap(Self.topic)].compactMap { $0 } : categories
  }

  private static func topic(_ label: String) -> FeedCategory? {
    guard let label = line(label, within: EntryBuilder.maximumLabelBytes) else { return nil }
    return Slug.make(label).map { FeedCategory(slug: $0, label: label) }
  }

  /// Returns a text on one line; nil if it is empty or too long.
  static func line(_ text: String, within limit: Int) -> String? {
    guard text.utf8.count <= 4 * limit else { return nil }
    return EntryBuilder.line(RawText(text, .unsure)).nonEmpty.flatMap { $0.utf8.count <= limit ? $0 : nil }
  }

  /// Returns an address. `feed://example.org/` and `feed:https://example.org/` are those of browsers that open feeds.
  private static func address(_ written: String) -> String? {
    let written = written.trimmed
    guard written.utf8.count <= 4096, written.lowercased().hasPrefix("feed:") else { return SafeLink.web(written) }
    let rest = String(written.dropFirst("feed:".count))
    return SafeLink.web(rest.hasPrefix("//") ? "https:" + rest : rest)
  }
}
