import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct PurgeTests {
  /// Runs the body with two items. The first one is in topic `a`, then leaves it, and is then retracted; `before`
  /// contains the tokens before both changes.
  private static func withHistory(
    _ body: @Sendable (NewsStore, PostgresPool, _ before: [SyncToken], _ ofTopic: SyncToken) async throws -> Void
  ) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      let topic = Scope(topics: ["a"])
      try await sql.publish([UUID(1)], after: PostgresPool.insertion([UUID(1)], topics: ["a"]))
      try await sql.publish([UUID(2)], after: PostgresPool.insertion([UUID(2)], topics: ["b"]))
      var before = [try await store.changeList(ChangeQuery()).token]
      let ofTopic = try await store.changeList(ChangeQuery(scope: topic)).token
      try await sql.publish([UUID(1)], after: "UPDATE items SET topics = '{b}' WHERE id = \(UUID(1))")
      before.append(try await store.changeList(ChangeQuery()).token)
      try await sql.publish(
        [UUID(1)], after: "UPDATE items SET state = 'retracted', retraction_reason = 'wrong' WHERE id = \(UUID(1))")
      try await body(store, sql, before, ofTopic)
    }
  }

  @Test("Removals younger than the age are kept")
  func young() async throws {
    try await Self.withHistory { store, _, before, ofTopic in
      #expect(try await store.purge(olderThan: .seconds(3600)) == 0)
      let changes = try await store.changeList(ChangeQuery(since: before[0]))
      #expect(changes.changes == [.remove(id: UUID(1), reason: .retracted)])
      #expect(try await store.changeList(ChangeQuery(scope: Scope(topics: ["a"]), since: ofTopic)).changes.count == 1)
    }
  }

  @Test("An export has the reasons of purged removals")
  func export() async throws {
    try await Self.withHistory { store, _, _, _ in
      #expect(try await store.purge(olderThan: .zero) > 0)
      let lines = Mutex<[String]>([])
      _ = try await store.exportNewsroom(history: false) { added in lines.withLock { $0 += added } }
      let removed = lines.withLock { $0.filter { $0.contains(#""state": "retracted""#) } }
      #expect(removed.count == 1 && removed.allSatisfy { $0.contains(#""gone": "retracted""#) })
    }
  }

  @Test("A token older than the purged removals has expired; the current token and the snapshot stay valid")
  func floors() async throws {
    try await Self.withHistory { store, sql, before, ofTopic in
      let current = try await store.changeList(ChangeQuery()).token
      // The rows of the item in the feed, in `a` and in `b`.
      #expect(try await store.purge(olderThan: .zero) == 3)
      #expect(try await store.purge(olderThan: .zero) == 0)
      for token in before {
        await #expect(throws: StoreError.tokenExpired(reason: .expired, current: current)) {
          try await store.changeList(ChangeQuery(since: token))
        }
      }
      await #expect(throws: StoreError.self) {
        try await store.changeList(ChangeQuery(scope: Scope(topics: ["a"]), since: ofTopic))
      }
      #expect(try await store.changeList(ChangeQuery(since: current)).changes.isEmpty)
      let snapshot = try await store.changeList(ChangeQuery())
      #expect(snapshot.changes.count == 1)
      #expect(snapshot.token == current)
      try await sql.publish([UUID(3)], after: PostgresPool.insertion([UUID(3)]))
      #expect(try await store.changeList(ChangeQuery(since: current)).changes.count == 1)
    }
  }

  @Test("A purge in one topic leaves the tokens of other topics valid")
  func otherScopes() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      try await sql.publish([UUID(1)], after: PostgresPool.insertion([UUID(1)], topics: ["a", "b"]))
      let scopes = [Scope.feed, Scope(topics: ["b"]), Scope(topics: ["a"]), Scope(topics: ["a", "b"])]
      var tokens: [SyncToken] = []
      for scope in scopes { tokens.append(try await store.changeList(ChangeQuery(scope: scope)).token) }
      try await sql.publish([UUID(1)], after: "UPDATE items SET topics = '{b}' WHERE id = \(UUID(1))")
      #expect(try await store.purge(olderThan: .zero) == 1)
      var counts: [Int?] = []
      for (scope, token) in zip(scopes, tokens) {
        counts.append(try? await store.changeList(ChangeQuery(scope: scope, since: token)).changes.count)
      }
      #expect(counts == [1, 1, nil, nil])
    }
  }

  @Test("A purged item is still reported as gone with its reason, and can be published again")
  func goneItems() async throws {
    try await Self.withHistory { store, sql, _, _ in
      try await store.purge(olderThan: .zero)
      await #expect(throws: StoreError.retracted(reason: .retracted, detail: "wrong")) {
        try await store.newsItem(UUID(1))
      }
      try await sql.publish([UUID(1)], after: "UPDATE items SET state = 'published' WHERE id = \(UUID(1))")
      #expect(try await store.newsItem(UUID(1)).item.id == UUID(1))
      try await sql.publish([UUID(1)], after: "UPDATE items SET state = 'expired' WHERE id = \(UUID(1))")
      await #expect(throws: StoreError.retracted(reason: .expired, detail: "wrong")) {
        try await store.newsItem(UUID(1))
      }
      // A draft was never public.
      _ = try await sql.query(
        "INSERT INTO items (id, state, date, text) VALUES (\(UUID(4)), 'draft', '2026-01-01', 'x')")
      _ = try await sql.query("UPDATE items SET state = 'retracted' WHERE id = \(UUID(4))")
      await #expect(throws: StoreError.notFound) { try await store.newsItem(UUID(4)) }
    }
  }

  @Test("A removal that is purged before a process has read it still counts as a change of the item")
  func unseen() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a")
      let ids = [UUID(1), UUID(2)]
      try await sql.publish(ids, after: PostgresPool.insertion(ids, topics: ["a"]))
      let before = try await store.stateCache.refresh()
      try await sql.publish([ids[0]], after: "UPDATE items SET state = 'retracted' WHERE id = \(ids[0])")
      try await sql.publish([ids[1]], after: "UPDATE items SET topics = '{}' WHERE id = \(ids[1])")
      #expect(try await store.purge(olderThan: .zero) == 3)
      let after = try await store.stateCache.refresh()
      for id in ids { #expect(!after.isCurrent(.item(id), since: before.feedVersion)) }
      #expect(after.event(in: Scope(topics: ["a"]), after: before.version)?.topics == ["a"])
      // Later changes are remembered again.
      try await sql.publish([UUID(2)], after: "UPDATE items SET text = 'new' WHERE id = \(UUID(2))")
      let later = try await store.stateCache.refresh()
      #expect(later.isCurrent(.item(UUID(1)), since: after.feedVersion))
      #expect(!later.isCurrent(.item(UUID(2)), since: after.feedVersion))
    }
  }

  @Test("Many removals are purged in steps, and a following process learns the floors at once")
  func steps() async throws {
    try await NewsDatabase.withStore { store, sql in
      let ids = (1...1200).map { UUID($0) }
      for part in [ids[..<600], ids[600...]] {
        try await sql.publish(Array(part), after: PostgresPool.insertion(Array(part)))
      }
      let following = Task { await store.follow() }
      defer { following.cancel() }
      let token = try await store.changeList(ChangeQuery()).token
      for part in [ids[..<600], ids[600...]] {
        try await sql.publish(
          Array(part), after: "UPDATE items SET state = 'retracted' WHERE id = ANY (\(Array(part)))")
      }
      #expect(try await store.purge(olderThan: .zero) == 1200)
      try await eventually("the floor is known") { store.cachedSnapshot?.scopes[""]?.floor == 2400 }
      await #expect(throws: StoreError.self) { try await store.changeList(ChangeQuery(since: token)) }
      #expect(try await store.changeList(ChangeQuery()).changes.isEmpty)
    }
  }
}
