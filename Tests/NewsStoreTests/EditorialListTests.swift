import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The lists of items and files for editors, compared with a model.
@Suite struct EditorialListTests {
  private struct Item {
    let number: Int
    let state: EditorialItem.State
    let topics: [String]
    let date: Date
    let isBreaking: Bool
    let words: [String]
    /// The time of the last write in minutes, which several items share.
    let written: Int

    init(_ number: Int, _ random: inout SplitMix64) {
      self.number = number
      state = EditorialItem.State.allCases.randomElement(using: &random) ?? .draft
      topics = ["a", "b", "c"].filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
      date = .newYear.addingTimeInterval(Double(Int.random(in: 0..<10, using: &random)) * 86_400)
      isBreaking = Bool.random(using: &random)
      words = ["fog", "harbour", "storm"].filter { _ in Bool.random(using: &random) }
      written = Int.random(in: 0..<40, using: &random)
    }

    func meets(_ query: EditorialQuery, words wanted: [String], without: [String]) -> Bool {
      (query.state == nil || query.state == state)
        && (query.scope.topics.isEmpty || !Set(query.scope.topics).isDisjoint(with: topics))
        && (query.from.map { date >= $0 } ?? true) && (query.to.map { date < $0 } ?? true)
        && (query.isBreaking == nil || query.isBreaking == isBreaking) && query.access.includes(topics)
        && wanted.allSatisfy(words.contains) && !without.contains { words.contains($0) }
    }

    func insert(_ transaction: PostgresTransaction) async throws {
      let publishAt: Date? = state == .scheduled ? .newYear.addingTimeInterval(1e9) : nil
      let time = Date.newYear.addingTimeInterval(Double(written) * 60)
      _ = try await transaction.query(
        """
        INSERT INTO items (id, state, date, text, topics, breaking, publish_at, written_at)
        VALUES (\(UUID(number)), \(state.rawValue), \(date), \((["x"] + words).joined(separator: " ")), \(topics),
          \(isBreaking), \(publishAt), \(time))
        """)
      if state == .published { try await transaction.publish([UUID(number)]) }
    }
  }

  /// Returns the ids of all pages of a list.
  private static func ids(_ query: EditorialQuery, _ store: NewsStore) async throws -> [UUID] {
    var (query, ids) = (query, [UUID]())
    while true {
      let page = try await store.editorialItems(query)
      #expect(page.items.count <= query.limit)
      ids += page.items.map(\.item.id)
      guard let next = page.next else { return ids }
      try #require(page.items.count == query.limit)
      query.after = next
    }
  }

  @Test("A list has the items that meet all its conditions, the latest write first, on pages without gaps")
  func conditions() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b", "c")
      var random = SplitMix64(seed: 11)
      let items = (1...120).map { Item($0, &random) }
      try await sql.transaction { transaction in for item in items { try await item.insert(transaction) } }
      for _ in 0..<120 {
        let states: [EditorialItem.State?] = EditorialItem.State.allCases + [nil, nil, nil]
        let accesses: [Set<String>?] = [nil, nil, ["a"], ["a", "b"], ["a", "b", "c"], []]
        let days: [Date?] = [nil, nil, .newYear.addingTimeInterval(3 * 86_400)]
        let search =
          [([], []), ([], []), (["fog"], []), (["fog", "storm"], []), (["fog"], ["harbour"]), ([], ["fog"])]
          .randomElement(using: &random) ?? ([], [])
        let text = (search.0 + search.1.map { "-\($0)" }).joined(separator: " ")
        let query = EditorialQuery(
          state: states.randomElement(using: &random) ?? nil,
          scope: Scope(topics: [[], [], ["a"], ["b", "c"]].randomElement(using: &random) ?? []),
          from: days.randomElement(using: &random) ?? nil,
          to: (days.randomElement(using: &random) ?? nil)?.addingTimeInterval(5 * 86_400),
          isBreaking: [nil, nil, true, false].randomElement(using: &random) ?? nil,
          search: text.isEmpty ? nil : SearchQuery(text), limit: Int.random(in: 1...30, using: &random),
          access: ItemAccess(topics: accesses.randomElement(using: &random) ?? nil))
        let expected = items.filter { $0.meets(query, words: search.0, without: search.1) }
          .sorted { ($0.written, $0.number) > ($1.written, $1.number) }
        #expect(try await Self.ids(query, store) == expected.map { UUID($0.number) }, "\(query)")
      }
    }
  }

  @Test(
    "A search finds old items too, on pages without gaps, although it looks at the latest ones first",
    arguments: [("frequent", 1), ("seldom", 150), ("old", 2400)])
  func search(word: String, interval: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      // The lowest numbers are the oldest.
      _ = try await sql.query(
        """
        INSERT INTO items (id, state, date, text, written_at)
        SELECT ('00000000-0000-0000-0000-' || lpad(to_hex(n), 12, '0'))::uuid, 'draft', \(Date.newYear),
          concat_ws(' ', 'frequent', CASE WHEN n % 150 = 1 THEN 'seldom' END, CASE WHEN n = 1 THEN 'old' END),
          \(Date.newYear) + n * interval '1 minute'
        FROM generate_series(1, 2400) AS n
        """)
      let expected = stride(from: 1, through: 2400, by: interval).reversed().map { UUID($0) }
      let query = EditorialQuery(search: SearchQuery(word), limit: interval == 1 ? 200 : 5)
      #expect(try await Self.ids(query, store) == expected)
    }
  }

  @Test("A list of files has those that the reader sees and that are used or unused, on pages without gaps")
  func files() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      var random = SplitMix64(seed: 5)
      let allowed: [Set<String>?] = [nil, ["a"], ["a", "b"], []]
      // The topics of the items that use each file.
      let files = (0..<40).map { _ in
        (0..<Int.random(in: 0...2, using: &random)).map { _ in
          [["a"], ["b"], ["a", "b"], []].randomElement(using: &random) ?? []
        }
      }
      for (number, uses) in files.enumerated() {
        _ = try await sql.query(
          """
          INSERT INTO media (id, sha256, type, bytes)
          VALUES (\(UUID(number + 1)), sha256(\("\(number)")::text::bytea), 'image/png', 1)
          """)
        for (index, topics) in uses.enumerated() {
          let attachments = PostgresJSON(
            data: Data(#"[{"url": "/v1/media/\#(UUID(number + 1).uuidString)", "type": "image/png"}]"#.utf8))
          _ = try await sql.query(
            """
            INSERT INTO items (id, state, date, text, topics, attachments)
            VALUES (\(UUID(1000 + 10 * number + index)), 'draft', \(Date.newYear), 'x', \(topics), \(attachments))
            """)
        }
      }
      for topics in allowed {
        let access = ItemAccess(topics: topics)
        for isUsed in [nil, true, false] {
          let expected = files.indices.reversed().filter { index in
            let (isSeen, uses) = (files[index].contains { access.includes($0) }, files[index].count)
            return isUsed.map { $0 ? isSeen : uses == 0 } ?? (isSeen || uses == 0)
          }.map { UUID($0 + 1) }
          var (query, found) = (MediaQuery(isUsed: isUsed, limit: 3, access: access), [UUID]())
          repeat {
            let page = try await store.editorialMedia(query)
            found += page.files.map(\.media.id)
            query.after = page.next
          } while query.after != nil
          #expect(found == expected, "\(topics ?? ["all"]) \(isUsed.map { "\($0)" } ?? "both")")
        }
      }
    }
  }
}
