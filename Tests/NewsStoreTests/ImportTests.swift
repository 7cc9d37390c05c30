import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct ImportTests {
  /// Returns an entry of a source; each revision has its own digest and text.
  private static func entry(
    _ number: Int, revision: Int = 1, text: String? = nil, topics: [String] = [], date: Date = .newYear
  ) -> ImportedItem {
    ImportedItem(
      id: UUID(number), source: "https://example.com/feed", guid: "\(number)", digest: Data([UInt8(revision)]),
      content: ItemContent(
        state: .published, date: date, text: text ?? "revision \(revision)", title: "\(number)", html: "<p>x</p>",
        topics: topics, language: "en", url: "https://example.com/\(number)",
        attachments: [Attachment(url: "https://example.com/a.jpg", type: "image/jpeg", bytes: 3)]))
  }

  private static func counts(
    inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, skipped: Int = 0
  ) -> ImportCounts {
    var counts = ImportCounts()
    (counts.inserted, counts.updated, counts.unchanged, counts.skipped) = (inserted, updated, unchanged, skipped)
    return counts
  }

  @Test("Entries are inserted once, then unchanged, and updated when their source has changed")
  func again() async throws {
    try await NewsDatabase.withStore { store, sql in
      let entries = [Self.entry(1), Self.entry(2), Self.entry(3)]
      let first = try await store.importItems(entries)
      #expect(first == Self.counts(inserted: 3))
      #expect(try await sql.counter() == 3)
      #expect(try await store.importItems(entries) == Self.counts(unchanged: 3))
      #expect(try await sql.counter() == 3)
      let mixed = [Self.entry(1), Self.entry(2, revision: 2), Self.entry(4)]
      #expect(try await store.importItems(mixed) == Self.counts(inserted: 1, updated: 1, unchanged: 1))
      #expect(try await sql.counter() == 5)
      #expect(try await store.newsItem(UUID(2)).item.text == "revision 2")
      #expect(try await store.history(of: UUID(2), limit: 9).entries.map(\.editor) == [.import, .import])
      #expect(try await store.importItems([]) == Self.counts())
    }
  }

  @Test("An entry without a date keeps the date of its first import, and a later one changes nothing")
  func firstSeen() async throws {
    try await NewsDatabase.withStore { store, sql in
      func entry(_ revision: Int, seen date: Date) -> ImportedItem {
        var entry = Self.entry(1, revision: revision, date: date)
        entry.isDateFirstSeen = true
        return entry
      }
      let seen = Date.newYear
      #expect(try await store.importItems([entry(1, seen: seen)]) == Self.counts(inserted: 1))
      #expect(try await store.newsItem(UUID(1)).item.date == seen)
      #expect(try await store.importItems([entry(1, seen: seen + 60)]) == Self.counts(unchanged: 1))
      #expect(try await sql.counter() == 1)
      #expect(try await store.importItems([entry(2, seen: seen + 120)]) == Self.counts(updated: 1))
      let item = try await store.newsItem(UUID(1)).item
      #expect(item.date == seen)
      #expect(item.text == "revision 2")
      // Once its source gives a date, the item has that one.
      #expect(
        try await store.importItems([Self.entry(1, revision: 3, date: seen - 60)]) == Self.counts(updated: 1))
      #expect(try await store.newsItem(UUID(1)).item.date == seen - 60)
      #expect(try await store.importItems([entry(4, seen: seen + 180)]) == Self.counts(updated: 1))
      #expect(try await store.newsItem(UUID(1)).item.date == seen - 60)
    }
  }

  @Test("The time at which an entry was first seen is at most that of the database")
  func seenInTheFuture() async throws {
    try await NewsDatabase.withStore { store, sql in
      var entry = Self.entry(1, date: Date(timeIntervalSince1970: 32_000_000_000))
      entry.isDateFirstSeen = true
      _ = try await store.importItems([entry, Self.entry(2)])
      let isPast: Bool = try await sql.value("SELECT bool_and(date <= clock_timestamp()) FROM items")
      #expect(isPast)
      #expect(try await store.newsItem(UUID(2)).item.date == .newYear)
      let date = try await store.newsItem(UUID(1)).item.date
      #expect(try await store.importItems([entry]) == Self.counts(unchanged: 1))
      #expect(try await store.newsItem(UUID(1)).item.date == date)
    }
  }

  @Test("An imported item has all the fields of its entry")
  func fields() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.ensureTopics([
        "a": TopicContent(titles: ["en": "A"], position: 0), "b": TopicContent(titles: [:], position: 0),
      ])
      var entry = Self.entry(1, topics: ["a", "b"])
      (entry.content.summary, entry.content.author, entry.content.breaking) = ("s \\N\t\n\u{1F600}", "", true)
      _ = try await store.importItems([entry])
      let item = try await store.editorialItem(UUID(1))
      #expect(ItemContent(item) == entry.content)
      #expect(item.revision == 1)
    }
  }

  @Test("A changed entry with equal content is recorded, and takes no version")
  func sameForReaders() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1, text: "same")])
      #expect(try await store.importItems([Self.entry(1, revision: 2, text: "same")]) == Self.counts(updated: 1))
      #expect(try await store.importItems([Self.entry(1, revision: 2, text: "same")]) == Self.counts(unchanged: 1))
      #expect(try await sql.counter() == 1)
    }
  }

  @Test("An editor's changes stay until the source changes")
  func editedHere() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1)])
      _ = try await store.write(UUID(1), if: .exists, by: .key("desk")) { item in
        var content = ItemContent(try #require(item))
        content.text = "edited"
        return content
      }
      #expect(try await store.importItems([Self.entry(1)]) == Self.counts(unchanged: 1))
      #expect(try await store.newsItem(UUID(1)).item.text == "edited")
      #expect(try await sql.counter() == 2)
      #expect(try await store.importItems([Self.entry(1, revision: 2)]) == Self.counts(updated: 1))
      #expect(try await store.newsItem(UUID(1)).item.text == "revision 2")
      let editors = try await store.history(of: UUID(1), limit: 9).entries.map(\.editor)
      #expect(editors == [.import, .key("desk"), .import])
    }
  }

  @Test("An import never revives a retracted or expired item")
  func neverRevived() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1), Self.entry(2)])
      try await store.retract(UUID(1), reason: "wrong", if: .exists)
      try await sql.publish([UUID(2)], after: "UPDATE items SET state = 'expired' WHERE id = \(UUID(2))")
      let before = try await sql.counter()
      for revision in 1...2 {
        let entries = [Self.entry(1, revision: revision), Self.entry(2, revision: revision)]
        #expect(try await store.importItems(entries) == Self.counts(skipped: 2))
      }
      #expect(try await sql.counter() == before)
      #expect(try await store.editorialItem(UUID(1)).state == .retracted)
      #expect(try await store.editorialItem(UUID(2)).state == .expired)
    }
  }

  @Test("An item that an editor has turned into a draft stays a draft, with the current content of its source")
  func draft() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1)])
      try await sql.publish([UUID(1)], after: "UPDATE items SET state = 'draft'")
      #expect(try await store.importItems([Self.entry(1, revision: 2)]) == Self.counts(updated: 1))
      let item = try await store.editorialItem(UUID(1))
      #expect(item.state == .draft)
      #expect(item.item.text == "revision 2")
      #expect(try await sql.counter() == 2)
    }
  }

  @Test("An import does not take over an item that was created locally")
  func madeHere() async throws {
    try await NewsDatabase.withStore { store, sql in
      let content = ItemContent(state: .published, date: .newYear, text: "ours")
      _ = try await store.create(UUID(1), content)
      #expect(try await store.importItems([Self.entry(1), Self.entry(2)]) == Self.counts(inserted: 1, skipped: 1))
      #expect(ItemContent(try await store.editorialItem(UUID(1))) == content)
      #expect(try await sql.counter() == 2)
    }
  }

  @Test("A copy from an export is inserted, and never overwrites an item")
  func copies() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.importItems([Self.entry(1)])
      let copies = [1, 2].map { number in
        var copy = Self.entry(number, revision: 2)
        copy.isCopy = true
        return copy
      }
      #expect(try await store.importItems(copies) == Self.counts(inserted: 1, unchanged: 1))
      #expect(try await store.newsItem(UUID(1)).item.text == "revision 1")
    }
  }

  @Test("The last of several entries with the same id is used")
  func repeatedID() async throws {
    try await NewsDatabase.withStore { store, sql in
      let entries = [Self.entry(1), Self.entry(2), Self.entry(1, revision: 2), Self.entry(1, revision: 3)]
      let counts = try await store.importItems(entries)
      #expect(counts == Self.counts(inserted: 2, skipped: 2))
      #expect(try await store.newsItem(UUID(1)).item.text == "revision 3")
      #expect(try await sql.counter() == 2)
    }
  }

  @Test(
    "1000 items are one publication of 1000 versions in the order of their dates; a larger import is refused as a whole"
  )
  func largest() async throws {
    try await NewsDatabase.with { url in
      let connection = PostgresConfiguration(connectionString: url)
      let store = NewsStore(connection: connection, logger: NewsDatabase.logger)
      let sql = PostgresPool(configuration: connection, logger: NewsDatabase.logger)
      let entries = (1...1000).map { Self.entry($0, date: .newYear - TimeInterval($0)) }
      let payloads = try await notifications(url) {
        let counts = try await store.importItems(entries.shuffled())
        #expect(counts == Self.counts(inserted: 1000))
      }
      #expect(payloads.count == 1)
      #expect(payloads.first?.hasSuffix(" 1000") == true)
      let log = try await sql.query("SELECT item FROM change_log WHERE scope = '' ORDER BY version")
      #expect(try log.map { try $0.decode("item", as: UUID.self) } == entries.map(\.id).reversed())
      #expect(NewsStore.largestImport == 1000)
      let tooMany = (2001...3001).map { Self.entry($0) }
      await #expect(throws: PostgresError.self) { try await store.importItems(tooMany) }
      #expect(try await sql.value("SELECT count(*) FROM items") == 1000)
      await store.shutdown()
      await sql.shutdown()
    }
  }

  @Test("The search index is merged after 2000 entries, whether they are new or changed")
  func searchIndex() async throws {
    try await NewsDatabase.withStore { store, sql in
      for revision in 1...2 { _ = try await store.importItems((1...1000).map { Self.entry($0, revision: revision) }) }
      #expect(try await sql.value("SELECT gin_clean_pending_list('items_by_search_and_day')") == 0)
    }
  }

  @Test("An import with an unknown topic is refused by its name, and imports nothing of the chunk")
  func unknownTopics() async throws {
    try await NewsDatabase.withStore { store, sql in
      let entries = [Self.entry(1), Self.entry(2, topics: ["sport"])]
      await #expect(throws: StoreError.unknownTopics(["sport"])) { try await store.importItems(entries) }
      #expect(try await sql.counter() == 0)
      try await store.ensureTopics(["sport": TopicContent(titles: ["en": "Sport"], position: 0)])
      #expect(try await store.importItems(entries) == Self.counts(inserted: 2))
      #expect(try await store.topic("sport").topic.items == 1)
    }
  }

  @Test("Ensuring an existing topic changes nothing")
  func ensuredTopics() async throws {
    try await NewsDatabase.withStore { store, _ in
      let made = try await store.createTopic("a", TopicContent(titles: ["en": "Ours"], position: 7)).topic
      try await store.ensureTopics([
        "a": TopicContent(titles: ["en": "Theirs"], position: 1), "b": TopicContent(titles: ["und": "B"], position: 2),
      ])
      try await store.ensureTopics(["b": TopicContent(titles: ["und": "C"], position: 3)])
      try await store.ensureTopics([:])
      #expect(try await store.topic("a").topic == made)
      #expect(try await store.topic("b").topic.titles == ["und": "B"])
    }
  }

  @Test("Concurrent imports of the same entries insert each entry once")
  func concurrent() async throws {
    try await NewsDatabase.withStore { store, sql in
      let entries = (1...50).map { Self.entry($0) }
      let sum = try await withThrowingTaskGroup(of: ImportCounts.self) { group in
        for _ in 1...4 { group.addTask { try await store.importItems(entries.shuffled()) } }
        return try await group.reduce(into: ImportCounts()) { $0 += $1 }
      }
      #expect(sum.inserted + sum.updated + sum.unchanged + sum.skipped == 200)
      #expect(sum.inserted == 50)
      #expect(try await sql.counter() == 50)
    }
  }
}
