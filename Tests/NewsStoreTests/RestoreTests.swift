import Foundation
import News
import NewsStore
import PostgresClient
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
    return Media(id: UUID(number), digest: digest, type: "image/png", bytes: 1, created: .newYear)
  }

  @Test("A file that was removed here stays removed; one of a retracted item is registered again")
  func media() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        "INSERT INTO withdrawn_media (media, reason) VALUES (\(UUID(1)), 'removed'), (\(UUID(2)), 'retracted')")
      try await store.restoreMedia((1...3).map(Self.media))
      try await store.restoreMedia((1...3).map(Self.media))
      #expect(try await store.registeredMedia(after: nil, 9).map(\.id) == [UUID(2), UUID(3)])
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
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.restoreItems([Self.item(1, .draft, revision: 3)], keepingHistory: true)
      let writes = (1...3).map { revision in
        RestoredWrite(
          item: UUID(1), revision: revision, at: .newYear, editor: nil, state: .draft, fields: ["text"], replaced: [:])
      }
      for _ in 0..<2 { try await store.restoreHistory(writes) }
      #expect(try await store.history(of: UUID(1), limit: 9).entries.map(\.revision) == [3, 2, 1])
    }
  }
}
