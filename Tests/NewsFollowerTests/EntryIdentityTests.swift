import FaultServer
import Foundation
import News
import NewsFeeds
import NewsFollower
import NewsStore
import PostgresClient
import Synchronization
import TestSupport
import Testing

@Suite("The identity of entries") struct EntryIdentityTests {
  /// An entry of an RSS feed.
  struct Entry: Sendable {
    var title: String
    var link: String?
    /// The elements that identify the entry.
    var names = "<guid isPermaLink=\"false\">same</guid>"
    /// The hours since the start of the test; nil for no date.
    var hour: Int? = 0
    var text: String?
    var extra = ""

    var xml: String {
      let date = hour.map { Followed.start.addingTimeInterval(3600 * Double($0) - 86_400).formatted(.iso8601) }
      return """
        <item><title>\(title)</title>\(link.map { "<link>\($0)</link>" } ?? "")\(names)
        \(date.map { "<dc:date>\($0)</dc:date>" } ?? "")<description>\(text ?? "About \(title)")</description>\(extra)</item>
        """
    }
  }

  private static func story(_ number: Int) -> Entry {
    Entry(title: "Story \(number)", link: "/\(number)", hour: number)
  }

  private static func document(_ entries: [Entry]) -> Data {
    Data(
      """
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Port</title>
      <link>https://port.example/</link>\(entries.map(\.xml).joined())</channel></rss>
      """.utf8)
  }

