import Foundation
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// `publish()` and its guards, called with plain SQL.
@Suite struct PublishTests {
  private static let one = UUID(1)

  /// Returns the error of a transaction that must not commit.
  private func refusal(
    _ sql: PostgresPool, _ body: @Sendable (PostgresTransaction) async throws -> Void
  ) async throws -> PostgresError {
    let error = await #expect(throws: PostgresError.self) { try await sql.transaction(retries: 0, body) }
    return try #require(error)
  }

  @Test("A publication takes one version per item, by date and then id, and sends one notification")
  func versions() async throws {
    try await NewsDatabase.with { url in
      let sql = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: NewsDatabase.logger)
      let ids = (1...3).map { UUID($0) }
      let payloads = try await notifications(url) {
        let rows = try await sql.transaction { transaction in
          _ = try await transaction.query(PostgresPool.insertion([ids[0], ids[1]]))
          _ = try await transaction.query(PostgresPool.insertion([ids[2]], date: .newYear - 1))
          return try await transaction.publish(ids)
        }
        #expect(rows.map(\.item) == [ids[2], ids[0], ids[1]])
        #expect(rows.map(\.version) == [1, 2, 3])
        #expect(rows.map(\.changed) == [true, true, true])
      }
      let epoch: String = try await sql.value("SELECT id FROM epochs ORDER BY number DESC LIMIT 1")
      #expect(payloads == ["\(epoch) 3"])
      await sql.shutdown()
    }
  }

  @Test("An unchanged item takes no version, keeps its update date, and sends no notification")
  func unchanged() async throws {
    try await NewsDatabase.with { url in
      let sql = PostgresPool(configuration: PostgresConfiguration(connectionString: url), logger: NewsDatabase.logger)
      let first = try await sql.publish([Self.one])
      let scope = try await sql.scope("")
      let payloads = try await notifications(url) {
        let again = try await sql.publish([Self.one], after: "UPDATE items SET text = 'x', publish_at = now()")
        #expect(again.map(\.version) == first.map(\.version))
        #expect(again.map(\.updated) == first.map(\.updated))
        #expect(again.map(\.changed) == [false])
        #expect(try await sql.publish([], after: "SELECT 1") == [])
      }
      #expect(payloads == [])
      #expect(try await sql.scope("") == scope)
      await sql.shutdown()
    }
  }

  @Test("An edit that is undone in the same transaction is no change, and neither is a draft")
  func noChangeAtTheEnd() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([Self.one])
      try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET text = 'y'")
        _ = try await transaction.query("UPDATE items SET text = 'x'")
        #expect(try await transaction.publish([Self.one]).map(\.changed) == [false])
      }
      try await sql.makeDraft(UUID(2))
      #expect(try await sql.publish([UUID(2)], after: "UPDATE items SET text = 'y' WHERE state = 'draft'") == [])
      #expect(try await sql.counter() == 1)
      #expect(try await sql.log(of: UUID(2)) == [])
    }
  }

  @Test("The update date grows with each change of an item, even if it is ahead of the clock")
  func updatedGrows() async throws {
    try await NewsDatabase.withStore { _, sql in
      let first = try #require(try await sql.publish([Self.one]).first)
      let second = try #require(try await sql.publish([Self.one], after: "UPDATE items SET text = 'y'").first)
      #expect(second.updated > first.updated)
      _ = try await sql.query("UPDATE change_log SET updated = '2100-01-01T00:00:00Z'")
      let third = try #require(try await sql.publish([Self.one], after: "UPDATE items SET text = 'z'").first)
      #expect(third.updated == Date(timeIntervalSince1970: 4_102_444_800.001))
      #expect(try await sql.log(of: Self.one).map(\.updated) == [third.updated])
    }
  }

  @Test("More than 1000 items are refused (TD001), and so is any isolation level but READ COMMITTED (TD002)")
  func limits() async throws {
    try await NewsDatabase.withStore { _, sql in
      let ids = (1...1001).map { UUID($0) }
      let tooMany = try await refusal(sql) { _ = try await $0.publish(ids) }
      #expect(tooMany.sqlState == "TD001")
      #expect(try await sql.publish(Array(ids.dropLast())).count == 1000)
      for level in ["REPEATABLE READ", "SERIALIZABLE"] {
        let error = try await refusal(sql) { transaction in
          _ = try await transaction.query("SET TRANSACTION ISOLATION LEVEL \(unsafeSQL: level)")
          try await transaction.publish([Self.one])
        }
        #expect(error.sqlState == "TD002")
      }
    }
  }

  @Test("An unknown topic is refused by name (TD003), and the transaction leaves no trace")
  func unknownTopic() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.makeTopics("sport")
      let error = await #expect(throws: PostgresError.self) {
        try await sql.publish([Self.one], topics: ["sport", "weather"])
      }
      #expect(error?.sqlState == "TD003")
      #expect(error?.detail == "weather")
      #expect(try await sql.value("SELECT count(*) FROM items") == 0)
      #expect(try await sql.counter() == 0)
    }
  }

  @Test("A draft may have topics that do not exist")
  func unknownTopicOfADraft() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.makeDraft(Self.one)
      #expect(try await sql.publish([Self.one], after: "UPDATE items SET topics = '{nowhere}'") == [])
    }
  }

  @Test(
    "A commit that changes what readers see without publish() is refused (TD004)",
    arguments: [
      "INSERT INTO items (id, state, date, text) VALUES (gen_random_uuid(), 'published', now()::date, 'x')",
      "UPDATE items SET text = 'y' WHERE state = 'published'",
      "UPDATE items SET title = '' WHERE state = 'published'",
      "UPDATE items SET topics = '{a}' WHERE state = 'published'",
      "UPDATE items SET attachments = '[{}]' WHERE state = 'published'",
      "UPDATE items SET date = date - interval '1 millisecond' WHERE state = 'published'",
      "UPDATE items SET state = 'retracted' WHERE state = 'published'",
      "UPDATE items SET state = 'expired' WHERE state = 'published'",
      "UPDATE items SET state = 'draft' WHERE state = 'published'",
      "UPDATE items SET state = 'published' WHERE state = 'draft'",
      "UPDATE items SET state = 'published' WHERE state = 'retracted'",
      "DELETE FROM items WHERE state = 'published'",
      "TRUNCATE items",
    ])
  func unpublished(statement: String) async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([UUID(1), UUID(2)])
      try await sql.publish([UUID(2)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(2))")
      try await sql.makeDraft(UUID(3))
      let before: String = try await sql.value("SELECT string_agg(i::text, ' ' ORDER BY id) FROM items AS i")
      let error = await #expect(throws: PostgresError.self) {
        try await sql.query(PostgresQuery(unsafeSQL: statement))
      }
      #expect(error?.sqlState == "TD004")
      #expect(try await sql.value("SELECT string_agg(i::text, ' ' ORDER BY id) FROM items AS i") == before)
      #expect(try await sql.counter() == 3)
    }
  }

  @Test(
    "Changes that readers do not see need no publish()",
    arguments: [
      "INSERT INTO items (id, state, date, text) VALUES (gen_random_uuid(), 'draft', now()::date, 'x')",
      "UPDATE items SET text = 'y' WHERE state = 'draft'",
      "UPDATE items SET text = 'erased' WHERE state = 'retracted'",
      "UPDATE items SET expire_at = now() WHERE state = 'published'",
      "UPDATE items SET state = 'scheduled', publish_at = date WHERE state = 'draft'",
      "DELETE FROM items WHERE state = 'draft'",
    ])
  func invisible(statement: String) async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([UUID(1), UUID(2)])
      try await sql.publish([UUID(2)], after: "UPDATE items SET state = 'retracted' WHERE id = \(UUID(2))")
      try await sql.makeDraft(UUID(3))
      #expect(try await sql.query(PostgresQuery(unsafeSQL: statement)).affected == 1)
      #expect(try await sql.counter() == 3)
    }
  }

  @Test("A write after the publication in the same transaction is refused at the commit (TD004)")
  func writeAfterPublish() async throws {
    try await NewsDatabase.withStore { _, sql in
      let error = try await refusal(sql) { transaction in
        _ = try await transaction.query(PostgresPool.insertion([Self.one]))
        try await transaction.publish([Self.one])
        _ = try await transaction.query("UPDATE items SET text = 'y'")
      }
      #expect(error.sqlState == "TD004")
      #expect(error.detail?.contains(Self.one.uuidString.lowercased()) == true)
      #expect(try await sql.counter() == 0)
    }
  }

  @Test("The id of an item never changes (TD005), and every write counts as a revision")
  func revisions() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([Self.one])
      let error = await #expect(throws: PostgresError.self) { try await sql.query("UPDATE items SET id = \(UUID(2))") }
      #expect(error?.sqlState == "TD005")
      _ = try await sql.query("UPDATE items SET revision = 77")
      #expect(try await sql.value("SELECT revision FROM items") == 2)
    }
  }

  @Test("A rollback leaves no gap in the versions")
  func rollback() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.publish([UUID(1)])
      await #expect(throws: Unexpected.self) {
        try await sql.transaction { transaction in
          _ = try await transaction.query(PostgresPool.insertion([UUID(2)]))
          #expect(try await transaction.publish([UUID(2)]).map(\.version) == [2])
          throw Unexpected(description: "the end of it")
        }
      }
      #expect(try await sql.publish([UUID(3)]).map(\.version) == [2])
    }
  }

  @Test("Publishing twice in one transaction takes two versions, and the item has the second")
  func twice() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.transaction { transaction in
        _ = try await transaction.query(PostgresPool.insertion([UUID(1)]))
        #expect(try await transaction.publish([UUID(1)]).map(\.version) == [1])
        _ = try await transaction.query("UPDATE items SET text = 'y'")
        _ = try await transaction.query(PostgresPool.insertion([UUID(2)]))
        #expect(try await transaction.publish([UUID(1), UUID(2)]).map(\.version) == [2, 3])
        #expect(try await transaction.publish([UUID(1), UUID(2)]).map(\.changed) == [false, false])
      }
      #expect(try await sql.log(of: UUID(1)).map(\.summary) == [" 2"])
      #expect(try await sql.counter() == 3)
      #expect(try await sql.scope("").items == 2)
    }
  }
}
