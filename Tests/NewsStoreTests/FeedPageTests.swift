import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The documents of feeds, and the numbers of first publication by which archives are divided.
@Suite struct FeedPageTests {
  private static func ids(_ numbers: some Sequence<Int>) -> [UUID] { numbers.map { UUID($0) } }

  private static func archive(_ store: NewsStore, _ number: Int, _ scope: Scope = .feed) async throws -> Set<UUID> {
    Set(try await store.feedPage(FeedQuery(scope: scope, part: .archive(number))).items.map(\.id))
  }

  @Test("An archive keeps its items while others are published, changed and retracted")
  func archives() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish(Self.ids(1...150))
      #expect(try await Self.archive(store, 1) == Set(Self.ids(1...100)))
      await #expect(throws: StoreError.notFound) { try await Self.archive(store, 2) }
      try await sql.publish(Self.ids(151...250))
      for (id, change): (Int, PostgresQuery) in [
        (3, "UPDATE items SET date = date + interval '1 year' WHERE id = \(UUID(3))"),
        (5, "UPDATE items SET state = 'retracted' WHERE id = \(UUID(5))"),
      ] {
        try await sql.publish([UUID(id)], after: change)
      }
      #expect(try await Self.archive(store, 1) == Set(Self.ids(1...100)).subtracting([UUID(5)]))
      #expect(try await Self.archive(store, 2) == Set(Self.ids(101...200)))
      try await sql.publish([UUID(5)], after: "UPDATE items SET state = 'published' WHERE id = \(UUID(5))")
      #expect(try await Self.archive(store, 1) == Set(Self.ids(1...100)))
      let published: Int = try await sql.value("SELECT published FROM scopes WHERE scope = ''")
      #expect(published == 250)
    }
  }

  @Test("Each scope has numbers of its own, without gaps, also in publications of new and known items together")
  func numbers() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      try await sql.publish(Self.ids(1...10), topics: ["a"])
      try await sql.publish(Self.ids(11...20), topics: ["a", "b"])
      _ = try await sql.transaction { transaction in
        _ = try await transaction.query(PostgresPool.insertion(Self.ids(21...30), topics: ["b"]))
        _ = try await transaction.query("UPDATE items SET topics = '{a,b}' WHERE id = ANY (\(Self.ids(1...3)))")
        _ = try await transaction.query("UPDATE items SET topics = '{}' WHERE id = ANY (\(Self.ids(4...5)))")
        return try await transaction.publish(Self.ids(1...30))
      }
      try await sql.publish([UUID(4)], after: "UPDATE items SET topics = '{a}' WHERE id = \(UUID(4))")
      for (scope, count) in [("", 30), ("a", 20), ("b", 23)] {
        let ordinals = try await sql.query("SELECT ordinal FROM change_log WHERE scope = \(scope) ORDER BY ordinal")
        #expect(try ordinals.map { try $0.decode(0, as: Int.self) } == Array(1...count), "\(scope)")
        let published: Int = try await sql.value("SELECT published FROM scopes WHERE scope = \(scope)")
        #expect(published == count)
      }
    }
  }

  @Test("The current document has the latest changes, and all items that no archive has")
  func current() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      try await sql.publish(Self.ids(1...100), topics: ["a"])
      try await sql.publish(Self.ids(101...130))
      for id in [7, 8] {
        try await sql.publish([UUID(id)], after: "UPDATE items SET text = 'corrected' WHERE id = \(UUID(id))")
      }
      func current(_ count: Int, _ scope: Scope = .feed) async throws -> Set<UUID> {
        Set(try await store.feedPage(FeedQuery(scope: scope, part: .current(count))).items.map(\.id))
      }
      #expect(try await current(3) == Set(Self.ids([7, 8]) + Self.ids(101...130)))
      #expect(try await current(40) == Set(Self.ids([7, 8]) + Self.ids(93...100) + Self.ids(101...130)))
      #expect(try await current(2, Scope(topics: ["a"])) == Set(Self.ids([7, 8])))
      let page = try await store.feedPage(FeedQuery(scope: .feed, part: .current(3)))
      #expect(page.archives == 1)
      let positions = try await store.items(ItemQuery(limit: 200)).items.map(\.id).filter { id in
        page.items.contains { $0.id == id }
      }
      #expect(page.items.map(\.id) == positions)
    }
  }

  @Test("A document is as recent as the last removal from it")
  func modified() async throws {
    try await NewsDatabase.withStore { store, sql in
      func modified() async throws -> Date {
        try await store.feedPage(FeedQuery(scope: .feed, part: .current(10))).modified
      }
      try await sql.publish(Self.ids(1...2))
      let before = try await modified()
      // The two times have milliseconds.
      try await eventually("a millisecond has passed") { Date() > before + 0.002 }
      try await sql.publish([UUID(1)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(1))")
      #expect(try await modified() > before)
    }
  }

  @Test("A large current document has only the newest changes, besides the items that no archive has")
  func largeDocument() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish(Self.ids(1...100), text: String(repeating: "x", count: 40_000))
      #expect(try await store.feedPage(FeedQuery(scope: .feed, part: .current(100))).items.count < 40)
      #expect(try await Self.archive(store, 1).count == 100)
      try await sql.publish(Self.ids(101...150), text: String(repeating: "x", count: 40_000))
      #expect(try await store.feedPage(FeedQuery(scope: .feed, part: .current(10))).items.count == 50)
    }
  }

  @Test("Changes are the items and removals after a token, and too many are not complete")
  func changes() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      try await sql.publish(Self.ids(1...5), topics: ["a"])
      let before = try await store.feedPage(FeedQuery(scope: Scope(topics: ["a"]), part: .current(10))).token
      try await sql.publish([UUID(1)], after: "UPDATE items SET text = 'y' WHERE id = \(UUID(1))")
      try await sql.publish([UUID(2)], after: "UPDATE items SET topics = '{}' WHERE id = \(UUID(2))")
      try await sql.publish([UUID(6)], topics: ["a"])
      try await sql.publish([UUID(7)])
      let page = try await store.feedPage(FeedQuery(scope: Scope(topics: ["a"]), part: .changes(since: before)))
      #expect(Set(page.items.map(\.id)) == Set(Self.ids([1, 6])))
      #expect(page.removals.map(\.id) == [UUID(2)])
      #expect(page.isComplete)
      try await sql.publish(Self.ids(1000...1600), topics: ["a"])
      let more = try await store.feedPage(FeedQuery(scope: Scope(topics: ["a"]), part: .changes(since: before)))
      #expect(!more.isComplete)
      let foreign = SyncToken(epoch: "zzzzzz", scope: .feed, version: 1)
      await #expect(throws: StoreError.self) {
        try await store.feedPage(FeedQuery(scope: .feed, part: .changes(since: foreign)))
      }
    }
  }
}