  /// Polls the documents one after the other, a day apart.
  ///
  /// - Parameter body: Receives the items by their ids after each poll.
  private static func polling(
    _ documents: [Data], _ prepare: @Sendable (Followed) async throws -> Void = { _ in },
    _ body: @Sendable (_ snapshots: [[UUID: NewsItem]], Followed) async throws -> Void
  ) async throws {
    try await Followed.with { followed in
      try await prepare(followed)
      var snapshots: [[UUID: NewsItem]] = []
      let id = try await followed.subscribe("/feed")
      for document in documents {
        followed.server.respond { _ in FaultResponse(body: document) }
        #expect(try await followed.poll(id).lastError == nil)
        let items = try await followed.store.editorialItems(EditorialQuery()).items.map(\.item)
        snapshots.append(Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0) }))
        followed.advance(86_400)
      }
      try await body(snapshots, followed)
    }
  }

  private static func titles(_ items: [UUID: NewsItem]) -> [String] { items.values.compactMap(\.title).sorted() }

  private static func titles(after documents: [[Entry]]) async throws -> [String] {
    let last = Flagged<[String]>()
    try await polling(documents.map(document)) { snapshots, _ in last.set(titles(snapshots[snapshots.count - 1])) }
    return last.value ?? []
  }

  @Test("A guid that all entries share identifies none of them, and no item becomes another")
  func sharedGUID() async throws {
    let first = (1...3).map(Self.story)
    let second = [Entry(title: "Story 4", link: "/4", hour: 4)] + first
    // The names are known to be shared, so that one entry in a document is enough.
    let third = [Entry(title: "Story 5", link: "/5", hour: 4, text: "About Story 4")]
    let documents = [first, first, second, third, Array(second.reversed())].map(Self.document)
    try await Self.polling(documents) { snapshots, followed in
      #expect(snapshots.map(\.count) == [3, 3, 4, 5, 5])
      for (earlier, later) in zip(snapshots, snapshots.dropFirst()) {
        for (id, item) in earlier { #expect(later[id] == item) }
      }
      #expect(Self.titles(snapshots[4]) == (1...5).map { "Story \($0)" })
      // An edited story with a shared guid is updated by its link.
      var edited = first
      edited[1].title = "Story 2, edited"
      let document = Self.document(edited)
      followed.server.respond { _ in FaultResponse(body: document) }
      _ = try await followed.poll(try #require(try await followed.store.subscriptions().first).id)
      #expect(try await followed.titles() == ["Story 1", "Story 2, edited", "Story 3", "Story 4", "Story 5"])
      // The same is true if only the items show that the name is shared.
      _ = try await followed.sql.query("DELETE FROM entry_names")
      followed.advance(86_400)
      let single = Self.document([Entry(title: "Story 3, edited", link: "/3", hour: 3)])
      followed.server.respond { _ in FaultResponse(body: single) }
      _ = try await followed.poll(try #require(try await followed.store.subscriptions().first).id)
      #expect(
        try await followed.titles() == ["Story 1", "Story 2, edited", "Story 3, edited", "Story 4", "Story 5"])
    }
  }

  @Test("Files tell entries apart that share a guid and have no links, and links that are the feed's page do not")
  func files() async throws {
    let entries = (1...3).map { (number: Int) in
      Entry(
        title: "Episode \(number)", link: number == 2 ? "https://port.example/" : nil, hour: number,
        extra: "<enclosure url=\"https://port.example/\(number).mp3\" type=\"audio/mpeg\"/>")
    }
    #expect(try await Self.titles(after: [entries, entries]) == (1...3).map { "Episode \($0)" })
    let unnamed = entries.map { entry in
      var entry = entry
      (entry.names, entry.link) = ("", "/episodes")
      return entry
    }
    #expect(try await Self.titles(after: [unnamed, unnamed]) == (1...3).map { "Episode \($0)" })
  }

  @Test("Messages of one day without title, link and guid are told apart by their texts")
  func messages() async throws {
    func message(_ text: String) -> String {
      "<item><dc:date>2026-08-01</dc:date><description>\(text)</description></item>"
    }
    func document(_ texts: [String]) -> Data {
      Data(
        """
        <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Port</title>
        <link>https://port.example/</link>\(texts.map(message).joined())</channel></rss>
        """.utf8)
    }
    let (first, all) = (["The ferry is late"], ["The ferry is full", "It runs again", "The ferry is late"])
    try await Self.polling([document(first), document(all), document(all)]) { snapshots, _ in
      #expect(snapshots.map { $0.values.map(\.text).sorted() } == [first, all.sorted(), all.sorted()])
      for (id, item) in snapshots[0] { #expect(snapshots[2][id] == item) }
    }
  }

  @Test(
    "An entry of which nothing but a name without a link has stayed is another one",
    arguments: [
      ["<guid isPermaLink=\"false\">latest</guid>"], ["", "/status"],
      ["<guid isPermaLink=\"false\">latest</guid>", "https://port.example/"],
    ])
  func oneAtATime(names: [String]) async throws {
    func entry(_ number: Int, _ text: String? = nil) -> Entry {
      Entry(
        title: "Day \(number)", link: names.count > 1 ? names[1] : nil, names: names[0], hour: 24 * number, text: text)
    }
    // The headline of the first entry comes again with another text on another day.
    var repeated = entry(5, "Other")
    repeated.title = "Day 1"
    let documents = [
      [entry(1)], [entry(1, "Edited")], [entry(2)], [entry(2, "Edited")], [entry(3), entry(2, "Again")], [repeated],
    ]
    try await Self.polling(documents.map(Self.document)) { snapshots, _ in
      #expect(snapshots.map(\.count) == [1, 1, 2, 2, 3, 4])
      #expect(snapshots[4].values.map(\.text).sorted() == ["About Day 3", "Again", "Edited"])
      for (id, item) in snapshots[1] { #expect(snapshots[4][id] == item) }
      for (id, item) in snapshots[4] { #expect(snapshots[5][id] == item) }
    }
  }

  @Test("Entries that share a UUID are told apart by their links, and a single one with it is always the same")
  func sharedUUID() async throws {
    @Sendable func story(_ number: Int) -> Entry {
      let name = "<guid>urn:uuid:019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10</guid>"
      return Entry(title: "Story \(number)", link: "/\(number)", names: name, hour: number)
    }
    #expect(try await Self.titles(after: [[story(1), story(2)]]) == ["Story 1", "Story 2"])
    #expect(try await Self.titles(after: [[story(1)], [story(2)]]) == ["Story 2"])
    // The item of the first one has the UUID as its id, and stays the only one with its story.
    #expect(try await Self.titles(after: [[story(1)], [story(1), story(2)]]) == ["Story 1", "Story 2"])
    // An item from before UUIDs were known has the id of the name, which is not distrusted either.
    try await Self.polling([Self.document([story(2)])]) { followed in
      try await Self.storeAsBefore(Self.document([story(1)]), followed)
    } _: { snapshots, _ in
      #expect(snapshots.map(Self.titles) == [["Story 2"]])
    }
  }

  @Test("One message of a day at a time, without title, link and guid, is an item of its own")
  func dailyMessages() async throws {
    let documents = ["It is late", "It runs again", "It runs again"].map { text in
      Data(
        """
        <rss version="2.0"><channel><title>Port</title><link>https://port.example/</link>
        <item><pubDate>Sat, 01 Aug 2026</pubDate><description>\(text)</description></item></channel></rss>
        """.utf8)
    }
    try await Self.polling(documents) { snapshots, _ in
      #expect(snapshots.map(\.count) == [1, 2, 2])
      for (id, item) in snapshots[0] { #expect(snapshots[2][id] == item) }
    }
  }

  @Test("A repeated entry is skipped, also one of those that share a guid")
  func repetition() async throws {
    let entries = [1, 2, 1, 2].map(Self.story)
    #expect(try await Self.titles(after: [entries]) == ["Story 1", "Story 2"])
    let same = [Entry(title: "New", link: "/1", hour: 1), Entry(title: "Old", link: "/1")]
    #expect(try await Self.titles(after: [same]) == ["New"])
  }

  @Test(
    "An entry of which anything has stayed is the same one",
    arguments: [
      Entry(title: "Story 1", link: "/other", hour: 0), Entry(title: "Edited", link: "/other", hour: 0, text: "Edited"),
      Entry(title: "Story 1", link: "/other", hour: 9, text: "Edited"),
      Entry(title: "Edited", link: "/other", hour: 9, text: "About Story 1"),
      Entry(title: "Edited", link: "/1", hour: 9, text: "Edited"),
      Entry(title: "Edited", link: nil, hour: 9, text: "Edited"),
    ])
  func changed(entry: Entry) async throws {
    #expect(try await Self.titles(after: [[Entry(title: "Story 1", link: "/1")], [entry]]) == [entry.title])
  }

  @Test("An entry of which nothing but the guid has stayed is another one", arguments: [0, 1, nil])
  func replaced(hour: Int?) async throws {
    let documents = (1...3).map { number in
      [Entry(title: "Story \(number)", link: "/\(number)", hour: hour.map { $0 * number })]
    }
    let isDated = hour == 0
    let titles = try await Self.titles(after: documents)
    #expect(titles == (isDated ? ["Story 3"] : ["Story 1", "Story 2", "Story 3"]))
  }

  @Test("An entry without a title of which nothing but the guid has stayed is another one")
  func untitled() async throws {
    let documents = (1...3).map { (number: Int) in
      let entry = Entry(title: "", link: "/\(number)", hour: number, text: "Text \(number)")
      return Data(String(decoding: Self.document([entry]), as: UTF8.self).replacing("<title></title>", with: "").utf8)
    }
    try await Self.polling(documents) { snapshots, _ in
      #expect(snapshots.map(\.count) == [1, 2, 3])
      for (id, item) in snapshots[0] { #expect(snapshots[2][id] == item) }
    }
  }

  @Test("Other identifiers take the place of a missing guid", arguments: ["dc:identifier", "a:id"])
  func identifiers(name: String) async throws {
    func entry(_ title: String, _ link: String) -> Entry {
      Entry(title: title, link: link, names: "<\(name) xmlns:a=\"http://www.w3.org/2005/Atom\">story-77</\(name)>")
    }
    let documents = [[entry("Story", "/s?day=20")], [entry("Story, edited", "/s?day=21")]]
    #expect(try await Self.titles(after: documents) == ["Story, edited"])
  }

  @Test("References in guids are written in several ways")
  func references() async throws {
    let spellings = ["&#038;", "&amp;", "&#x26;", "<![CDATA[&]]>"]
    let documents = spellings.map {
      [Entry(title: "Story", link: "/1", names: "<guid>https://port.example/?a=b\($0)p=9</guid>")]
    }
    try await Self.polling(documents.map(Self.document)) { snapshots, _ in
      for snapshot in snapshots { #expect(snapshot == snapshots[0] && snapshot.count == 1) }
    }
  }

  /// Returns the number of items that fulfil a condition.
  private static func count(_ followed: Followed, _ condition: PostgresQuery = "true") async throws -> Int {
    let rows = try await followed.sql.query("SELECT count(*) AS count FROM items WHERE \(query: condition)")
    return try #require(rows.first).decode("count")
  }

  /// Stores the entries of a document as versions before the distrust of guids have stored them: by the guid or else the
  /// link, the first one of a name.
  private static func storeAsBefore(_ document: Data, _ followed: Followed) async throws {
    let reader = FeedReader(FeedReader.Options(address: "http://feeds.example/"))
    var batch = ImportBatch(now: Followed.start)
    var ids: [UUID] = []
    for case .entry(let entry) in reader.feed(document) + reader.finish() where !entry.sharesName {
      _ = batch.add(entry)
      ids.append(entry.earlierID ?? entry.id)
    }
    try await followed.store.ensureTopics(batch.takeTopics(beside: [:]))
    let items = zip(batch.takeItems(), ids).map { item, id in
      ImportedItem(id: id, source: item.source, guid: item.guid, digest: item.digest, content: item.content)
    }
    _ = try await followed.store.importItems(items)
  }

  @Test("The first poll after the upgrade inserts nothing and changes nothing")
  func upgrade() async throws {
    let document = Self.document([
      Entry(title: "By guid", link: "/1", names: "<guid isPermaLink=\"false\">1</guid>"),
      Entry(title: "By link", link: "/2", names: ""), Entry(title: "By title", names: ""),
      Entry(title: "By permalink", names: "<guid>https://port.example/4</guid>"),
      Entry(title: "By link, identified", link: "/5?day=20", names: "<dc:identifier>five</dc:identifier>"),
      Entry(title: "By URN", link: "/6", names: "<guid>urn:uuid:019aa2c4-8c1e-7d35-9f0a-3b1c5d7e9f10</guid>"),
    ])
    let later = Self.document([
      Entry(title: "Edited", link: "/5?day=21", names: "<dc:identifier>five</dc:identifier>")
    ])
    try await Self.polling([document, document, later]) { followed in
      try await Self.storeAsBefore(document, followed)
      #expect(try await Self.count(followed) == 6)
    } _: { snapshots, followed in
      #expect(snapshots[0].count == 6 && snapshots[1] == snapshots[0])
      let unchanged = try await Self.count(followed, "editor_revision = 1")
      #expect(unchanged == 5)
      #expect(snapshots[2].count == 6 && Self.titles(snapshots[2]).contains("Edited"))
      // The changed item has its present name.
      let named = try await Self.count(followed, "source_guid = 'five'")
      #expect(named == 1)
    }
  }

  @Test("An identifier that has become the name of an item is distrusted once two entries share it")
  func upgradeOfSharedIdentifier() async throws {
    func story(_ number: Int) -> Entry {
      Entry(title: "Story \(number)", link: "/\(number)", names: "<dc:identifier>same</dc:identifier>", hour: number)
    }
    let (first, second) = (story(1), story(2))
    let documents = [[first], [second, first], [second, first]].map(Self.document)
    try await Self.polling(documents) { followed in
      try await Self.storeAsBefore(documents[0], followed)
    } _: { snapshots, _ in
      #expect(snapshots.map(Self.titles) == [["Story 1"], ["Story 1", "Story 2"], ["Story 1", "Story 2"]])
      for (id, item) in snapshots[0] { #expect(snapshots[2][id] == item) }
    }
  }

  @Test("After the upgrade, an item keeps its id and its story, and those that were lost to its guid are added")
  func upgradeOfSharedGUID() async throws {
    let entries = (1...3).map(Self.story)
    let document = Self.document([Entry(title: "Story 4", link: "/4", hour: 4)] + entries)
    try await Self.polling([document, document]) { followed in
      try await Self.storeAsBefore(Self.document(entries), followed)
      #expect(try await followed.titles() == ["Story 1"])
    } _: { snapshots, followed in
      #expect(Self.titles(snapshots[0]) == (1...4).map { "Story \($0)" } && snapshots[1] == snapshots[0])
      let changed = try await Self.count(followed, "editor_revision > 1")
      #expect(changed == 0)
    }
  }
}

/// A value that a test takes out of a closure.
private final class Flagged<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  var value: Value? { stored.withLock { $0 } }

  func set(_ value: Value) { stored.withLock { $0 = value } }
}
