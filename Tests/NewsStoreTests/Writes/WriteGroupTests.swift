import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Writes that share a transaction.
@Suite struct WriteGroupTests {
  private static func content(_ text: String, topics: [String] = []) -> ItemContent {
    ItemContent(state: .published, date: .newYear, text: text, topics: topics)
  }

  private static func creation(_ id: Int, isNewID: Bool = false, _ content: ItemContent) -> ItemWrite {
    ItemWrite(id: UUID(id), isNewID: isNewID, bytes: 100) { existing in
      guard let existing else { return .content(content) }
      guard ItemContent(existing) == content else { throw StoreError.alreadyExists }
      return .unchanged
    }
  }

  private static func edit(_ id: Int, revision: Int? = nil, _ change: @escaping @Sendable (inout ItemContent) -> Void)
    -> ItemWrite
  {
    ItemWrite(id: UUID(id), bytes: 100) { existing in
      guard let existing else { throw StoreError.notFound }
      if let revision, existing.revision != revision { throw StoreError.preconditionFailed }
      var content = ItemContent(existing)
      change(&content)
      return content == ItemContent(existing) ? .unchanged : .content(content)
    }
  }

  private static func retraction(_ id: Int, reason: String?) -> ItemWrite {
    ItemWrite(id: UUID(id), bytes: 100) { existing in
      guard existing != nil else { throw StoreError.notFound }
      return .retraction(reason: reason)
    }
  }

  private static func randomContent(_ number: Int, _ text: String, _ random: inout SplitMix64) -> ItemContent {
    var content = content(text, topics: [[], ["a"], ["a", "b"]].randomElement(using: &random) ?? [])
    content.state = Bool.random(using: &random) ? .published : .draft
    content.title = number.isMultiple(of: 3) ? nil : "title \(number)"
    content.html = number.isMultiple(of: 5) ? "<p>\(number)</p>" : nil
    content.breaking = number.isMultiple(of: 2)
    content.author = number.isMultiple(of: 7) ? "" : nil
    content.date = .newYear + Double(number)
    if number.isMultiple(of: 4) {
      content.attachments = [Attachment(url: "https://example.com/\(number)", type: "image/png", alt: "a, \"b\"")]
    }
    return content
  }

