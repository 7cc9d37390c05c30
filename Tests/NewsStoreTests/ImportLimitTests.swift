import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Imports of which only a number of items may be written.
@Suite struct ImportLimitTests {
  private static let feed = "https://example.com/feed"

  private static func entry(_ number: Int, revision: Int = 1, isCopy: Bool = false) -> ImportedItem {
    ImportedItem(
      id: UUID(number), source: feed, guid: "\(number)", digest: Data([UInt8(revision)]),
      content: ItemContent(state: .published, date: .newYear, text: "revision \(revision)"), isCopy: isCopy)
  }

  @Test("Only entries that change their item count as changes, and the first ones are written")
  func changes() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.importItems((1...6).map { Self.entry($0) })
      try await store.retract(UUID(1), reason: nil, if: .exists)
      var stranger = Self.entry(99, revision: 2)
      (stranger.source, stranger.origin) = ("https://other.example/feed", UUID(4))
      let entries = [
        Self.entry(1, revision: 2), Self.entry(2, revision: 2, isCopy: true), Self.entry(3), stranger,
        Self.entry(5, revision: 2), Self.entry(6, revision: 2), Self.entry(7),
      ]
      let limits = ImportLimits(changed: 1)
      #expect(try await store.itemsToImport(entries, limits: limits) == [4, 6])
      var counts = ImportCounts()
      (counts.inserted, counts.updated, counts.unchanged, counts.skipped, counts.postponed) = (1, 1, 2, 2, 1)
      #expect(try await store.importItems(entries, limits: limits) == counts)
      for (number, revision) in [(2, 1), (4, 1), (5, 2), (6, 1)] {
        #expect(try await store.newsItem(UUID(number)).item.text == "revision \(revision)", "\(number)")
      }
    }
  }

  @Test("The counts of several imports are added, those of entries that wait too")
  func sum() {
    var (part, sum) = (ImportCounts(), ImportCounts())
    (part.inserted, part.updated, part.unchanged, part.skipped, part.deferred, part.postponed) = (1, 2, 3, 4, 5, 6)
    for _ in 1...2 { sum += part }
    (part.inserted, part.updated, part.unchanged, part.skipped, part.deferred, part.postponed) = (2, 4, 6, 8, 10, 12)
    #expect(sum == part)
  }

  @Test("New entries beyond their number are left out, and are counted as nothing else")
  func new() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.importItems([Self.entry(1)])
      let entries = [Self.entry(2), Self.entry(1), Self.entry(3), Self.entry(4)]
      #expect(try await store.itemsToImport(entries, limits: ImportLimits(new: 2)) == [0, 2])
      for (maximum, inserted, deferred) in [(0, 0, 3), (2, 2, 1), (1, 1, 0)] {
        var counts = ImportCounts()
        (counts.inserted, counts.deferred, counts.unchanged) = (inserted, deferred, 4 - inserted - deferred)
        #expect(try await store.importItems(entries, limits: ImportLimits(new: maximum)) == counts, "\(maximum)")
      }
      #expect(try await sql.value("SELECT count(*) FROM items") == 4)
    }
  }
}
