import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct SearchTests {
  private static let texts: [(language: String?, title: String?, text: String)] = [
    ("en", "Election results", "The city council of Springfield has counted the votes."),
    ("en-GB", "Council elections", "A council for the city: running late-night."),
    ("de", nil, "Die Wahlen in den Städten sind ausgezählt."),
    (nil, "City", "Council elections were held, as in New York."),
    ("ru", nil, "Выборы в городах прошли спокойно."),
  ]

  /// Returns the indices of the texts found, newest first; that is the order of the texts.
  private func found(_ store: NewsStore, _ query: ItemQuery) async throws -> [Int] {
    try await store.items(query).items.compactMap { item in Self.texts.firstIndex { $0.text == item.text } }
  }

  private func withTexts(_ body: @Sendable (NewsStore, PostgresPool) async throws -> Void) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      for (number, text) in Self.texts.enumerated() {
        try await sql.transaction { transaction in
          _ = try await transaction.query(
            PostgresPool.insertion(
              [UUID(number)], text: text.text, topics: number < 2 ? ["a", "b"] : [], date: .newYear - Double(number)))
          _ = try await transaction.query(
            "UPDATE items SET language = \(text.language), title = \(text.title) WHERE id = \(UUID(number))")
          try await transaction.publish([UUID(number)])
        }
      }
      try await body(store, sql)
    }
  }

  private static let searches: [(String, [Int])] = [
    ("council", [0, 1, 3]), ("COUNCIL City", [0, 1, 3]), ("council votes", [0]), ("\"city council\"", [0, 3]),
    ("\"council elections\"", [1, 3]), ("\"council elections", [1, 3]), ("\"elections council\"", []),
    ("council -votes", [1, 3]), ("council -\"city council\"", [1]), ("-council", [2, 4]),
    ("council -votes -york", [1]), ("late-night", [1]), ("ВЫБОРЫ", [4]), ("städten", [2]),
    ("the", [0, 1]), ("spring", []), ("!!!", []), ("-", []), ("\"\"", []), (" ", []), ("council !!!", [0, 1, 3]),
    ("council & | ! ( ) : * ' \\", [0, 1, 3]), ("a' OR 'b", []),
  ]

  @Test("A search finds items with all words and phrases and without the excluded ones, in any case")
  func words() async throws {
    try await withTexts { store, _ in
      for (query, numbers) in Self.searches {
        let inFeed = try await found(store, ItemQuery(search: SearchQuery(query)))
        #expect(inFeed == numbers, "\(query)")
        let topics = Scope(topics: ["a", "b"])
        let inTopics = try await found(store, ItemQuery(scope: topics, search: SearchQuery(query)))
        #expect(inTopics == numbers.filter { $0 < 2 }, "\(query)")
      }
    }
  }

  private static let searchesByLanguage: [(String, String?, [Int])] = [
    ("election", nil, [0]), ("election", "en", [0, 1]), ("elections", "en", [0, 1]), ("ran", "en", []),
    ("run", "en", [1]), ("run", "en-gb", [1]), ("runs", "en", [1]), ("runs", nil, []), ("council -vote", "en", [1]),
    ("the", "en", [0, 1]),
    ("wahl", "de", [2]), ("stadt", "de", [2]), ("wahlen", nil, [2]), ("wahls", nil, []), ("выбор", "ru", [4]),
    ("elections", "eng", []),
  ]

  @Test("With a language, a search finds inflected forms; without one, words match as written")
  func languages() async throws {
    try await withTexts { store, _ in
      for (query, language, numbers) in Self.searchesByLanguage {
        let found = try await found(store, ItemQuery(language: language, search: SearchQuery(query)))
        #expect(found == numbers, "\(query) in \(language ?? "no language")")
      }
    }
  }

  @Test("An edit updates what a search finds; retracted items are not found")
  func edits() async throws {
    try await withTexts { store, sql in
      try await sql.publish([UUID(1)], after: "UPDATE items SET text = 'Rain' WHERE id = \(UUID(1))")
      try await sql.publish([UUID(3)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(3))")
      #expect(try await store.items(ItemQuery(search: SearchQuery("rain"))).items.map(\.id) == [UUID(1)])
      #expect(try await store.items(ItemQuery(search: SearchQuery("running"))).items.isEmpty)
      #expect(try await store.items(ItemQuery(search: SearchQuery("york"))).items.isEmpty)
    }
  }

  @Test(
    "Pages of a search contain each item once, newest first, at any distance between the items",
    arguments: [0, 1, 10, 100, 1000])
  func pages(days: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      let ids = (0..<150).map { UUID($0) }
      for (number, id) in ids.enumerated() {
        let date = Date.newYear - Double(number * days) * 86_400 - Double(number)
        try await sql.publish(
          [id],
          after: PostgresPool.insertion(
            [id], text: number % 3 == 0 ? "Rain" : "Sun", topics: [number % 2 == 0 ? "a" : "b"], date: date))
      }
      for (scope, step) in [(Scope.feed, 3), (Scope(topics: ["a"]), 6), (Scope(topics: ["a", "b"]), 3)] {
        var query = ItemQuery(scope: scope, limit: 2, search: SearchQuery("rain"))
        var found: [UUID] = []
        repeat {
          let page = try await store.items(query)
          #expect(page.modified == nil)
          found += page.items.map(\.id)
          query.after = page.next
        } while query.after != nil && found.count < 100
        #expect(found == stride(from: 0, to: 150, by: step).map { UUID($0) })
        query = ItemQuery(scope: scope, to: .newYear - Double(30 * days) * 86_400 - 30, search: SearchQuery("rain"))
        #expect(try await store.items(query).items.first?.id == UUID(step == 3 ? 33 : 36))
      }
    }
  }

  @Test("A search that exceeds one second is cancelled, and its connection stays usable")
  func timeLimit() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.transaction { transaction in
        _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
        await #expect(throws: StoreError.searchTooBroad) {
          try await store.items(ItemQuery(search: SearchQuery("rain")))
        }
      }
      #expect(try await store.items(ItemQuery(search: SearchQuery("rain"))).items.isEmpty)
      #expect(try await store.items(ItemQuery()).items.isEmpty)
    }
  }

  @Test(
    "The longest text with the most distinct words can be stored, and its first words find it",
    arguments: [0x4E00, 0x430, 0x61])
  func longestText(alphabet: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      let letters = alphabet == 0x4E00 ? 500 : 26
      func letter(_ number: Int) -> Character { Character(UnicodeScalar(alphabet + number % letters) ?? "x") }
      var text = ""
      var number = 0
      while text.utf8.count < 262_100 {
        text += String([letter(number), letter(number / letters), letter(number / letters / letters)]) + " "
        number += 1
      }
      try await sql.publish(
        [UUID(1)],
        after: """
          INSERT INTO items (id, state, date, text, language)
          VALUES (\(UUID(1)), 'published', \(Date.newYear), \(text), 'en')
          """)
      let first = String(text.prefix(3))
      #expect(try await store.items(ItemQuery(search: SearchQuery(first))).items.map(\.id) == [UUID(1)])
    }
  }
}
