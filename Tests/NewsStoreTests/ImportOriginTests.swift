import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Imports of entries that have the ids of items, as those of other servers have.
@Suite struct ImportOriginTests {
  private static func entry(
    _ derived: Int, origin: Int?, revision: Int = 1, source: String = "atom:https://other.example/feed.atom"
  ) -> ImportedItem {
    ImportedItem(
      id: UUID(derived), source: source, guid: "urn:uuid:\(origin ?? 0)", digest: Data([UInt8(revision)]),
      content: ItemContent(state: .published, date: .newYear, text: "revision \(revision)"),
      origin: origin.map { UUID($0) })
  }

  private static func text(_ store: NewsStore, _ id: Int) async throws -> String {
    try await store.newsItem(UUID(id)).item.text
  }

  @Test("A new item receives the id of its origin, and later changes of its source")
  func adoption() async throws {
    try await NewsDatabase.withStore { store, sql in
      let counts = try await store.importItems([Self.entry(1, origin: 101), Self.entry(2, origin: nil)])
      #expect(counts.inserted == 2)
      #expect(try await Self.text(store, 101) == "revision 1")
      #expect(try await Self.text(store, 2) == "revision 1")
      #expect(try await store.importItems([Self.entry(1, origin: 101)]).unchanged == 1)
      #expect(try await store.importItems([Self.entry(1, origin: 101, revision: 2)]).updated == 1)
      #expect(try await Self.text(store, 101) == "revision 2")
      // The source has named the entry anew.
      var renamed = Self.entry(1, origin: 101, revision: 3)
      renamed.guid = "urn:renamed"
      #expect(try await store.importItems([renamed]).updated == 1)
      #expect(try await sql.value("SELECT source_guid FROM items WHERE id = \(UUID(101))") == "urn:renamed")
      let moved = Self.entry(2, origin: nil, revision: 2, source: "rss:https://third.example")
      #expect(try await store.importItems([moved]).updated == 1)
      #expect(try await sql.value("SELECT source FROM items WHERE id = \(UUID(2))") == "rss:https://third.example")
      #expect(try await sql.value("SELECT count(*) FROM items") == 2)
      // An id by the link is only for names of several entries.
      var linked = Self.entry(3, origin: 103)
      linked.linkID = UUID(203)
      #expect(try await store.importItems([linked]).inserted == 1)
      #expect(try await Self.text(store, 103) == "revision 1")
    }
  }

  @Test("Entries of the server's own items are skipped, drafts and retracted ones included")
  func own() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 101...103 {
        let state: EditorialItem.State = number == 102 ? .draft : .published
        _ = try await store.create(UUID(number), ItemContent(state: state, date: .newYear, text: "own"))
      }
      try await store.retract(UUID(103), reason: nil, if: .exists)
      let counter = try await sql.counter()
      let counts = try await store.importItems((101...103).map { Self.entry($0 - 100, origin: $0, revision: 9) })
      #expect(counts.skipped == 3)
      #expect(try await sql.counter() == counter)
      #expect(try await sql.value("SELECT count(*) FROM items WHERE text = 'own'") == 3)
      #expect(try await sql.value("SELECT count(*) FROM items") == 3)
    }
  }

  @Test("An entry that is stored under its name is not that of an item with its earlier name")
  func earlierName() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.importItems([Self.entry(1, origin: nil), Self.entry(2, origin: nil)])
      var changed = Self.entry(2, origin: nil, revision: 2)
      changed.earlierID = UUID(1)
      for _ in 0..<2 { _ = try await store.importItems([changed]) }
      #expect(try await [Self.text(store, 1), Self.text(store, 2)] == ["revision 1", "revision 2"])
    }
  }

  @Test("A new name for two items in one import is that of the first one")
  func sharedName() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.importItems([Self.entry(1, origin: nil), Self.entry(2, origin: nil)])
      let renamed = [1, 2].map { number in
        var entry = Self.entry(9, origin: nil, revision: number + 1)
        entry.earlierID = UUID(number)
        return entry
      }
      _ = try await store.importItems(renamed)
      #expect(try await [Self.text(store, 1), Self.text(store, 2)] == ["revision 3", "revision 1"])
    }
  }

  @Test("An entry with a name of several entries is the item with its earlier name if something else is the same")
  func earlierNameOfSeveral() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1, origin: nil)])
      _ = try await sql.query("INSERT INTO entry_names (name, item) VALUES (\(UUID(9)), NULL)")
      var renamed = Self.entry(9, origin: nil)
      (renamed.linkID, renamed.earlierID) = (UUID(209), UUID(1))
      #expect(try await store.importItems([renamed]).unchanged == 1)
      #expect(try await sql.value("SELECT count(*) FROM items") == 1)
    }
  }

  @Test("An entry of another source does not change an item")
  func otherSource() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.importItems([Self.entry(1, origin: 101)])
      let other = Self.entry(2, origin: 101, revision: 2, source: "rss:https://third.example")
      #expect(try await store.importItems([other]).skipped == 1)
      #expect(try await Self.text(store, 101) == "revision 1")
      #expect(try await store.importItems([Self.entry(1, origin: 101, revision: 3), other]).updated <= 1)
    }
  }

  @Test("An item that was imported before origins were known keeps its id")
  func earlierImport() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1, origin: nil)])
      #expect(try await store.importItems([Self.entry(1, origin: 101, revision: 2)]).updated == 1)
      #expect(try await Self.text(store, 1) == "revision 2")
      #expect(try await sql.value("SELECT count(*) FROM items") == 1)
    }
  }
}
