import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The effects of `publish()` on the log and on the state of scopes, called with plain SQL.
@Suite struct ScopeTests {
  private static let one = UUID(1)

  /// Runs the body with a pool on a database with the topics a, b and c.
  private func withTopics(_ body: @Sendable (PostgresPool) async throws -> Void) async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.makeTopics("a", "b", "c")
      try await body(sql)
    }
  }

  private func log(_ sql: PostgresPool, _ item: UUID = one) async throws -> [String] {
    try await sql.log(of: item).map(\.summary)
  }

  /// Returns the numbers of items in the feed and in a, b and c.
  private func counts(_ sql: PostgresPool) async throws -> [Int] {
    try await sql.query("SELECT items FROM scopes ORDER BY scope").map { try $0.decode("items") }
  }

  private func versions(_ sql: PostgresPool) async throws -> [Int] {
    try await sql.query("SELECT version FROM scopes ORDER BY scope").map { try $0.decode("version") }
  }

  @Test("A change gives the item one new version in all of its scopes, and changes no other scope")
  func restamping() async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a", "b"])
      #expect(try await log(sql) == [" 1", "a 1", "b 1"])
      try await sql.publish([UUID(2)], topics: ["c"])
      try await sql.publish([Self.one], after: "UPDATE items SET text = 'y' WHERE id = \(Self.one)")
      #expect(try await log(sql) == [" 3", "a 3", "b 3"])
      #expect(try await versions(sql) == [3, 3, 3, 2])
      #expect(try await counts(sql) == [2, 1, 1, 1])
    }
  }

  @Test("An item that leaves a topic is removed from its scope, and is present again when it returns")
  func moving() async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a", "b"])
      try await sql.publish([Self.one], after: "UPDATE items SET topics = '{b,c}'")
      #expect(try await log(sql) == [" 2", "a 2 left", "b 2", "c 2"])
      #expect(try await counts(sql) == [1, 0, 1, 1])
      // A scope that the item has left does not change any more.
      try await sql.publish([Self.one], after: "UPDATE items SET text = 'y'")
      #expect(try await log(sql) == [" 3", "a 2 left", "b 3", "c 3"])
      #expect(try await versions(sql) == [3, 2, 3, 3])
      try await sql.publish([Self.one], after: "UPDATE items SET topics = '{a}'")
      #expect(try await log(sql) == [" 4", "a 4", "b 4 left", "c 4 left"])
      #expect(try await counts(sql) == [1, 1, 0, 0])
    }
  }

  @Test("A topic named twice counts once")
  func repeatedTopic() async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a", "a"])
      #expect(try await log(sql) == [" 1", "a 1"])
      #expect(try await counts(sql) == [1, 1, 0, 0])
    }
  }

  @Test(
    "A retracted item is removed from all scopes, with the reason",
    arguments: [("retracted", "retracted"), ("expired", "expired"), ("draft", "retracted"), ("scheduled", "retracted")])
  func takingBack(state: String, reason: String) async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a", "b"])
      try await sql.publish([Self.one], after: "UPDATE items SET topics = '{b}'")
      try await sql.publish([Self.one], after: "UPDATE items SET state = \(state), publish_at = date")
      #expect(try await log(sql) == [" 3 \(reason)", "a 2 left", "b 3 \(reason)"])
      #expect(try await counts(sql) == [0, 0, 0, 0])
      #expect(try await versions(sql) == [3, 2, 3, 0])
      // A repeated publish is no change.
      #expect(try await sql.publish([Self.one], after: "SELECT 1").map(\.changed) == [false])
      try await sql.publish([Self.one], after: "UPDATE items SET state = 'published'")
      #expect(try await log(sql) == [" 4", "a 2 left", "b 4"])
      #expect(try await counts(sql) == [1, 0, 1, 0])
    }
  }

  @Test("A commit that deletes an item before its tombstone is written is refused")
  func deletion() async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a"])
      let error = await #expect(throws: PostgresError.self) {
        try await sql.publish([Self.one], after: "DELETE FROM items")
      }
      #expect(error?.sqlState == "TD004")
      try await sql.publish([Self.one], after: "UPDATE items SET state = 'retracted'")
      _ = try await sql.query("DELETE FROM items")
      #expect(try await log(sql) == [" 2 retracted", "a 2 retracted"])
    }
  }

  @Test(
    "The page of a scope shifts when an item leaves it or changes what lists sort or filter by",
    arguments: [
      ("text = 'y'", [false, false, false]), ("title = 'y'", [false, false, false]),
      ("topics = '{a,c}'", [false, false, false]), ("date = date - interval '1 day'", [true, true, false]),
      ("language = 'en'", [true, true, false]), ("author = 'y'", [true, true, false]),
      ("topics = '{b}'", [false, true, false]), ("state = 'retracted'", [true, true, false]),
      ("state = 'expired'", [true, true, false]),
    ])
  func shifting(change: String, shifted: [Bool]) async throws {
    try await withTopics { sql in
      try await sql.publish([Self.one], topics: ["a"])
      // A date long ago, so that the current time is later whatever the clock's resolution.
      _ = try await sql.query("UPDATE scopes SET shifted_at = '2000-01-01', changed_at = '2000-01-01'")
      try await sql.publish([Self.one], after: "UPDATE items SET \(unsafeSQL: change)")
      let found = try await sql.query("SELECT shifted_at > '2001-01-01' FROM scopes WHERE scope <> 'c' ORDER BY scope")
        .map { try $0.decode(0, as: Bool.self) }
      #expect(found == shifted)
      #expect(try await sql.value("SELECT changed_at > '2001-01-01' FROM scopes WHERE scope = 'a'"))
    }
  }

  @Test("An item that comes back counts once, and the state of a scope never goes back in time")
  func stateGrows() async throws {
    try await withTopics { sql in
      _ = try await sql.query("UPDATE scopes SET shifted_at = '2100-01-01', changed_at = '2100-01-01'")
      let before = try await sql.scope("a")
      try await sql.publish([Self.one], topics: ["a"])
      try await sql.publish([Self.one], after: "UPDATE items SET state = 'expired'")
      try await sql.publish([Self.one], after: "UPDATE items SET state = 'published'")
      let after = try await sql.scope("a")
      #expect(after.changedAt == before.changedAt)
      #expect(after.shiftedAt == before.shiftedAt)
      #expect(after.items == 1)
      #expect(after.version == 3)
    }
  }
}
