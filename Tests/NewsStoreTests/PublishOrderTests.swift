import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Concurrent writers: versions follow the order of commits, without gaps.
@Suite struct PublishOrderTests {
  private static let writers = 8
  private static let rounds = 12

  /// Runs one writer, which adds items of its own and edits, moves and removes items that all writers share.
  private func write(_ writer: Int, _ sql: PostgresPool) async throws -> [[Int]] {
    var random = SplitMix64(seed: UInt64(writer))
    var taken: [[Int]] = []
    for round in 0..<Self.rounds {
      let new = (0..<Int.random(in: 0...3, using: &random)).map { UUID(1000 * (writer + 1) + 10 * round + $0) }
      let shared = (1...6).map { UUID($0) }.filter { _ in Bool.random(using: &random) }
      let topics = ["a", "b", "c"].filter { _ in Bool.random(using: &random) }
      let state = Int.random(in: 0..<4, using: &random) == 0 ? "expired" : "published"
      let published = try await sql.transaction(retries: 20) { transaction in
        _ = try await transaction.query(PostgresPool.insertion(new, topics: topics))
        for id in shared {
          _ = try await transaction.query(
            """
            UPDATE items SET text = \("\(writer).\(round)"), topics = \(topics), state = \(state) WHERE id = \(id)
            """)
        }
        return try await transaction.publish((new + shared).shuffled())
      }
      let versions = published.filter(\.changed).map(\.version)
      if !versions.isEmpty { taken.append(versions) }
    }
    return taken
  }

  @Test(
    "Eight concurrent writers use each version once, each publication a consecutive range, with notifications in that order"
  )
  func concurrentWriters() async throws {
    try await NewsDatabase.with { url in
      let sql = PostgresPool(configuration: .forBusyMachine(url), logger: NewsDatabase.logger)
      try await sql.makeTopics("a", "b", "c")
      try await sql.publish((1...6).map { UUID($0) })
      var publishes: [[Int]] = []
      let payloads = try await notifications(url) {
        publishes = try await withThrowingTaskGroup(of: [[Int]].self) { group in
          for writer in 1...Self.writers { group.addTask { try await self.write(writer, sql) } }
          return try await group.reduce(into: []) { $0 += $1 }
        }
      }
      publishes.sort { $0[0] < $1[0] }
      let counter = try await sql.counter()
      #expect(publishes.flatMap { $0 } == Array(7...counter))
      #expect(publishes.count > Self.writers)
      // Each publish sends one notification with its last version; the server sends them in the order of commits.
      let epoch: String = try await sql.value("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")
      #expect(payloads == publishes.map { "\(epoch) \($0.last ?? 0)" })
      try await checkLog(sql)
      await sql.shutdown()
    }
  }

  /// Checks the log and the scopes against the items.
  private func checkLog(_ sql: PostgresPool) async throws {
    let wrongScopes = try await sql.query(
      """
      SELECT s.scope FROM scopes AS s WHERE
        s.version <> (SELECT coalesce(max(version), 0) FROM change_log AS l WHERE l.scope = s.scope)
        OR s.items <> (SELECT count(*) FROM change_log AS l WHERE l.scope = s.scope AND l.present)
      """
    ).map { try $0.decode(0, as: String.self) }
    #expect(wrongScopes == [])
    // The scopes of an item must be the same in the log and in its own columns.
    let wrongItems = try await sql.query(
      """
      SELECT i.id FROM items AS i WHERE
        coalesce((SELECT array_agg(l.scope::text ORDER BY l.scope) FROM change_log AS l WHERE l.item = i.id AND l.present), '{}')
        <> CASE WHEN i.state = 'published' THEN array_prepend(''::text, i.topics) ELSE '{}' END
      """
    ).map { try $0.decode(0, as: UUID.self) }
    #expect(wrongItems == [])
    // The rows of one change carry its version, whether present or removed; the rows of an earlier removal carry a
    // lower one.
    let wrongVersions: Int = try await sql.value(
      """
      SELECT count(*) FROM change_log AS l JOIN change_log AS feed ON feed.item = l.item AND feed.scope = ''
      WHERE l.version > feed.version OR (l.present AND (NOT feed.present OR l.version <> feed.version))
      """)
    #expect(wrongVersions == 0)
  }

  @Test("No reader sees a version before its commit, and the next publisher waits for that commit")
  func heldTransaction() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      try await sql.publish([UUID(1)])
      let before = try await store.changeList(ChangeQuery()).token
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
      let first = Task {
        try await sql.transaction { transaction in
          _ = try await transaction.query(PostgresPool.insertion([UUID(2)], topics: ["a"]))
          let versions = try await transaction.publish([UUID(2)]).map(\.version)
          isHeld.finish()
          for await _ in release {}
          return versions
        }
      }
      for await _ in held {}
      let second = Task { try await sql.publish([UUID(3)], topics: ["a"]).map(\.version) }
      try await eventually("the second publisher waits for the first") {
        try await sql.value(
          """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            AND query LIKE '%publish%'
          """) == 1
      }
      // Every read returns the same as before.
      let changes = try await store.changeList(ChangeQuery(since: before))
      #expect(changes.changes.isEmpty && !changes.more)
      #expect(changes.token == before)
      #expect(try await store.snapshot().state(of: .feed).feed == before)
      #expect(try await store.items(ItemQuery()).items.map(\.id) == [UUID(1)])
      #expect(try await store.topic("a").topic.items == 0)

      isReleased.finish()
      #expect(try await first.value == [2])
      #expect(try await second.value == [3])
      let after = try await store.changeList(ChangeQuery(since: before))
      #expect(
        after.changes.map { change in
          if case .put(let item) = change { item.version } else { 0 }
        } == [2, 3])
    }
  }

  @Test("A publisher that has waited for another edit of the same item continues from it")
  func sameItem() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([UUID(1)])
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
      let first = Task {
        try await sql.transaction { transaction in
          _ = try await transaction.query("UPDATE items SET text = 'first'")
          isHeld.finish()
          for await _ in release {}
          return try await transaction.publish([UUID(1)]).map(\.version)
        }
      }
      for await _ in held {}
      let second = Task { try await sql.publish([UUID(1)], after: "UPDATE items SET title = text").map(\.version) }
      try await eventually("the second writer waits for the first") {
        try await sql.value(
          "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
      }
      isReleased.finish()
      #expect(try await first.value == [2])
      #expect(try await second.value == [3])
      #expect(try await sql.value("SELECT title FROM items") == "first")
    }
  }
}
