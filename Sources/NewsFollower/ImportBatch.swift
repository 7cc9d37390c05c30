public import Foundation
public import News
public import NewsFeeds
public import NewsStore

/// Entries of feeds on their way into the store, with the topics that they need. `tidings import` and subscriptions share
/// it, so that both store the same items.
///
///     var batch = ImportBatch(now: Date())
///     if let note = batch.add(entry) { print(note) }
///     try await store.ensureTopics(batch.takeTopics())
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
  private var knownTopics: Set<String> = []
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
      slugs = entry.categories.map(\.slug).sorted()
      for category in entry.categories where !knownTopics.contains(category.slug) && topics[category.slug] == nil {
        // The language is that of the first entry with the category; "und" is BCP 47 for an unknown language.
        topics[category.slug] = TopicContent(titles: [entry.language ?? "und": category.label], position: 0)
      }
    }
    items.append(
      ImportedItem(
        id: entry.id, source: entry.source, guid: entry.guid, digest: entry.digest,
        content: ItemContent(
          state: assignment.state, date: date, text: entry.text, title: entry.title, summary: entry.summary,
          html: entry.html, topics: slugs, language: entry.language ?? assignment.language, url: entry.url,
          author: entry.author, breaking: entry.breaking, attachments: entry.attachments),
        isCopy: entry.isCopy, isDateFirstSeen: entry.isDateFirstSeen, origin: entry.origin, linkID: entry.linkID,
        earlierID: entry.earlierID, sharesName: entry.sharesName))
    return note
  }

  /// Returns the topics that the items need and that were not returned before.
  public mutating func takeTopics() -> [String: TopicContent] {
    defer { topics = [:] }
    knownTopics.formUnion(topics.keys)
    return topics
  }

  /// Returns the items and removes them.
  public mutating func takeItems() -> [ImportedItem] {
    defer { items = [] }
    return items
  }
}
