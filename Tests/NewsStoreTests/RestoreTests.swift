import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestSupport
import Testing

/// The records of a newsroom that an import restores.
@Suite struct RestoreTests {
  private static func item(
    _ number: Int, _ state: EditorialItem.State, revision: Int = 1, topics: [String] = []
  ) -> RestoredItem {
    RestoredItem(
      id: UUID(number), content: ItemContent(state: state, date: .newYear, text: "x", topics: topics), isDated: true,
      revision: revision, created: .newYear, edited: .newYear)
  }

  private static func media(_ number: Int) -> Media {
    var digest = Data(count: 31)
    digest.append(UInt8(number))
    return Media(
      id: UUID(number), digest: digest, type: "image/png", bytes: 1, width: 640, height: 480, name: "port.png",
      created: .newYear)
  }

  @Test("A file that was removed here stays removed; one of a retracted item is registered again")
  func media() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        "INSERT INTO withdrawn_media (media, reason) VALUES (\(UUID(1)), 'removed'), (\(UUID(2)), 'retracted')")
      try await store.restoreMedia((1...3).map(Self.media))
      try await store.restoreMedia((1...3).map(Self.media))
      #expect(try await store.registeredMedia(after: nil, 9) == [Self.media(2), Self.media(3)])
    }
  }

  @Test("Files are noted as withdrawn unless readers get them here, and as removed unless they are registered here")
  func withdrawals() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.restoreMedia((1...3).map(Self.media))
      _ = try await sql.query("INSERT INTO media_publications (media, item) VALUES (\(UUID(1)), \(UUID(9)))")
      try await store.restoreWithdrawals([
        (UUID(1), .retracted), (UUID(2), .removed), (UUID(3), .expired), (UUID(4), .removed),
      ])
      let rows = try await sql.query("SELECT media, reason FROM withdrawn_media ORDER BY media")
      #expect(try rows.map { try $0.decode("media", as: UUID.self) } == [UUID(3), UUID(4)])
      #expect(try rows.map { try $0.decode("reason", as: String.self) } == ["expired", "removed"])
    }
  }

  @Test("Items are restored in their states; one with an unknown topic only if it is retracted")
  func items() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      let items = [
        Self.item(1, .retracted, topics: ["nowhere"]), Self.item(2, .draft, topics: ["nowhere"]),
        Self.item(3, .draft, revision: 5), Self.item(4, .published, topics: ["a"]),
      ]
      let (created, existing) = try await store.restoreItems(items, keepingHistory: false)
      #expect(created == [UUID(1), UUID(3), UUID(4)] && existing.isEmpty)
      #expect(try await store.newsItem(UUID(4)).item.topics == ["a"])
      await #expect(throws: StoreError.notFound) { try await store.newsItem(UUID(3)) }
      let draft = try await store.editorialItem(UUID(3))
      #expect(draft.state == .draft && draft.revision == 5)
      // Its history begins with the import.
      let history = try await store.history(of: UUID(3), limit: 9).entries
      #expect(history.map(\.revision) == [5] && history.map(\.editor) == [.import])
      let again = try await store.restoreItems(items, keepingHistory: false)
      #expect(again.created.isEmpty && again.existing == created)
    }
  }

  @Test("The history is restored in its order")
  func history() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDraft(UUID(9))
      _ = try await store.restoreItems([Self.item(1, .draft, revision: 3)], keepingHistory: true)
      let writes = try (1...3).map { revision in
        let json = """
          {"item": "\(UUID(1))", "revision": \(revision), "at": "2026-01-01T00:00:00Z", "state": "draft",
            "fields": ["text"], "replaced": {}}
          """
        return try NewsJSON.decode(RestoredWrite.self, from: Data(json.utf8))
      }
      for _ in 0..<2 { try await store.restoreHistory(writes) }
      #expect(try await store.history(of: UUID(1), limit: 9).entries.map(\.revision) == [3, 2, 1])
      #expect(try await store.history(of: UUID(9), limit: 9).entries.map(\.revision) == [1], "it was here before")
    }
  }

  @Test("Topics that exist stay as they are; others have their titles, positions and revisions")
  func topics() async throws {
    try await NewsDatabase.withStore { store, _ in
      let made = try await store.createTopic("a", TopicContent(titles: ["en": "Ours"], position: 7)).topic
      try await store.restoreTopics([
        (slug: "a", content: TopicContent(titles: ["en": "Theirs"], position: 1), revision: 9),
        (slug: "b", content: TopicContent(titles: ["en": "B"], position: -2), revision: 4),
      ])
      #expect(try await store.topic("a").topic == made)
      let other = try await store.topic("b").topic
      #expect(other.titles == ["en": "B"] && other.position == -2 && other.revision == 4)
    }
  }

  @Test("An item that exists keeps its answer to readers, whatever the newsroom says of it")
  func gone() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDraft(UUID(1))
      try await store.retract(UUID(1), reason: nil, if: .exists)
      let items = [1, 2].map { number in
        var item = Self.item(number, .retracted)
        item.goneReason = .retracted
        return item
      }
      let (created, existing) = try await store.restoreItems(items, keepingHistory: false)
      #expect(created == [UUID(2)] && existing == [UUID(1)])
      // Readers have never seen the first one.
      await #expect(throws: StoreError.notFound) { try await store.newsItem(UUID(1)) }
      await #expect(throws: StoreError.retracted(reason: .retracted, detail: nil)) { try await store.newsItem(UUID(2)) }
    }
  }

  @Test("Subscriptions are polled at once, and one whose address is followed here stays as it is")
  func subscriptions() async throws {
    try await NewsDatabase.withStore { store, sql in
      func content(_ name: String, _ title: String) -> SubscriptionContent {
        SubscriptionContent(url: "https://\(name).example/feed", title: title)
      }
      _ = try await store.createSubscription(UUID(1), content("a", "Ours"))
      try await store.restoreSubscriptions([
        RestoredSubscription(id: UUID(2), content: content("a", "Theirs"), revision: 3),
        RestoredSubscription(id: UUID(3), content: content("b", "Other"), revision: 5),
      ])
      let found = try await store.subscriptions()
      #expect(found.map(\.id) == [UUID(1), UUID(3)])
      #expect(found.map(\.title) == ["Ours", "Other"] && found.map(\.revision) == [1, 5])
      #expect(try await sql.value("SELECT bool_and(next_poll <= clock_timestamp()) FROM subscriptions"))
    }
  }

  @Test("The export of a newsroom has its records in the order of their names, ids, addresses or dates")
  func order() async throws {
    try await NewsDatabase.withStore { store, _ in
      for slug in ["b", "a"] { _ = try await store.createTopic(slug, TopicContent(titles: [:], position: 0)) }
      try await store.restoreMedia([2, 1].map(Self.media))
      try await store.restoreWithdrawals([(UUID(4), .removed)])
      try await store.restoreWithdrawals([(UUID(3), .removed)])
      let subscriptions = ["b", "a"].enumerated().map { index, name in
        RestoredSubscription(
          id: UUID(index + 8), content: SubscriptionContent(url: "https://\(name).example/"), revision: 1)
      }
      try await store.restoreSubscriptions(subscriptions)
      var later = Self.item(5, .draft)
      later.content.date = .newYear + 60
      _ = try await store.restoreItems([Self.item(7, .draft)], keepingHistory: false)
      _ = try await store.restoreItems([later, Self.item(6, .draft)], keepingHistory: false)
      let pages = Mutex<[String]>([])
      _ = try await store.exportNewsroom(history: false) { page in pages.withLock { $0 += page } }
      let lines = pages.withLock { $0 }
      func found(_ kind: String, _ names: [String]) -> [String] {
        let records = lines.filter { $0.hasPrefix("{\"\(kind)\": ") }
        return records.compactMap { line in names.first { line.contains("\"\($0)\"") } }
      }
      func ids(_ numbers: Int...) -> [String] { numbers.map { UUID($0).uuidString.lowercased() } }
      let urls = ["a", "b"].map { "https://\($0).example/" }
      #expect(found("topic", ["a", "b"]) == ["a", "b"] && found("subscription", urls) == urls)
      #expect(found("media", ids(1, 2)) == ids(1, 2) && found("withdrawnMedia", ids(3, 4)) == ids(3, 4))
      #expect(found("item", ids(6, 7, 5)) == ids(6, 7, 5))
    }
  }

  @Test("The export of a newsroom has all that is known of a topic, a file and a subscription")
  func records() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.restoreTopics([
        (slug: "a", content: TopicContent(titles: ["en": "A"], position: -2), revision: 4)
      ])
      try await store.restoreMedia([Self.media(1)])
      let content = SubscriptionContent(
        url: "https://a.example/feed", title: "Port", topics: ["a"], state: .draft, language: "de", paused: true)
      try await store.restoreSubscriptions([RestoredSubscription(id: UUID(2), content: content, revision: 3)])
      let lines = Mutex<[String]>([])
      _ = try await store.exportNewsroom(history: false) { page in lines.withLock { $0 += page } }
      let digest = String(repeating: "0", count: 62) + "01"
      let expected: [String] = [
        #"{"newsroom":{"history":false}}"#,
        #"{"topic": {"slug": "a", "titles": {"en": "A"}, "position": -2, "revision": 4}}"#,
        #"{"media": {"id": "00000000-0000-0000-0000-000000000001", "name": "port.png", "type": "image/png", "#
          + #""bytes": 1, "width": 640, "height": 480, "sha256": "\#(digest)", "#
          + #""created": "2026-01-01T00:00:00.000Z"}}"#,
        #"{"subscription": {"id": "00000000-0000-0000-0000-000000000002", "url": "https://a.example/feed", "#
          + #""state": "draft", "title": "Port", "paused": true, "topics": ["a"], "language": "de", "revision": 3}}"#,
      ]
      #expect(lines.withLock { $0 } == expected)
    }
  }
}
