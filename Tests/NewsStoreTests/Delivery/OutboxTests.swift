import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The rows that publications leave, and the pushes that are made from them.
@Suite struct OutboxTests {
  private static let start = Date.pushStart

  @Test("A publication leaves one row, which names the change of each item")
  func kinds() async throws {
    try await NewsDatabase.withStore { _, sql in
      try await sql.makeTopics("a")
      let ids = (1...4).map { UUID($0) }
      try await sql.publish(ids, topics: ["a"])
      #expect(try await sql.outboxKinds() == [["published", "published", "published", "published"]])
      try await sql.publish(
        ids,
        after: """
          UPDATE items SET text = CASE WHEN id = \(ids[0]) THEN 'new' ELSE text END,
            state = CASE id WHEN \(ids[1]) THEN 'retracted' WHEN \(ids[2]) THEN 'draft' WHEN \(ids[3]) THEN 'expired'
              ELSE state END
          """)
      #expect(try await sql.outboxKinds().last == ["changed", "retracted", "retracted", "expired"])
      try await sql.publish(ids, after: "UPDATE items SET state = 'published' WHERE id = ANY (\(Array(ids[2...])))")
      #expect(try await sql.outboxKinds().last == ["published", "published"])
      // Nothing that readers see has changed.
      try await sql.publish(ids, after: "UPDATE items SET publish_at = clock_timestamp() WHERE id = \(ids[0])")
      #expect(try await sql.outboxKinds().count == 3)
      let rows = try await sql.query("SELECT version, items, versions FROM outbox ORDER BY number")
      #expect(try rows.map { try $0.decode("version", as: Int.self) } == [4, 8, 10])
      #expect(try rows.map { try $0.decode("versions", as: [Int].self) } == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]])
      #expect(try rows[1].decode("items", as: [UUID].self) == ids)
    }
  }

