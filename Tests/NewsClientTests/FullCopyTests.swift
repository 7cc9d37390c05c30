import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("A full copy of a feed") struct FullCopyTests {
  private func publish(_ count: Int, _ feed: FaultFeed, from first: Int = 0) {
    for number in first..<first + count { feed.publish("item \(number)", title: "Title \(number)") }
  }

  @Test("that a wake has no time for is progress, and goes on in the next wake")
  func severalWakes() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(1000, installation.feed)
      let transport = SlowTransport(clock: installation.clock, seconds: 7)
      var received: [Int?] = []
      for _ in 0..<3 {
        let client = try installation.client(transport)
        try client.updateSchedule { $0.setInterval(.minimum) }
        let report = await client.performFetch(.scheduled)
        received.append(report.received)
        #expect(report.result == (report.received == nil ? .newData : .noData))
        #expect(report.failure == nil && report.error == nil)
        #expect(try client.schedule.failures == 0)
        #expect(try client.count == (report.received == nil ? 1000 : 0))
        #expect(try client.runs(limit: 1)[0].received == report.received)
        if report.received == nil { continue }
        installation.clock.advance(by: 901)
        guard case .wake = try client.decision() else {
          Issue.record("the copy does not go on after the minimum interval")
          continue
        }
      }
      #expect(received == [400, 800, nil])
      #expect(installation.requests().count == 5, "no page was requested twice")
      let client = try installation.client()
      try installation.expectEqual(client)
      #expect(try client.badge == 1000)
      #expect(try client.items(matching: ItemQuery(words: "title 999")).map(\.item.text) == ["item 999"])
      #expect(await client.performFetch().result == .noData)
    }
  }

  @Test("whose wake ends during a page keeps the pages before, and is no failure")
  func expiry() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(500, installation.feed)
      for _ in 0..<2 { installation.feed.fault(next: .init { original, _ in original }) }
      installation.feed.fault(next: .hang(at: .body(10)))
      let client = try installation.client()
      let fetch = Task { await client.performFetch(.scheduled) }
      try await eventually("it waits for the third page") { installation.feed.faultsLeft == 0 }
      installation.clock.advance(by: 25)
      installation.clock.advance(by: 6)
      let report = await fetch.value
      #expect(report.result == .noData && report.received == 400)
      #expect(try client.schedule.failures == 0)
      _ = installation.requests()
      #expect(await client.performFetch().inserted == 500)
      #expect(installation.requests().count == 1)
    }
  }

  @Test("that starts again keeps the old items until it is complete, over several wakes")
  func resync() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      publish(450, feed)
      let first = try installation.client()
      #expect(await first.performFetch().inserted == 450)
      try first.recordOpening()
      let (retracted, edited) = (feed.items[7], feed.items[400])
      feed.retract(retracted.id)
      var copy = edited
      copy.text = "corrected"
      feed.publish([copy])
      publish(150, feed, from: 450)
      feed.moveEpoch(keepingHistory: false)
      let before = try first.allNewsItems
      let transport = SlowTransport(clock: installation.clock, seconds: 9)
      var wakes = 0
      while true {
        let client = try installation.client(transport)
        let report = await client.performFetch()
        wakes += 1
        if report.received != nil, wakes < 10 {
          #expect(try client.allNewsItems == before && client.badge == 0)
          continue
        }
        #expect((report.inserted, report.updated, report.removed) == (150, 1, 1))
        #expect(report.badge == 150)
        break
      }
      #expect(wakes > 1)
      try installation.expectEqual(first)
    }
  }

  @Test("leaves the store to other processes while it is applied, and is compared with all that is stored")
  func lock() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      publish(4000, feed)
      let (client, other) = (try installation.client(), try installation.client())
      let fetch = Task { await client.performFetch() }
      var writes = 0
      let end = ContinuousClock.now + .seconds(600)
      while try other.count == 0, ContinuousClock.now < end {
        // A lock of more than 5 s is an error.
        try other.setRead([UUID()])
        writes += 1
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(await fetch.value.inserted == 4000)
      #expect(writes > 20)
      var corrected = feed.items[1]
      corrected.text = "corrected"
      feed.publish([corrected])
      feed.retract(feed.items[0].id)
      feed.moveEpoch(keepingHistory: false)
      let report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (0, 1, 1))
    }
  }

  @Test("notifies observers once, with the newest of very many changes")
  func observers() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(1100, installation.feed)
      let (client, other) = (try installation.client(), try installation.client())
      var changes = client.changes.values().makeAsyncIterator()
      let report = await client.performFetch()
      #expect((report.inserted, report.badge) == (1100, 1100))
      let change = try #require(await changes.next())
      #expect(change.inserted == Array(installation.feed.items.prefix(ItemChanges.maximumItems)))
      #expect(!change.isComplete)
      #expect(try other.count == 1100)
    }
  }

  @Test("lists the changed items newest first, whatever their order in the copy")
  func changedItems() async throws {
    try await Installation.with(extent: .full) { installation in
      let feed = installation.feed
      publish(6, feed)
      let client = try installation.client()
      await client.performFetch()
      var changes = client.changes.values().makeAsyncIterator()
      var items = Array(feed.items.prefix(5))
      for index in items.indices { items[index].text += ", corrected" }
      feed.publish(items)
      feed.moveEpoch(keepingHistory: false)
      #expect(await client.performFetch().updated == 5)
      let change = try #require(await changes.next())
      #expect(change.updated.map(\.text) == items.map(\.text))
      #expect(change.isComplete && change.inserted.isEmpty && change.removed.isEmpty)
    }
  }

  @Test("fails without another request if a cache sends 304 to its first one")
  func notModified() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(1, installation.feed)
      let client = try installation.client()
      installation.feed.fault(next: .response(.notModified(etag: "\"x\"")))
      #expect(await client.performFetch().failure?.code == .unexpectedResponse)
      #expect(installation.requests().count == 1)
      #expect(await client.performFetch().inserted == 1)
    }
  }

  @Test("of another feed replaces very many items in one small step too")
  func otherFeed() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(1100, installation.feed)
      #expect(await (try installation.client()).performFetch().inserted == 1100)
      var window = installation
      window.extent = .window(5)
      installation.feed.fault(next: .header("Link", "</v1/items?cursor=x>; rel=\"next\""))
      let client = try window.client()
      let report = await client.performFetch()
      #expect((report.inserted, report.removed) == (0, 0), "the others are only too old for the window")
      #expect(try client.allNewsItems == Array(installation.feed.items.prefix(5)))
      #expect(try client.badge == 5)
      installation.feed.publish("new")
      #expect(await client.performFetch().inserted == 1)
      #expect(try client.items(matching: ItemQuery(words: "title 1099")).count == 1)
    }
  }

  @Test("leaves no table behind")
  func tables() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(700, installation.feed)
      let client = try installation.client()
      await client.performFetch()
      installation.feed.moveEpoch(keepingHistory: false)
      await client.performFetch()
      let queue = try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
      let names = try await queue.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master") }
      #expect(!names.contains { $0.hasPrefix("retired") })
      #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM staged") } == 0)
      try await queue.write { db in
        for index in ["items_text", "staged_text"] {
          try db.execute(sql: "INSERT INTO \(index) (\(index)) VALUES ('integrity-check')")
        }
      }
      for index in try await queue.read({ try String.fetchAll($0, sql: "PRAGMA integrity_check") }) {
        #expect(index == "ok")
      }
    }
  }

  @Test("begins again in a store of an older version, whose staged pages are dropped")
  func migration() async throws {
    try await Installation.with(extent: .full) { installation in
      publish(3, installation.feed)
      await (try installation.client()).performFetch()
      try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).write { db in
        try db.execute(
          sql: """
            DROP TRIGGER staged_indexed; DROP TRIGGER staged_indexed_again; DROP TRIGGER staged_not_indexed;
            DROP TABLE staged_text; DROP TABLE staged;
            CREATE TABLE staged (
              id TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, date INTEGER NOT NULL, json BLOB NOT NULL
            );
            INSERT INTO staged VALUES ('x', 1, 1, x'00');
            ALTER TABLE changes DROP COLUMN is_complete;
            DELETE FROM grdb_migrations WHERE identifier = 'staging';
            """)
      }
      let client = try installation.client()
      #expect(try client.count == 3)
      #expect(await client.performFetch().result == .noData)
      installation.feed.moveEpoch(keepingHistory: false)
      publish(1, installation.feed, from: 3)
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
    }
  }
}
