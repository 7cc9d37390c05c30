import Foundation
import News
import NewsFeeds
import NewsFollower
import NewsStore
import Testing

@Suite("Entries on their way into the store") struct ImportBatchTests {
  private static let now = Date(timeIntervalSince1970: 1_770_000_000)

  /// Returns the entries of a feed, and the notes about them.
  private static func batch(
    _ entries: String, _ assignment: ImportBatch.Assignment = ImportBatch.Assignment()
  ) -> (ImportBatch, notes: [String]) {
    let feed = #"{"version": "https://jsonfeed.org/version/1.1", "title": "Port", "items": [\#(entries)]}"#
    let reader = FeedReader(FeedReader.Options(address: "https://port.example/feed"))
    var batch = ImportBatch(now: now, assignment: assignment)
    var notes: [String] = []
    for case .entry(let entry) in reader.feed(Data(feed.utf8)) + reader.finish() {
      if let note = batch.add(entry) { notes.append(note) }
    }
    return (batch, notes)
  }

  /// Returns the items of a feed, and the notes about them.
  private static func items(_ entries: String, _ assignment: ImportBatch.Assignment) -> ([ImportedItem], [String]) {
    let (read, notes) = Self.batch(entries, assignment)
    var batch = read
    _ = batch.takeTopics(beside: [:])
    return (batch.takeItems(), notes)
  }

  private static func entry(_ id: Int, _ fields: String = #""date_published": "2026-01-02T00:00:00Z""#) -> String {
    #"{"id": "\#(id)", "content_text": "x", "tags": ["Sea"], \#(fields)}"#
  }

  @Test("have the topics of their subscription, or else those of their categories")
  func topics() {
    let desk = ImportBatch.Assignment(topics: ["desk"])
    #expect(Self.items(Self.entry(1), desk).0.map(\.content.topics) == [["desk"]])
    #expect(Self.items(Self.entry(1), ImportBatch.Assignment()).0.map(\.content.topics) == [["sea"]])
  }

