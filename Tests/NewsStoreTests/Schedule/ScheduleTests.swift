import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Publications and expiries by schedule.
@Suite struct ScheduleTests {
  private static func schedule(
    _ numbers: Range<Int>, publishAt: String = "clock_timestamp() - interval '1 minute'", expireAt: String = "NULL",
    topics: [String] = [], hasDate: Bool = true
  ) -> PostgresQuery {
    """
    INSERT INTO items (id, state, publish_at, expire_at, has_date, date, text, topics)
    SELECT n.id, 'scheduled', \(unsafeSQL: publishAt), \(unsafeSQL: expireAt), \(hasDate), \(Date.newYear), 'x', \(topics)
    FROM unnest(\(numbers.map { UUID($0) })) AS n (id)
    """
  }

  private static func states(_ sql: PostgresPool) async throws -> [String: Int] {
    let rows = try await sql.query("SELECT state, count(*) AS count FROM items GROUP BY state")
    return Dictionary(uniqueKeysWithValues: try rows.map { (try $0.decode("state"), try $0.decode("count")) })
  }

  @Test("Items that are due are published once, in chunks, and others wait")
  func publication() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(Self.schedule(0..<250))
      _ = try await sql.query(Self.schedule(250..<260, publishAt: "clock_timestamp() + interval '1 hour'"))
      #expect(try await store.applySchedule() == .zero)
      #expect(try await Self.states(sql) == ["published": 100, "scheduled": 160])
      #expect(try await store.applySchedule() == .zero)
      let wait = try await store.applySchedule()
      #expect(wait > .seconds(3500) && wait < .seconds(3601))
      #expect(try await Self.states(sql) == ["published": 250, "scheduled": 10])
      #expect(try await sql.counter() == 250)
      _ = try await store.applySchedule()
      #expect(try await sql.counter() == 250)
      #expect(store.schedule.changed == 250 && store.schedule.stuck == 0 && store.schedule.age != nil)
    }
  }

  @Test("A schedule without items, or with items that are stuck only, is read again after half a second")
  func emptySchedule() async throws {
    try await NewsDatabase.withStore { store, sql in
      #expect(try await store.applySchedule() == .milliseconds(500))
      _ = try await sql.query(Self.schedule(0..<1, topics: ["gone"]))
      #expect(try await store.applySchedule() == .milliseconds(500))
    }
  }

  @Test("An item without a date receives the moment of its publication")
  func dates() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(Self.schedule(0..<1, hasDate: false))
      _ = try await sql.query(Self.schedule(1..<2))
      let before: Date = try await sql.value("SELECT date_trunc('milliseconds', clock_timestamp())")
      _ = try await store.applySchedule()
      let after: Date = try await sql.value("SELECT clock_timestamp()")
      let item = try await store.editorialItem(UUID(0))
      #expect(item.hasDate && item.item.date >= before && item.item.date <= after)
      #expect(try await store.editorialItem(UUID(1)).item.date == .newYear)
    }
  }

  @Test("A published item expires, and one whose whole time has passed is never published")
  func expiry() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.publish([UUID(1), UUID(2)])
      _ = try await sql.query(
        "UPDATE items SET expire_at = clock_timestamp() - interval '1 second' WHERE id = \(UUID(1))")
      _ = try await sql.query(
        "UPDATE items SET expire_at = clock_timestamp() + interval '1 hour' WHERE id = \(UUID(2))")
      _ = try await sql.query(Self.schedule(3..<4, expireAt: "clock_timestamp() - interval '1 second'"))
      _ = try await store.applySchedule()
      #expect(try await Self.states(sql) == ["expired": 2, "published": 1])
      #expect(try await sql.log(of: UUID(1)).map(\.summary) == [" 3 expired"])
      #expect(try await sql.log(of: UUID(3)).isEmpty)
    }
  }

  @Test("An item that is locked, or has an unknown topic, delays no other")
  func obstacles() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(Self.schedule(0..<1, topics: ["gone"]))
      _ = try await sql.query(Self.schedule(1..<3))
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT 1 FROM items WHERE id = \(UUID(1)) FOR UPDATE")
        _ = try await store.applySchedule()
        #expect(try await Self.states(sql) == ["published": 1, "scheduled": 2])
        #expect(store.schedule.stuck == 1)
      }
      _ = try await store.applySchedule()
      #expect(try await Self.states(sql) == ["published": 2, "scheduled": 1])
      try await sql.makeTopics("gone")
      _ = try await store.applySchedule()
      #expect(try await Self.states(sql) == ["published": 3])
      #expect(store.schedule.stuck == 0)
    }
  }

  @Test("An item whose publication fails delays no other, and is published once it can be")
  func failures() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(Self.schedule(0..<5))
      _ = try await sql.query(
        "ALTER TABLE items ADD CONSTRAINT broken CHECK (state <> 'published' OR id <> '\(unsafeSQL: UUID(2).uuidString)')"
      )
      _ = try await store.applySchedule()
      #expect(try await Self.states(sql) == ["published": 4, "scheduled": 1])
      await #expect(throws: PostgresError.self) { try await store.applySchedule() }
      _ = try await sql.query("ALTER TABLE items DROP CONSTRAINT broken")
      _ = try await store.applySchedule()
      #expect(try await Self.states(sql) == ["published": 5])
    }
  }

  @Test("Several stores publish each item once, as soon as it is due and never before")
  func processes() async throws {
    try await NewsDatabase.with { url in
      try await withStores(3, url) { stores, sql in
        let runs = stores.map { store in Task { await store.keepSchedule() } }
        defer { for run in runs { run.cancel() } }
        for number in 0..<60 {
          let delay = Double(number % 20) * 0.1
          _ = try await sql.query(
            Self.schedule(number..<number + 1, publishAt: "clock_timestamp() + interval '\(delay) seconds'"))
        }
        try await eventually("all are published") { try await Self.states(sql) == ["published": 60] }
        #expect(try await sql.counter() == 60)
        let early: Int = try await sql.value(
          """
          SELECT count(*) FROM items AS i JOIN change_log AS l ON l.item = i.id AND l.scope = ''
          WHERE l.updated < date_trunc('milliseconds', i.publish_at) OR i.revision <> 2
          """)
        #expect(early == 0)
      }
    }
  }

  @Test("A store that follows nothing judges times by the database's clock as well")
  func databaseTime() async throws {
    try await NewsDatabase.withStore { store, sql in
      let id = UUID(1)
      let now: Date = try await sql.value("SELECT clock_timestamp()")
      var content = ItemContent(state: .draft, date: nil, text: "x")
      content.publishAt = now + 3600
      let (item, _) = try await store.create(id, content, StateChange())
      #expect(item.state == .scheduled)
      #expect(try await store.editorialItem(id) == item)
    }
  }
}

/// Runs the body with several stores over a database, and a pool for plain SQL.
private func withStores(
  _ count: Int, _ url: String, _ body: @Sendable ([NewsStore], PostgresPool) async throws -> Void
) async throws {
  let configuration = PostgresConfiguration.forBusyMachine(url)
  let stores = (0..<count).map { _ in NewsStore(connection: configuration, logger: NewsDatabase.logger) }
  let sql = PostgresPool(configuration: configuration, logger: NewsDatabase.logger)
  let result: Result<Void, any Error>
  do { result = .success(try await body(stores, sql)) } catch { result = .failure(error) }
  for store in stores { await store.shutdown() }
  await sql.shutdown()
  try result.get()
}