  @Test("Writes, the schedule, imports and plain SQL leave rows, an undone transaction none")
  func writers() async throws {
    try await NewsDatabase.withStore { store, sql in
      let content = ItemContent(state: .published, date: .newYear, text: "x")
      _ = try await store.create(UUID(1), content)
      #expect(try await sql.outboxKinds() == [["published"]])
      _ = try await store.importItems([
        ImportedItem(id: UUID(2), source: "s", guid: "g", digest: Data([1]), content: content)
      ])
      #expect(try await sql.outboxKinds().count == 2)
      _ = try await sql.query(
        """
        INSERT INTO items (id, state, publish_at, date, text)
        VALUES (\(UUID(3)), 'scheduled', clock_timestamp() - interval '1 minute', \(Date.newYear), 'x')
        """)
      _ = try await store.applySchedule()
      #expect(try await sql.outboxKinds().count == 3)
      try await store.retract(UUID(1), reason: nil, if: .exists)
      #expect(try await sql.outboxKinds().last == ["retracted"])
      try await sql.publish([UUID(4)])
      await #expect(throws: Unexpected.self) {
        try await sql.transaction { transaction in
          _ = try await transaction.query(PostgresPool.insertion([UUID(5)]))
          try await transaction.publish([UUID(5)])
          throw Unexpected(description: "undone")
        }
      }
      #expect(try await sql.outboxKinds().count == 5)
    }
  }

  @Test("Changes within the window become one push with the newest item and all topics, also those that were left")
  func window() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b", "c", "d", "e")
      let device = try await store.register(.apns())
      for number in 1...20 {
        try await sql.publish([UUID(number)], topics: [number == 3 ? "c" : "a"])
        try await store.wake(window: .seconds(60), at: Self.start + Double(number))
      }
      // Two publications are read together.
      try await sql.publish([UUID(21)], topics: ["e"])
      try await sql.publish([UUID(3)], after: "UPDATE items SET topics = '{b}' WHERE id = \(UUID(3))")
      try await store.wake(window: .seconds(60), at: Self.start + 59)
      #expect(try await store.claim(at: Self.start + 59).isEmpty)
      #expect(try await store.nextFanOut(at: Self.start + 59) == 2)
      try await store.wake(window: .seconds(60), at: Self.start + 61)
      let messages = try await store.claim(at: Self.start + 61)
      #expect(messages.map(\.device) == [device.id] && messages.map(\.content.contentID) == [UUID(3)])
      #expect(messages.first?.content.token == (try await store.feedToken()).description)
      #expect(try await sql.pushKinds() == ["silent a b c e"])
      #expect(try await store.nextFanOut(at: Self.start + 61) == nil)
    }
  }

  @Test("An item that leaves a topic wakes the devices of that topic")
  func leftTopic() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      try await store.register(.apns())
      try await sql.publish([UUID(1)], topics: ["a"])
      try await store.wake()
      try await sql.publish([UUID(1)], after: "UPDATE items SET topics = '{b}' WHERE id = \(UUID(1))")
      try await store.wake(at: Self.start + 1)
      #expect(try await sql.pushKinds() == ["silent a", "silent a b"])
    }
  }

  @Test("A change after the start of a push makes a push of its own")
  func afterStart() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2500)
      try await sql.publish([UUID(1)])
      #expect(try await !store.collectOutbox(window: .seconds(1), at: Self.start))
      #expect(try await store.fanOut(budget: 3, at: Self.start + 1))
      try await sql.publish([UUID(2)])
      #expect(try await !store.collectOutbox(window: .seconds(1), at: Self.start + 1))
      #expect(try await sql.pushKinds() == ["silent", "silent"])
    }
  }

  @Test("A push of an earlier epoch still wakes devices, with the current token")
  func epochs() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      _ = try await store.collectOutbox(window: .seconds(1), at: Self.start)
      let epoch = try await store.cutEpoch()
      try await sql.publish([UUID(2)])
      _ = try await store.collectOutbox(window: .seconds(1), at: Self.start)
      try await store.wake(at: Self.start + 1)
      let message = try #require(try await store.claim(at: Self.start + 1).first)
      let token = try #require(SyncToken(message.content.token))
      #expect(token.epoch == epoch && token.version == 2 && message.content.contentID == UUID(2))
    }
  }

  @Test("A transaction takes a limited number of rows and of items, and the next call takes the rest")
  func batches() async throws {
    try await NewsDatabase.withStore { store, sql in
      for batch in 0..<7 { try await sql.publish((0..<1000).map { UUID(batch * 1000 + $0) }) }
      #expect(try await store.collectOutbox(window: .zero, at: Self.start))
      #expect(try await sql.value("SELECT count(*) FROM outbox") == 2)
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start))
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start))
      #expect(try await sql.value("SELECT version FROM pushes") == 7000)
    }
  }

  @Test("Several collectors lose nothing and make each alert once, while others publish")
  func collectors() async throws {
    try await withTwoStores { first, second, sql in
      let isDone = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in [first, second] {
          for _ in 0..<2 {
            group.addTask {
              while !isDone.isSet { _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start) }
            }
          }
        }
        for number in 0..<60 {
          let content = ItemContent(state: .published, date: .newYear, text: "\(number)")
          _ = try await (number.isMultiple(of: 2) ? first : second).create(
            UUID(number), content, requestsAlert: true)
        }
        isDone.set()
        try await group.waitForAll()
      }
      while try await first.collectOutbox(window: .seconds(3600), at: Self.start) {}
      #expect(try await sql.value("SELECT count(*) FROM outbox") == 0)
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'alert'") == 60)
      #expect(try await sql.value("SELECT count(DISTINCT item) FROM pushes WHERE kind = 'alert'") == 60)
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'silent'") == 1)
      #expect(try await sql.value("SELECT version FROM pushes WHERE kind = 'silent'") == 60)
    }
  }

  @Test("Publishers do not wait for a collector, nor a collector for publishers")
  func locks() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start)
      try await sql.publish([UUID(1)], after: "UPDATE items SET text = 'new' WHERE id = \(UUID(1))")
      try await sql.transaction { publisher in
        // A publisher holds the counter and the item.
        _ = try await publisher.query("UPDATE items SET state = 'retracted' WHERE id = \(UUID(1))")
        try await publisher.publish([UUID(1)])
        #expect(try await !store.collectOutbox(window: .seconds(3600), at: Self.start))
      }
      try await sql.publish([UUID(2)])
      let blocker = Flag()
      async let held: Void = sql.transaction { transaction in
        // The collector waits for this row, with all its other locks.
        _ = try await transaction.query("SELECT FROM pushes WHERE kind = 'silent' FOR UPDATE")
        blocker.set()
        try await eventually("the collector waits") {
          try await sql.value(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO pushes%'
            """) == 1
        }
        // Another collector leaves the rest to it.
        #expect(try await !store.collectOutbox(window: .seconds(3600), at: Self.start))
        try await sql.publish([UUID(3)])
        try await sql.publish([UUID(1)], after: "UPDATE items SET retraction_reason = 'r' WHERE id = \(UUID(1))")
        _ = try await store.create(
          UUID(4), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      }
      try await eventually("the row is locked") { blocker.isSet }
      _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start)
      try await held
      _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start)
      #expect(try await sql.value("SELECT count(*) FROM outbox") == 0)
    }
  }
}
