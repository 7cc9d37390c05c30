public import Foundation
public import News
public import NewsFeeds
public import NewsStore

/// Entries of feeds on their way into the store, with the topics that they need. `tidings import` and subscriptions share
/// it, so that both store the same items.
///
///     var batch = ImportBatch(now: Date())
///     if let note = batch.add(entry) { print(note) }
///     try await store.ensureTopics(batch.takeTopics(beside: store.topicTitles().bySlug))
///     let counts = try await store.importItems(batch.takeItems())
public struct ImportBatch: Sendable {
  /// The properties that a subscription gives to its items.
  public struct Assignment: Sendable {
    /// The topics of all items; if there are none, the categories of the entries become topics.
    public var topics: [String]
    /// The language of entries that name none.
    public var language: String?
    /// The state of new items: `published` or `draft`.
    public var state: EditorialItem.State

    /// Creates an assignment. The default is that of an import.
    public init(topics: [String] = [], language: String? = nil, state: EditorialItem.State = .published) {
      self.topics = topics
      self.language = language
      self.state = state
    }
  }

  /// The items that were not taken yet.
  public private(set) var items: [ImportedItem] = []
  private var topics: [String: TopicContent] = [:]
  private var names = TopicNames()
  /// The categories of the items that become topics, by the index of the item.
  private var categories: [Int: (list: [FeedCategory], language: String?)] = [:]
  private let now: Date
  private let assignment: Assignment

  /// - Parameter now: The latest date of an item. A later one is replaced by it.
  public init(now: Date, assignment: Assignment = Assignment()) {
    self.now = now
    self.assignment = assignment
  }

  /// Adds an entry.
  ///
  /// - Returns: A note for the user; nil if there is nothing to say.
  public mutating func add(_ entry: FeedEntry) -> String? {
    var (date, note) = (entry.date, String?.none)
    if date > now {
      note =
        "\(entry.guid ?? "\(entry.id)"): the date \(RFC3339.string(from: date)) is in the future; the current time is used"
      date = RFC3339.truncated(now)
    }
    for topic in entry.newTopics {
      topics[topic.slug] = TopicContent(titles: topic.titles, position: topic.position)
    }
    var slugs = assignment.topics
    if slugs.isEmpty {
      slugs = Set(entry.categories.map(\.slug)).sorted()
      // The topics of a copy are slugs already.
      if !entry.isCopy, !slugs.isEmpty { categories[items.count] = (entry.categories, entry.language) }
    }
    items.append(
      ImportedItem(
        id: entry.id, source: entry.source, guid: entry.guid, digest: entry.digest,
        content: ItemContent(
          state: assignment.state, date: date, text: entry.text, title: entry.title, summary: entry.summary,
          html: entry.html, topics: slugs, language: entry.language ?? assignment.language, url: entry.url,
          author: entry.author, breaking: entry.breaking, attachments: entry.attachments),
        isCopy: entry.isCopy, isDateFirstSeen: entry.isDateFirstSeen, origin: entry.origin, linkID: entry.linkID,
        isNamedByLink: entry.isNamedByLink, earlierID: entry.earlierID, sharesName: entry.sharesName))
    return note
  }

  /// Whether the items have categories whose topics are not known yet.
  public var hasNewNames: Bool { categories.values.contains { $0.list.contains { !names.knows($0) } } }

  /// Finds the topics of the items' categories.
  ///
  /// - Parameter existing: The titles of the topics that exist, by slug. They are only needed if the batch ``hasNewNames``.
  /// - Returns: The topics that the items need and that were not returned before.
  public mutating func takeTopics(beside existing: [String: [String]]) -> [String: TopicContent] {
    names.add(existing)
    let pending = categories.sorted { $0.key < $1.key }
    for category in TopicNames.ordered(pending.flatMap { $0.value.list }) where !names.knows(category) {
      let slug = names.slug(for: category)
      guard existing[slug] == nil, topics[slug] == nil else { continue }
      // The language is that of the first entry with the category; "und" is BCP 47 for an unknown language.
      let language = pending.first { $0.value.list.contains(category) }?.value.language
      topics[slug] = TopicContent(titles: [language ?? "und": category.label], position: 0)
    }
    for (index, (list, _)) in pending {
      items[index].content.topics = Set(list.map { names.slug(for: $0) }).sorted()
    }
    categories = [:]
    defer { topics = [:] }
    return topics
  }

  /// Returns the items and removes them. Their topics are found by ``takeTopics(beside:)`` before.
  public mutating func takeItems() -> [ImportedItem] {
    defer { items = [] }
    return items
  }
}