  /// A random write of the item with a number. The first ten exist before.
  private static func randomWrite(_ id: Int, _ random: inout SplitMix64) -> ItemWrite {
    let number = Int.random(in: 0..<1000, using: &random)
    let text =
      ["x\(number)", "é\u{301}\(number)", "\"\\\n\t{},NULL", String(repeating: "long ", count: 2000)]
      .randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2: return creation(id, randomContent(number, text, &random))
    case 3: return creation(id, content(text, topics: ["unknown", "a"]))
    case 4: return edit(id) { $0.text = text }
    case 5: return edit(id) { $0.topics = ["b", "nowhere"] }
    case 6: return edit(id, revision: number) { $0.text = text }
    case 7: return edit(id) { _ in }
    case 8: return retraction(id, reason: number.isMultiple(of: 2) ? "reason \(number)" : nil)
    default:
      return edit(id) {
        $0.attachments = [Attachment(url: Attachment.path(of: UUID(number)), type: "image/png")]
      }
    }
  }

  private static func describe(_ outcome: GroupQueue<ItemWrite, WrittenItem>.Result) -> String {
    switch outcome {
    case nil: "left"
    case .failure(let error)?: "\(error)"
    case .success(let written)?:
      "\(written.created) \(written.item.revision) \(written.item.state) \(written.item.item.text.utf8.count)"
    }
  }

  /// The rows of all items and of the log, without times and versions.
  private static func table(_ sql: PostgresPool) async throws -> [String] {
    let items = try await sql.query(
      """
      SELECT (to_jsonb(i) - '{created_at,written_at}'::text[])::text || coalesce(l.list, '') FROM items AS i LEFT JOIN LATERAL (
        SELECT string_agg(c.scope || ' ' || c.present || ' ' || coalesce(c.reason, ''), ',' ORDER BY c.scope) AS list
        FROM change_log AS c WHERE c.item = i.id
      ) AS l ON true
      ORDER BY i.id
      """)
    return try items.map { try $0.decode(0) }
  }

  @Test(
    "Each entry of a group has the outcome, and leaves the item, that it would by itself",
    arguments: 1...12 as ClosedRange<UInt64>)
  func sameAsAlone(seed: UInt64) async throws {
    try await NewsDatabase.withStore { together, sql in
      try await NewsDatabase.withStore { apart, otherSQL in
        for pool in [sql, otherSQL] {
          try await pool.makeTopics("a", "b")
          try await pool.publish((0..<10).map { UUID($0) }, topics: ["a"])
        }
        var random = SplitMix64(seed: seed)
        for _ in 0..<6 {
          let count = Int.random(in: 1...20, using: &random)
          let ids = (0..<20).shuffled(using: &random).prefix(count)
          let writes = ids.map { Self.randomWrite($0, &random) }
          let outcomes = await together.writeTogether(writes)
          #expect(outcomes.count == writes.count)
          for (write, outcome) in zip(writes, outcomes) {
            let alone = await apart.writeTogether([write])
            #expect(Self.describe(outcome) == Self.describe(alone[0]))
            guard case .success(let written)? = outcome else { continue }
            // The answer is composed, and equals what is read.
            #expect(try await together.editorialItem(write.id) == written.item)
          }
        }
        #expect(try await Self.table(sql) == Self.table(otherSQL))
      }
    }
  }

  @Test("A group that is refused as a whole changes nothing, and publishes no version")
  func onlyRefusals() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1)])
      let before = try await sql.counter()
      let outcomes = await store.writeTogether([
        Self.creation(1, Self.content("other")), Self.creation(2, Self.content("y", topics: ["unknown"])),
        Self.retraction(3, reason: nil),
      ])
      #expect(outcomes.map(Self.describe) == ["alreadyExists", "unknownTopics([\"unknown\"])", "notFound"])
      #expect(try await sql.counter() == before)
      #expect(try await sql.value("SELECT count(*) FROM items", as: Int.self) == 1)
    }
  }

  @Test("A row that is locked by hand delays its own write only")
  func lockedRow() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish((0..<20).map { UUID($0) })
      let held = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM items WHERE id = \(UUID(7)) FOR UPDATE")
        let held = Task { try await store.write(UUID(7), if: .exists) { _ in Self.content("held") } }
        try await withThrowingTaskGroup { group in
          for number in 0..<20 where number != 7 {
            group.addTask {
              let (item, _) = try await store.write(UUID(number), if: .exists) { _ in Self.content("new \(number)") }
              #expect(item.revision == 2)
            }
          }
          try await group.waitForAll()
        }
        try await eventually("the write of the locked row leaves its group") { store.writes.alone > 0 }
        // No other one had to.
        #expect(store.writes.alone == 1)
        return held
      }
      #expect(try await held.value.item.revision == 2)
      #expect(try await store.editorialItem(UUID(7)).item.text == "held")
    }
  }

  @Test("An id that another transaction is about to create delays its own write only")
  func heldID() async throws {
    try await NewsDatabase.withStore { store, sql in
      let held = try await sql.transaction { transaction in
        _ = try await transaction.query(
          "INSERT INTO items (id, state, date, text) VALUES (\(UUID(7)), 'draft', \(Date.newYear), 'by hand')")
        let held = Task { try await store.create(UUID(7), Self.content("by the API")) }
        try await withThrowingTaskGroup { group in
          for number in 10..<30 {
            group.addTask {
              let (_, created) = try await store.create(UUID(number), Self.content("\(number)"))
              #expect(created)
            }
          }
          try await group.waitForAll()
        }
        return held
      }
      await #expect(throws: StoreError.alreadyExists) { _ = try await held.value }
      #expect(try await store.editorialItem(UUID(7)).item.text == "by hand")
    }
  }

  @Test(
    "Items with new ids are created as they would be one by one; a refused one leaves, and is then refused with its reason",
    arguments: 1...6 as ClosedRange<UInt64>)
  func newIDs(seed: UInt64) async throws {
    try await NewsDatabase.withStore { together, sql in
      try await NewsDatabase.withStore { apart, otherSQL in
        for pool in [sql, otherSQL] { try await pool.makeTopics("a", "b") }
        var random = SplitMix64(seed: seed)
        var next = 0
        for _ in 0..<6 {
          let contents = (0..<Int.random(in: 1...20, using: &random)).map { _ in
            let number = Int.random(in: 0..<1000, using: &random)
            var content = Self.randomContent(number, "\"é\u{301}\(number)\n{},NULL", &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: content.topics = ["a", "nowhere"]
            case 1: content.attachments = [Attachment(url: Attachment.path(of: UUID(number)), type: "image/png")]
            default: break
            }
            return content
          }
          let ids = contents.indices.map { next + $0 }
          next += contents.count
          let outcomes = await together.writeTogether(
            zip(ids, contents).map { Self.creation($0, isNewID: true, $1) })
          for (index, outcome) in outcomes.enumerated() {
            let (id, content) = (UUID(ids[index]), contents[index])
            do {
              let (item, created) = try await apart.create(id, content)
              let written = try #require(try outcome?.get())
              #expect(written.created && created)
              #expect(ItemContent(written.item) == ItemContent(item) && written.item.revision == item.revision)
              #expect(written.item == (try await together.editorialItem(id)))
            } catch let refusal as StoreError {
              #expect(outcome == nil)
              await #expect(throws: refusal) { _ = try await together.create(id, isNewID: true, content) }
            }
          }
          #expect(try await Self.table(sql) == Self.table(otherSQL))
        }
      }
    }
  }

  @Test("An id that was taken for new but exists is not overwritten")
  func newIDExists() async throws {
    try await NewsDatabase.withStore { store, _ in
      _ = try await store.create(UUID(1), Self.content("first"))
      let outcomes = await store.writeTogether([
        Self.creation(1, isNewID: true, Self.content("other")), Self.creation(2, isNewID: true, Self.content("new")),
      ])
      #expect(outcomes[0] == nil && outcomes[1] == nil, "both are to run alone")
      #expect(try await store.create(UUID(2), isNewID: true, Self.content("new")).created)
      #expect(try await store.editorialItem(UUID(1)).item.text == "first")
      await #expect(throws: StoreError.alreadyExists) {
        _ = try await store.create(UUID(1), isNewID: true, Self.content("other"))
      }
    }
  }

  @Test("A lost answer to the creation of items with new ids is found out, wherever it is lost")
  func lostCreation() async throws {
    try await Self.withProxiedStore { store, proxy in
      _ = try await store.create(UUID(1), isNewID: true, Self.content("a"))
      let before = proxy.passed
      _ = try await store.create(UUID(2), isNewID: true, Self.content("a"))
      let length = proxy.passed - before
      var number = 10
      var found = 0
      for bytes in slice(of: stride(from: 0, through: length, by: 7)) {
        number += 2
        proxy.spoil(.cut, after: bytes)
        let outcomes = await store.writeTogether([
          Self.creation(number, isNewID: true, Self.content("\(number)")),
          Self.creation(number + 1, isNewID: true, Self.content("x", topics: ["nowhere"])),
        ])
        let isCut = proxy.isSpent
        // An answer that was shorter than the first leaves the cut to the reading of the item.
        if !isCut { _ = try? await store.editorialItem(UUID(number)) }
        let written = try? await store.editorialItem(UUID(number))
        switch outcomes[0] {
        case .success(let result)?:
          #expect(written == result.item && result.created && result.item.revision == 1)
          if isCut { found += 1 }
        case nil, .failure(StoreError.unavailable)?: #expect(written == nil, "after \(bytes) of \(length)")
        case .failure(let error)?: Issue.record("\(error) after \(bytes) of \(length)")
        }
        #expect((try? outcomes[1]?.get()) == nil)
      }
      #expect(found > 0, "an acknowledged write was found after its answer was lost")
      let lost = store.writes.lostCommits
      #expect(lost.committed > 0 && lost.unknown == 0)
    }
  }

  @Test("An answer to a COMMIT that is lost anywhere is found out: no outcome is unknown")
  func lostCommit() async throws {
    try await Self.withProxiedStore { store, proxy in
      _ = try await store.create(UUID(1), Self.content("a"))
      let before = proxy.passed
      _ = try await store.create(UUID(2), Self.content("a"))
      let length = proxy.passed - before
      var number = 10
      var found = 0
      for bytes in slice(of: stride(from: 0, through: length, by: 7)) {
        number += 1
        proxy.spoil(.cut, after: bytes)
        let outcome = await store.writeTogether([
          Self.creation(number, Self.content("\(number)")), Self.creation(1, Self.content("other")),
        ])
        let written = try? await store.editorialItem(UUID(number))
        switch outcome[0] {
        case .success(let result)?:
          #expect(written == result.item)
          if proxy.isSpent { found += 1 }
        case nil, .failure(StoreError.unavailable)?: #expect(written == nil, "after \(bytes) of \(length)")
        case .failure(let error)?: Issue.record("\(error) after \(bytes) of \(length)")
        }
      }
      #expect(found > 0, "an acknowledged write was found after its answer was lost")
      #expect(store.writes.lostCommits.committed == found && store.writes.lostCommits.unknown == 0)
    }
  }

  @Test("A write whose transaction was undone during its COMMIT is written again", arguments: [false, true])
  func undoneCommit(isNewID: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      // Opens the connection, whose first query would wait for the counter too.
      _ = try await store.create(UUID(1), Self.content("a"))
      let writing = try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT version FROM scopes WHERE scope = '' FOR UPDATE")
        let writing = Task { try await store.create(UUID(2), isNewID: isNewID, Self.content("b")) }
        // The write waits for the counter, in one round trip with its COMMIT.
        try await eventually("its session has ended") {
          try await sql.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%publish(%'
            """
          ).count == 1
        }
        return writing
      }
      #expect(try await writing.value.created)
      let lost = store.writes.lostCommits
      #expect(lost.undone == 1 && lost.committed == 0 && lost.unknown == 0)
    }
  }

  /// Calls the body with a store of one connection, which passes a proxy.
  private static func withProxiedStore(
    _ body: @Sendable (NewsStore, FaultyProxy) async throws -> Void
  ) async throws {
    try await NewsDatabase.with { url in
      let parts = try #require(URLComponents(string: url))
      try await FaultyProxy.with(serverPort: try #require(parts.port)) { proxy in
        var proxied = parts
        proxied.port = proxy.port
        let connection = PostgresConfiguration.forBusyMachine(try #require(proxied.string))
        var pool = PostgresPoolConfiguration.forBusyMachine
        pool.size = 1
        let store = NewsStore(connection: connection, pool: pool, logger: NewsDatabase.logger)
        try await withResource(store, release: { await $0.shutdown() }) { store in try await body(store, proxy) }
      }
    }
  }
}
