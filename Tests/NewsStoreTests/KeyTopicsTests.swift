import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Keys that are restricted to topics.
@Suite struct KeyTopicsTests {
  private static func content(_ text: String, topics: [String]) -> ItemContent {
    ItemContent(state: .draft, date: .newYear, text: text, topics: topics)
  }

  private static func topics(_ name: String, _ store: NewsStore) async throws -> [String]? {
    try await store.key(name).topics
  }

  @Test("An access includes an item whose topics are all among its own, and no item without topics")
  func inclusion() {
    let access = ItemAccess(topics: ["sport", "politics"])
    for topics in [["sport"], ["politics", "sport"]] { #expect(access.includes(topics)) }
    for topics in [[], ["economy"], ["economy", "sport"]] { #expect(!access.includes(topics)) }
    #expect(!ItemAccess(topics: []).includes([]))
    #expect(ItemAccess.full.includes([]) && ItemAccess.full.includes(["economy"]))
  }

  @Test("A key is created with existing topics only; an error names the others")
  func creation() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sport", "politics")
      await #expect(throws: StoreError.unknownTopics(["economy", "weather"])) {
        _ = try await store.createKey(
          name: "none", permissions: [.itemsWrite], topics: ["weather", "sport", "economy"])
      }
      let key = try await store.createKey(
        name: "desk", permissions: [.itemsPublish], topics: ["sport", "politics", "sport"])
      let found = try #require(try await store.authenticate(key))
      #expect(found.topics == ["politics", "sport"])
      #expect(found.access == ItemAccess(mayPublish: true, topics: ["sport", "politics"]))
      let free = try await store.createKey(name: "free", permissions: [.itemsWrite])
      #expect(try await store.authenticate(free)?.access == ItemAccess(mayPublish: false))
      #expect(try await store.keys().map(\.name) == ["desk", "free"])
    }
  }

  @Test("The item that a write locks decides: a change of its topics that is under way refuses the write")
  func lockedItem() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sport", "politics")
      let id = UUID(1)
      _ = try await store.create(id, Self.content("x", topics: ["sport"]))
      let access = ItemAccess(topics: ["sport"])
      let waiting: PostgresQuery = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      let writes = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET topics = '{politics}' WHERE id = \(id)")
        let change = Task { () -> Void in
          _ = try await store.write(id, if: .exists, StateChange(keepsState: true, access: access)) { _ in
            Self.content("mine", topics: ["sport"])
          }
        }
        try await eventually("the change waits") { try await sql.value(waiting) == 1 }
        let erasure = Task { () -> Void in _ = try await store.erase(id, reason: nil, if: .none, access: access) }
        try await eventually("the erasure waits") { try await sql.value(waiting) == 2 }
        return [change, erasure]
      }
      for write in writes {
        await #expect(throws: StoreError.topicsNotAllowed(["politics"], allowed: ["sport"])) { try await write.value }
      }
      #expect(try await store.editorialItem(id).item.text == "x")
      await #expect(throws: StoreError.topicsNotAllowed(["politics"], allowed: ["sport"])) {
        try await store.retract(id, reason: nil, if: .exists, access: access)
      }
    }
  }

  @Test("The topics of a key follow a merge, and lose a topic that is deleted without lifting the restriction")
  func merges() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("football", "sport", "politics")
      let key = try await store.createKey(name: "one", permissions: [.itemsPublish], topics: ["football"])
      _ = try await store.createKey(name: "both", permissions: [.itemsPublish], topics: ["football", "sport"])
      _ = try await store.createKey(name: "other", permissions: [.itemsPublish], topics: ["politics"])
      _ = try await store.createKey(name: "free", permissions: [.itemsPublish])
      _ = try await store.create(UUID(1), Self.content("x", topics: ["football"]))

      try await store.removeTopic("football", mergingInto: "sport", if: .exists)
      #expect(try await Self.topics("one", store) == ["sport"])
      #expect(try await Self.topics("both", store) == ["sport"])
      #expect(try await Self.topics("other", store) == ["politics"])
      #expect(try await Self.topics("free", store) == nil)
      let access = try #require(try await store.authenticate(key)).access
      #expect(try await store.editorialItem(UUID(1), for: access).item.topics == ["sport"])

      try await store.removeTopic("politics", mergingInto: nil, if: .exists)
      #expect(try await Self.topics("other", store) == [])
      // A new topic with the slug of a deleted one is another topic.
      try await sql.makeTopics("economy")
      _ = try await store.createTopic("politics", TopicContent(titles: [:], position: 0))
      #expect(try await Self.topics("other", store) == [])
    }
  }

  @Test("A key keeps access to the items of a topic while these are moved to another one")
  func mergeUnderWay() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("football", "sport")
      _ = try await store.createKey(name: "one", permissions: [.itemsPublish], topics: ["football"])
      _ = try await store.create(UUID(1), Self.content("x", topics: ["football"]))
      let merging = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM items FOR UPDATE")
        let merging = Task { try await store.removeTopic("football", mergingInto: "sport", if: .exists) }
        try await eventually("the key has both topics") {
          try await Self.topics("one", store) == ["football", "sport"]
        }
        return merging
      }
      try await merging.value
      #expect(try await Self.topics("one", store) == ["sport"])
    }
  }

  @Test("A topic that is being deleted while a key for it is created is not left in the key")
  func creationBesideDeletion() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("sport")
      for round in 0..<10 {
        let slug = "topic-\(round)"
        try await sql.makeTopics(slug)
        async let removal: Void = store.removeTopic(slug, mergingInto: "sport", if: .exists)
        async let creation = store.createKey(name: slug, permissions: [.itemsWrite], topics: [slug])
        try await removal
        do {
          _ = try await creation
          #expect(try await Self.topics(slug, store) == ["sport"])
        } catch StoreError.unknownTopics(let slugs) {
          #expect(slugs == [slug])
        }
      }
    }
  }

  @Test("The counts of a restricted reader are those of the items that it sees, in every state")
  func counts() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b", "c")
      var random = SplitMix64(seed: 7)
      var items: [(topics: [String], state: EditorialItem.State)] = []
      for number in 0..<60 {
        let topics = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }
        let state = [EditorialItem.State.draft, .review, .published].randomElement(using: &random) ?? .draft
        var content = Self.content("\(number)", topics: topics)
        content.state = state
        _ = try await store.create(UUID(number), content)
        let isRetracted = number % 7 == 0
        if isRetracted { try await store.retract(UUID(number), reason: nil, if: .exists) }
        items.append((topics, isRetracted ? .retracted : state))
      }
      for topics: Set<String> in [["a"], ["a", "b"], ["a", "b", "c"], []] {
        let access = ItemAccess(topics: topics)
        let visible = items.filter { access.includes($0.topics) }
        let page = try await store.editorialItems(EditorialQuery(limit: 200, access: access))
        let expected = Dictionary(grouping: visible, by: \.state).mapValues(\.count)
        #expect(page.counts == expected, "\(topics)")
        #expect(page.items.count == visible.count && page.items.allSatisfy { access.includes($0.item.topics) })
      }
    }
  }
}
