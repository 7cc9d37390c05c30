import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct FragmentTests {
  private static func texts(_ fragments: [[UInt8]]?) throws -> [String]? {
    try fragments?.map { try NewsJSON.decode(NewsItem.self, from: Data($0)).text }
  }

  @Test("Fragments that are missing are read, in the order of the page, and are then in memory")
  func missing() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 1...6 { try await sql.publish([UUID(number)], text: "\(number)", date: .newYear + Double(number)) }
      let page = try await store.page(ItemQuery())
      let epoch = page.feedVersion.epoch
      func find(_ items: [ItemVersion]) -> [[UInt8]]? {
        store.fragmentsInMemory(of: items, as: .json(html: false), epoch: epoch)
      }
      #expect(find(page.items) == nil)
      // Some are in memory, in any position.
      let some = [page.items[1], page.items[4]]
      #expect(try Self.texts(await store.fragments(of: some, as: .json(html: false), epoch: epoch)) == ["5", "2"])
      #expect(find(some) != nil)
      #expect(find(page.items) == nil)
      let all = try await store.fragments(of: page.items, as: .json(html: false), epoch: epoch)
      #expect(try Self.texts(all) == ["6", "5", "4", "3", "2", "1"])
      #expect(find(page.items) == all)
    }
  }

  @Test("A fragment is not read once its item has changed, moved on or gone")
  func outdated() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1), UUID(2)])
      for change: PostgresQuery in [
        "UPDATE items SET text = 'y' WHERE id = \(UUID(1))",
        "UPDATE items SET state = 'retracted' WHERE id = \(UUID(1))",
      ] {
        let page = try await store.page(ItemQuery())
        try await sql.publish([UUID(1)], after: change)
        #expect(try await store.fragments(of: page.items, as: .json(html: false), epoch: page.feedVersion.epoch) == nil)
      }
      let page = try await store.page(ItemQuery())
      #expect(try await store.fragments(of: page.items, as: .json(html: false), epoch: "aaaaaa") == nil)
      let current = try await store.fragments(of: page.items, as: .json(html: false), epoch: page.feedVersion.epoch)
      #expect(current?.count == 1)
    }
  }

  @Test("After a restore, a version that was given to another change has another fragment")
  func restored() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1)], text: "before")
      let before = try await store.page(ItemQuery())
      let lost = try await store.fragments(of: before.items, as: .json(html: false), epoch: before.feedVersion.epoch)
      #expect(try Self.texts(lost) == ["before"])
      // The restored database lacks the change, and gives its version to another one.
      _ = try await sql.query("ALTER TABLE items DISABLE TRIGGER USER")
      _ = try await sql.query("UPDATE items SET text = 'after' WHERE id = \(UUID(1))")
      _ = try await sql.query("ALTER TABLE items ENABLE TRIGGER USER")
      _ = try await sql.query("UPDATE change_log SET digest = (SELECT digest FROM items WHERE id = item)")
      _ = try await sql.query("SELECT begin_epoch()")
      let after = try await store.page(ItemQuery())
      #expect(after.items.map(\.version) == before.items.map(\.version))
      let fragments = try await store.fragments(of: after.items, as: .json(html: false), epoch: after.feedVersion.epoch)
      #expect(try Self.texts(fragments) == ["after"])
    }
  }

  @Test("Only the fragment with html has html, and both are the same for an item without it")
  func html() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1), UUID(2)])
      try await sql.publish([UUID(2)], after: "UPDATE items SET html = '<p>x</p>' WHERE id = \(UUID(2))")
      let page = try await store.page(ItemQuery())
      for html in [true, false] {
        let fragments = try await store.fragments(of: page.items, as: .json(html: html), epoch: page.feedVersion.epoch)
        let items = try fragments?.map { try NewsJSON.decode(NewsItem.self, from: Data($0)) }
        #expect(items?.map(\.html) == [html ? "<p>x</p>" : nil, nil])
      }
      #expect(store.fragments.usage.count == 3)
    }
  }

  @Test("The sizes in the log bound the JSON of any item from above and below")
  func sizes() async throws {
    try await NewsDatabase.withStore { store, _ in
      let pieces = ["a", "\"", "\\", "\n", "é", "🗞", "\u{1}", "x y z "]
      var random = SplitMix64(seed: 1)
      func text(_ count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      }
      func some(_ count: Int) -> String? { Bool.random(using: &random) ? text(count) : nil }
      for slug in ["a", "b"] { _ = try await store.createTopic(slug, TopicContent(titles: [:], position: 0)) }
      for number in 0..<200 {
        let attachments = (0..<Int.random(in: 0...3, using: &random)).map { number in
          News.Attachment(
            url: "https://example.com/\(number)", type: "image/png", bytes: 1, width: number, alt: some(5))
        }
        var content = ItemContent(state: .published, date: .newYear, text: text(60) + ".")
        content.title = some(20)
        content.summary = some(20)
        content.html = some(60)
        content.author = some(8)
        content.topics = Bool.random(using: &random) ? ["a", "b"] : []
        content.attachments = attachments
        _ = try await store.create(UUID(number), content)
        let current = try await store.item(UUID(number))
        for html in [true, false] {
          let fragments = try await store.fragments(
            of: [current.item], as: .json(html: html), epoch: current.feedVersion.epoch)
          let size = try #require(fragments).reduce(0) { $0 + $1.count }
          #expect(size <= current.item.maximumBytes(html: html))
          #expect(size >= current.item.minimumBytes(html: html))
        }
      }
    }
  }
}
