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

  /// The topics of the open outlines, outermost first, each with those of the outlines around it. Other elements repeat
  /// the topics around them.
  private var open: [[FeedCategory]] = []
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
      guard local == "opml" else { return "is XML, but not OPML: its root is <\(name.local.prefix(64))>" }
    }
    let around = open.last ?? []
    if local == "title", title == nil { titleText = [] }
    guard local == "outline" else {
      open.append(around)
      return nil
    }
    let outline = Outline(attributes)
    guard outline.isFeed else {
      open.append(Self.union(around, outline.folderTopics))
      return nil
    }
    open.append(around)
    return add(outline, line: line, topics: Self.union(around, outline.categories))
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>, isCDATA: Bool) {
    if titleText != nil { titleText?.append(contentsOf: bytes) }
  }

  func end() {
    if !open.isEmpty { open.removeLast() }
    guard let text = titleText else { return }
    title = Outline.line(String(decoding: text, as: UTF8.self), within: EntryBuilder.maximumTitleBytes)
    titleText = nil
  }

  /// - Returns: The reason why the list is rejected; nil if it is not.
  private func add(_ outline: Outline, line: Int, topics: [FeedCategory]) -> String? {
    guard let feed = outline.feed(topics: topics) else {
      if problems.count < Self.maximumProblems {
        let message = "the feed \"\(outline.name ?? "")\" has no http or https address (xmlUrl)"
        problems.append(FeedProblem(position: .line(line), message: message))
      }
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

  /// Returns all topics, each slug once, at most as many as an item may have.
  private static func union(_ topics: [FeedCategory], _ others: [FeedCategory]) -> [FeedCategory] {
    var slugs = Set(topics.map(\.slug))
    return Array((topics + others.filter { slugs.insert($0.slug).inserted }).prefix(EntryBuilder.maximumCategories))
  }
}

/// The attributes of an `outline`. Their names are written with different capitals.
private struct Outline {
  private var values: [String: String] = [:]

  init(_ attributes: [FeedAttribute]) {
    for attribute in attributes where attribute.space == .none && attribute.name.utf8.count <= 16 {
      values[attribute.name.lowercased()] = attribute.value
    }
  }

  /// The name on one line.
  var name: String? {
    ["title", "text"].lazy.compactMap { values[$0] }
      .compactMap { Self.line($0, within: EntryBuilder.maximumTitleBytes) }.first
  }

  var isFeed: Bool {
    if values["xmlurl"] != nil { return true }
    let type = values["type"] ?? ""
    return type.utf8.count <= 16 && ["rss", "atom", "feed"].contains(type.lowercased())
  }

  /// Returns the feed; nil without a valid address.
  func feed(topics: [FeedCategory]) -> OPML.Feed? {
    guard let address = (values["xmlurl"] ?? values["url"]).flatMap(Self.address) else { return nil }
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