  @Test("give a new topic the language of the first entry in it")
  func languagesOfTopics() {
    let entries = [("de", "Hafen"), ("en", "Sea"), ("fr", "Sea")].enumerated().map { index, entry in
      """
      {"id": "\(index)", "content_text": "x", "tags": ["\(entry.1)"], "language": "\(entry.0)",
      "date_published": "2026-01-02T00:00:00Z"}
      """
    }
    var batch = Self.batch(entries.joined(separator: ",")).0
    #expect(
      batch.takeTopics(beside: [:]).mapValues(\.titles) == ["hafen": ["de": "Hafen"], "sea": ["en": "Sea"]])
    // "und" is BCP 47 for an unknown language.
    var other = Self.batch(Self.entry(1)).0
    #expect(other.takeTopics(beside: [:]).mapValues(\.titles) == ["sea": ["und": "Sea"]])
  }

  @Test("have the language of their subscription only if they name none")
  func languages() {
    let dated = #""date_published": "2026-01-02T00:00:00Z""#
    let entries = Self.entry(1) + "," + Self.entry(2, dated + #", "language": "de""#)
    let items = Self.items(entries, ImportBatch.Assignment(language: "en")).0
    #expect(items.map(\.content.language) == ["en", "de"])
  }

  @Test("have the current time in place of a later one, which is noted")
  func future() {
    let entries = Self.entry(1) + "," + Self.entry(2, #""date_published": "2999-01-02T00:00:00Z""#)
    let (items, notes) = Self.items(entries, ImportBatch.Assignment())
    #expect(items.map { $0.content.date == Self.now } == [false, true])
    #expect(notes == ["2: the date 2999-01-02T00:00:00.000Z is in the future; the current time is used"])
    let reader = FeedReader()
    let line = Data(#"{"guid": "1", "text": "x", "date": "2999-01-02T00:00:00Z"}"#.utf8)
    // Dates have whole milliseconds.
    var batch = ImportBatch(now: Self.now + 0.0004)
    for case .entry(let entry) in reader.feed(line) + reader.finish() { _ = batch.add(entry) }
    #expect(batch.takeItems().map(\.content.date) == [Self.now])
  }

  @Test("of an export bring their topics with them, and make no others")
  func copies() {
    let line = """
      {"id": "0199d9f4-7c3e-7b1a-8f00-0123456789ab", "date": "2026-01-02T00:00:00Z", "text": "x", "sourceDigest": "", \
      "topics": ["a", "b"], "newTopics": [{"slug": "a", "titles": {"en": "A"}, "position": 3}]}
      """
    let reader = FeedReader()
    var batch = ImportBatch(now: Self.now)
    for case .entry(let entry) in reader.feed(Data(line.utf8)) + reader.finish() { _ = batch.add(entry) }
    #expect(!batch.hasNewNames)
    let topics = (1...2).map { _ in batch.takeTopics(beside: [:]) }
    #expect(topics == [["a": TopicContent(titles: ["en": "A"], position: 3)], [:]])
    let items = (1...2).map { _ in batch.takeItems() }
    #expect(items.map(\.count) == [1, 0])
    #expect(items[0].map(\.content.topics) == [["a", "b"]] && items[0].map(\.isCopy) == [true])
  }

  @Test("have a topic of an export as it was, also if a category has its name")
  func topicsOfExports() {
    let lines = """
      {"id": "0199d9f4-7c3e-7b1a-8f00-0123456789ab", "date": "2026-01-02T00:00:00Z", "text": "x", "sourceDigest": "", \
      "topics": ["a"], "newTopics": [{"slug": "a", "titles": {"en": "A"}, "position": 3}]}
      {"guid": "1", "date": "2026-01-02T00:00:00Z", "text": "x", "topics": ["A"]}
      """
    let reader = FeedReader()
    var batch = ImportBatch(now: Self.now)
    for case .entry(let entry) in reader.feed(Data(lines.utf8)) + reader.finish() { _ = batch.add(entry) }
    #expect(batch.takeTopics(beside: [:]) == ["a": TopicContent(titles: ["en": "A"], position: 3)])
    #expect(batch.takeItems().map(\.content.topics) == [["a"], ["a"]])
  }

  @Test("keep all that their feed says, and all that tells them from other entries")
  func allFields() throws {
    let feed = #"{"version": "https://jsonfeed.org/version/1.1", "title": "Port", "items": [\#(Self.entry(1))]}"#
    let reader = FeedReader(FeedReader.Options(address: "https://port.example/feed"))
    var entries: [FeedEntry] = []
    for case .entry(let entry) in reader.feed(Data(feed.utf8)) + reader.finish() { entries.append(entry) }
    var entry = try #require(entries.first)
    (entry.title, entry.summary, entry.html, entry.author) = ("Fog", "In short", "<p>x</p>", "Ann")
    (entry.language, entry.url, entry.breaking) = ("de", "https://port.example/1", true)
    entry.attachments = [Attachment(url: "https://port.example/1.mp3", type: "audio/mpeg")]
    (entry.origin, entry.linkID, entry.earlierID) = (UUID(), UUID(), UUID())
    (entry.isNamedByLink, entry.sharesName, entry.isDateFirstSeen) = (true, true, true)
    var batch = ImportBatch(now: Self.now)
    let note = batch.add(entry)
    let items = batch.takeItems()
    let content = ItemContent(
      state: .published, date: entry.date, text: "x", title: "Fog", summary: "In short", html: "<p>x</p>",
      topics: ["sea"], language: "de", url: "https://port.example/1", author: "Ann", breaking: true,
      attachments: entry.attachments)
    let expected = ImportedItem(
      id: entry.id, source: entry.source, guid: entry.guid, digest: entry.digest, content: content,
      isDateFirstSeen: true, origin: entry.origin, linkID: entry.linkID, isNamedByLink: true,
      earlierID: entry.earlierID, sharesName: true)
    #expect(note == nil && items == [expected])
    #expect(entry.source != nil && entry.guid != nil && entry.digest != nil)
  }

  @Test("have the topics that exist, and the state that their subscription gives them")
  func existingTopics() {
    var (batch, _) = Self.batch(Self.entry(1), ImportBatch.Assignment(state: .draft))
    #expect(batch.hasNewNames)
    let topics = batch.takeTopics(beside: ["sea": ["Sea"]])
    #expect(topics.isEmpty && !batch.hasNewNames)
    let items = batch.takeItems()
    #expect(items.map(\.content.topics) == [["sea"]] && items.map(\.content.state) == [.draft])
  }
}
