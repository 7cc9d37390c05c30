import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Pages from the windows in memory, compared with pages from the database.
@Suite struct WindowTests {
  private static let topics = ["a", "b", "c"]

  /// Makes one random change of the feed with plain SQL.
  private static func change(_ sql: PostgresPool, _ random: inout SplitMix64, _ next: inout Int) async throws {
    let known = (0..<Int.random(in: 1...3, using: &random)).map { _ in UUID(Int.random(in: 0..<next, using: &random)) }
    let date = Date.newYear + Double(Int.random(in: 0..<2000, using: &random)) / 1000
    let chosen = topics.filter { _ in Bool.random(using: &random) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1, 2:
      let ids = (0..<Int.random(in: 1...40, using: &random)).map { UUID(next + $0) }
      next += ids.count
      try await sql.publish(ids, text: "new", topics: chosen, date: date)
    case 3: try await sql.publish(known, after: "UPDATE items SET date = \(date) WHERE id = ANY (\(known))")
    case 4: try await sql.publish(known, after: "UPDATE items SET topics = \(chosen) WHERE id = ANY (\(known))")
    case 5: try await sql.publish(known, after: "UPDATE items SET state = 'retracted' WHERE id = ANY (\(known))")
    case 6:
      try await sql.publish(
        known, after: "UPDATE items SET html = \("<p>\(next)</p>"), text = 'html' WHERE id = ANY (\(known))")
    case 7:
      let language = ["en", "en-GB", "DE", nil, "eng"].randomElement(using: &random) ?? nil
      let author = ["Ann", "ann", "é", "e\u{301}", nil].randomElement(using: &random) ?? nil
      let isBreaking = Bool.random(using: &random)
      try await sql.publish(
        known,
        after: """
          UPDATE items SET language = \(language), author = \(author), breaking = \(isBreaking)
          WHERE id = ANY (\(known))
          """)
    case 8:
      // More items than a window can lose without being loaded again.
      let rows = try await sql.query(
        "SELECT id FROM items WHERE state = 'published' ORDER BY date DESC, id DESC LIMIT 700")
      let ids: [UUID] = try rows.map { try $0.decode(0) }
      try await sql.publish(ids, after: "UPDATE items SET state = 'expired' WHERE id = ANY (\(ids))")
    case 9:
      // More items than a window has.
      let ids = (0..<1000).map { UUID(next + $0) }
      next += ids.count
      try await sql.publish(ids, text: "many", topics: chosen, date: date)
    default: try await sql.publish(known, after: "UPDATE items SET text = text || '.' WHERE id = ANY (\(known))")
    }
  }

  private static func query(_ random: inout SplitMix64) -> ItemQuery {
    func some<Value>(_ value: Value) -> Value? { Int.random(in: 0..<4, using: &random) == 0 ? value : nil }
    func date() -> Date { .newYear + Double(Int.random(in: 0..<2000, using: &random)) / 1000 }
    func keyset() -> Keyset? { some(Keyset(date: date(), id: UUID(Int.random(in: 0..<3000, using: &random)))) }
    let after = keyset()
    return ItemQuery(
      scope: Scope(topics: Bool.random(using: &random) ? [] : topics.filter { _ in Bool.random(using: &random) }),
      limit: [1, 2, 20, 50, 200].randomElement(using: &random) ?? 1,
      after: after, before: after == nil ? keyset() : nil,
      language: some(["en", "EN-gb", "de"].randomElement(using: &random) ?? "en"),
      author: some(["Ann", "é"].randomElement(using: &random) ?? "Ann"), from: some(date()), to: some(date()),
      isBreaking: some(Bool.random(using: &random)), includesHTML: Bool.random(using: &random))
  }

  @Test(
    "A page from memory equals the one from the database, after any changes",
    arguments: slice(of: 1...3 as ClosedRange<UInt64>))
  func pages(seed: UInt64) async throws {
    try await NewsDatabase.withStore { store, sql in
      var random = SplitMix64(seed: seed)
      var next = 2500
      try await sql.makeTopics("a", "b", "c")
      for chunk in 0..<5 {
        let ids = (0..<500).map { UUID(chunk * 500 + $0) }
        try await sql.publish(
          ids, topics: chunk.isMultiple(of: 2) ? ["a"] : ["b"], date: .newYear + Double(chunk) / 10)
      }
      var count = 0
      for _ in 0..<60 {
        try await Self.change(sql, &random, &next)
        // Without a follower, each snapshot is read from the database, with the windows advanced from the last one.
        _ = try await store.snapshot(withWindowsOf: Scope(topics: Self.topics))
        let snapshot = try await store.snapshot(withWindowsOf: .feed)
        for _ in 0..<8 {
          let query = Self.query(&random)
          let expected = try await store.page(query)
          #expect(expected.feedVersion.version == snapshot.feedVersion.version)
          guard let page = snapshot.page(query) else { continue }
          count += 1
          #expect(page.items == expected.items, "\(query)")
          #expect(
            page.next == expected.next && page.previous == expected.previous && page.token == expected.token, "\(query)"
          )
          #expect(page.modified == expected.modified, "\(query)")
        }
      }
      #expect(count > 200, "most pages are in the windows")
    }
  }

  @Test("First pages need no statement, whatever their parameters, and after a publish neither")
  func withoutStatements() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      for number in 0..<300 {
        try await sql.publish(
          [UUID(number)], topics: [number.isMultiple(of: 2) ? "a" : "b"], date: .newYear + Double(number))
      }
      let following = Task { await store.follow() }
      defer { following.cancel() }
      try await eventually("it follows") { store.cachedSnapshot != nil }
      _ = try await store.snapshot(withWindowsOf: Scope(topics: ["a", "b"]))
      let queries = [
        ItemQuery(), ItemQuery(limit: 7), ItemQuery(scope: Scope(topics: ["a"]), limit: 33, includesHTML: true),
        ItemQuery(scope: Scope(topics: ["a", "b"]), limit: 200), ItemQuery(from: .newYear + 10, to: .newYear + 50),
        ItemQuery(language: "en"), ItemQuery(author: "nobody"),
      ]
      for round in 0..<3 {
        let version = try await sql.counter()
        try await eventually("the state is current") { store.cachedSnapshot?.feedVersion.version == version }
        let snapshot = try #require(store.cachedSnapshot)
        for query in queries { #expect(snapshot.page(query) != nil, "\(query)") }
        // The changed item itself is in memory too.
        if round > 0 {
          let page = try #require(snapshot.page(ItemQuery(limit: 1, includesHTML: true)))
          #expect(store.fragmentsInMemory(of: page.items, as: .json(html: true), epoch: page.feedVersion.epoch) != nil)
          #expect(store.fragmentsInMemory(of: page.items, as: .json(html: false), epoch: page.feedVersion.epoch) != nil)
        }
        try await sql.publish(
          [UUID(299)], after: "UPDATE items SET html = '<p>x</p>', text = \("round \(round)") WHERE id = \(UUID(299))")
      }
    }
  }

  @Test("The windows in memory are bounded, and only repeated requests replace those that are not in use")
  func bounded() async throws {
    try await NewsDatabase.withStore { store, sql in
      let slugs = (0..<Window.maximumCount + 20).map { "t\($0)" }
      _ = try await sql.query("INSERT INTO scopes (scope) SELECT unnest(\(slugs))")
      _ = try await sql.query("INSERT INTO topics (slug) SELECT unnest(\(slugs))")
      // One of these is that of the feed.
      let kept = slugs.prefix(Window.maximumCount - 1)
      for slug in kept { _ = try await store.snapshot(withWindowsOf: Scope(topics: [slug])) }
      func request(_ slug: String) async throws -> FeedSnapshot {
        let scope = Scope(topics: [slug])
        let snapshot = try await store.snapshot(withWindowsOf: scope)
        _ = snapshot.page(ItemQuery(scope: scope))
        return snapshot
      }
      for slug in slugs { _ = try await request(slug) }
      var snapshot = try await request("t0")
      #expect(Set(snapshot.windows.keys) == Set(kept + [""]), "a scan evicts nothing")

      // The windows that the scan has read are in use, so the first repetition finds none to evict.
      let others = slugs.dropFirst(kept.count)
      for slug in others { _ = try await request(slug) }
      for slug in kept.prefix(100) { _ = try await request(slug) }
      for slug in others { snapshot = try await request(slug) }
      #expect(snapshot.windows.count <= Window.maximumCount)
      #expect(others.suffix(10).contains { snapshot.windows[$0] != nil })
      #expect(snapshot.windows[""] != nil)
      #expect(try await store.page(ItemQuery(scope: Scope(topics: [slugs[slugs.count - 1]]))).items.isEmpty)
    }
  }
}
