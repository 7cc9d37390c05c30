import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A fetch") struct FetchTests {
  @Test(
    "reports the changes of the stored items: first all, then none, then new, changed and retracted ones",
    arguments: [FollowedFeed.Extent.window(100), .full])
  func changes(extent: FollowedFeed.Extent) async throws {
    try await Installation.with(extent: extent) { installation in
      let feed = installation.feed
      let first = feed.publish("one")
      feed.publish("two")
      let client = try installation.client()
      var report = await client.performFetch()
      #expect(report.result == .newData)
      #expect(report.inserted == 2)
      #expect(report.badge == 2)
      try installation.expectEqual(client)

      _ = installation.requests()
      report = await client.performFetch()
      #expect(report.result == .noData)
      #expect((report.inserted, report.updated, report.removed) == (0, 0, 0))
      #expect(report.requests == 1)
      #expect(installation.requests() == ["*/v1/changes"])

      feed.publish("three")
      report = await client.performFetch()
      #expect(report.result == .newData)
      #expect((report.inserted, report.updated, report.removed) == (1, 0, 0))
      try installation.expectEqual(client)

      var changed = first
      changed.text = "one, corrected"
      feed.publish([changed])
      report = await client.performFetch()
      #expect((report.inserted, report.updated, report.removed) == (0, 1, 0))
      #expect(report.badge == 3)
      try installation.expectEqual(client)

      feed.retract(first.id)
      report = await client.performFetch()
      #expect(report.result == .newData)
      #expect((report.inserted, report.updated, report.removed) == (0, 0, 1))
      try installation.expectEqual(client)
      #expect(try client.snapshot.headlines.map(\.title) == ["three", "two"])
    }
  }

  @Test("continues in another process with conditional requests only")
  func restart() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      #expect(await (try installation.client()).performFetch().result == .newData)
      #expect(await (try installation.client()).performFetch().result == .noData)
      installation.feed.publish("two")
      let client = try installation.client()
      #expect(await client.performFetch().inserted == 1)
      try installation.expectEqual(client)
      #expect(installation.requests() == ["/v1/items", "*/v1/changes", "*/v1/changes"])
    }
  }

  @Test("follows only the chosen topics")
  func topics() async throws {
    try await Installation.with(topics: ["sport", "arts"]) { installation in
      installation.feed.publish("goal", topics: ["sport"])
      installation.feed.publish("vote", topics: ["politics"])
      let client = try installation.client()
      #expect(await client.performFetch().inserted == 1)
      let server = client.configuration.feed.server
      #expect(client.configuration.feed == FollowedFeed(server: server, topics: ["arts", "sport", "arts"]))
      installation.feed.publish("another vote", topics: ["politics"])
      #expect(await client.performFetch().result == .noData)
      var moved = try #require(installation.feed.items.first { $0.text == "goal" })
      moved.topics = ["politics"]
      installation.feed.publish([moved])
      #expect(await client.performFetch().removed == 1)
      #expect(try client.allNewsItems.isEmpty)
    }
  }

  @Test("sends no request if the store has reached the given token, and names it otherwise")
  func reached() async throws {
    try await Installation.with { installation in
      let (feed, clock) = (installation.feed, installation.clock)
      feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      let (first, checked) = (feed.token(), clock.now.date)
      clock.advance(by: 60)
      feed.publish("two")
      #expect(await client.performFetch(.manual, reaching: first).requests == 0)
      #expect(try client.snapshot.checked == checked, "the server has not responded")
      _ = installation.server.takeRequests()
      #expect(await client.performFetch(.manual, reaching: feed.token()).inserted == 1)
      #expect(installation.server.takeRequests().map { $0.query["at"] } == ["\(feed.token())"])
      #expect(try client.snapshot.checked == clock.now.date)
      #expect(await client.performFetch(.manual, reaching: first).requests == 0, "it is older than the store")
    }
  }

  @Test("lists the new and the changed items newest first, and the removed ones by their ids")
  func order() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      for number in 0..<16 { feed.publish("item \(number)") }
      let client = try installation.client()
      await client.performFetch()
      var changes = client.changes.values().makeAsyncIterator()
      var corrected = Array(feed.items.prefix(8))
      let removed = feed.items.suffix(8).map(\.id)
      for index in corrected.indices { corrected[index].text += ", corrected" }
      feed.publish(corrected)
      for id in removed { feed.retract(id) }
      for number in 16..<24 { feed.publish("item \(number)") }
      #expect(await client.performFetch().inserted == 8)
      let change = try #require(await changes.next())
      #expect(change.inserted == Array(feed.items.prefix(8)))
      #expect(change.updated.map(\.text) == corrected.map(\.text))
      #expect(change.removed == removed.sorted { $0.uuidString < $1.uuidString })
    }
  }

  @Test("notifies observers once of changes, and never of a failure or of no changes")
  func observers() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let received = Mutex<[ItemChanges]>([])
      let observation = client.changes.add { changes in received.withLock { $0.append(changes) } }
      var stream = client.changes.values().makeAsyncIterator()
      let posted = Mutex<[ItemChanges]>([])
      let center = NotificationCenter.default
      let token = center.addObserver(forName: .newsItemsDidChange, object: client, queue: nil) { notification in
        let changes = notification.userInfo?[ItemChanges.userInfoKey] as? ItemChanges
        posted.withLock { $0.append(contentsOf: [changes].compactMap(\.self)) }
      }
      defer { center.removeObserver(token) }
      let item = installation.feed.publish("one")
      await client.performFetch()
      await client.performFetch()
      installation.feed.fault(next: .truncate(at: .body(3)))
      installation.feed.publish("two")
      #expect(await client.performFetch().result == .failed)
      installation.feed.retract(item.id)
      await client.performFetch()
      observation.cancel()
      installation.feed.publish("three")
      await client.performFetch()
      let reported = received.withLock { $0 }
      #expect(reported.map(\.inserted.count) == [1, 1])
      #expect(reported.map(\.removed) == [[], [item.id]])
      #expect(posted.withLock(\.count) == 3)
      // A subscriber that reads late receives all changes.
      let read = [await stream.next(), await stream.next(), await stream.next()]
      #expect(read.map { $0?.inserted.map(\.text) } == [["one"], ["two"], ["three"]])
    }
  }

  @Test("calls its completion handler once")
  func completion() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      for expected in [FetchResult.newData, .noData] {
        let result = await withCheckedContinuation { continuation in
          client.performFetch(.manual) { continuation.resume(returning: $0) }
        }
        #expect(result == expected)
      }
    }
  }

  @Test("is shared by concurrent callers")
  func joined() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      installation.feed.fault(next: .hang(at: .start))
      async let first = client.performFetch()
      try await eventually("the request has come") { !installation.server.requests.isEmpty }
      async let second = client.performFetch(.scheduled)
      try await Task.sleep(for: .milliseconds(50))
      installation.server.release()
      #expect(await [first, second].map(\.inserted) == [1, 1])
      #expect(installation.requests() == ["/v1/items"])
    }
  }

  @Test("counts new items in the badge, but neither edits nor items of a resync; opening the app clears it")
  func badge() async throws {
    try await Installation.with(extent: .window(5)) { installation in
      let feed = installation.feed
      for number in 1...5 { feed.publish("item \(number)") }
      let client = try installation.client()
      #expect(await client.performFetch().badge == 5)
      try client.recordOpening()
      #expect(try client.badge == 0)
      #expect(try client.snapshot.badge == 0)
      feed.publish("six")
      #expect(await client.performFetch().badge == 1)
      feed.publish("seven")
      feed.expireTokens()
      #expect(await client.performFetch().badge == 2)
      feed.moveEpoch(keepingHistory: false)
      #expect(await client.performFetch().badge == 2)
    }
  }

  @Test("leaves the badge cleared if the user opens the app during it")
  func openedMeanwhile() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      #expect(await client.performFetch().badge == 1)
      _ = installation.requests()
      installation.feed.fault(next: .hang(at: .start))
      async let report = client.performFetch()
      try await eventually("the request has come") { !installation.requests().isEmpty }
      try client.recordOpening()
      installation.server.release()
      #expect(await report.badge == 0)
      #expect(try client.badge == 0)
    }
  }

  @Test("learns no publication times from its first items, which are history")
  func history() async throws {
    try await Installation.with { installation in
      let now = installation.clock.now.date
      installation.feed.publish("one", date: now - 60)
      let client = try installation.client()
      #expect(await client.performFetch().inserted == 1)
      var nothing = FetchScheduler().news
      nothing.record([], now: now, in: client.configuration.timeZone)
      #expect(try client.schedule.news == nothing)
      installation.feed.publish("two", date: now - 30)
      #expect(await client.performFetch().inserted == 1)
      #expect(try client.schedule.news != nothing)
    }
  }

  @Test("counts only items in the badge that are stored and unread")
  func badgeOfRemovedItems() async throws {
    try await Installation.with(extent: .window(30)) { installation in
      let feed = installation.feed
      let items = (1...24).map { feed.publish("item \($0)") }
      let client = try installation.client()
      func unread() throws -> Int {
        var query = ItemQuery()
        query.onlyUnread = true
        return try client.count(matching: query)
      }
      #expect(await client.performFetch().badge == 24)
      try client.setRead(items[..<3].map(\.id))
      for item in items[2..<7] { feed.retract(item.id) }
      #expect(await client.performFetch().badge == 17)
      #expect(try client.badge == unread() && client.snapshot.badge == 17)
      try client.setRead([items[0].id, items[2].id], false)
      #expect(try client.badge == 18, "one of them is gone")
      for number in 0..<30 { feed.publish("later \(number)") }
      #expect(await client.performFetch().badge == 30)
      for item in feed.items { feed.retract(item.id) }
      #expect(await client.performFetch().badge == 0)
    }
  }

  @Test("counts no item in the badge that a restore of the server brings back")
  func badgeAfterRestore() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      feed.publish("one")
      let newest = feed.publish("two")
      let earlier = feed.snapshot
      let client = try installation.client()
      await client.performFetch()
      try client.recordOpening()
      feed.retract(newest.id)
      await client.performFetch()
      feed.restore(earlier)
      let report = await client.performFetch()
      #expect((report.inserted, report.badge) == (1, 0))
      feed.moveEpoch(keepingHistory: false)
      feed.publish("three")
      #expect(await client.performFetch().badge == 1)
    }
  }

  @Test("fails after thirty seconds of a slow body, and leaves the store unchanged")
  func dripping() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      installation.feed.publish("two")
      installation.feed.fault(next: .hang(at: .body(5)))
      let warned = Reports()
      let observation = client.expirations.add { warned.note("\($0.timeRemaining == .seconds(5))") }
      async let report = client.performFetch(.scheduled)
      try await eventually("half the response is there") { installation.server.requests.count == 2 }
      try await eventually("the timer is set") { !installation.clock.sleeping.isEmpty }
      #expect(warned.texts == [])
      installation.clock.advance(by: 25)
      try await eventually("observers are warned") { warned.texts == ["true"] }
      try await eventually("the timer is set again") { installation.clock.sleeping.contains { $0 <= 5 } }
      installation.clock.advance(by: 5)
      let result = await report
      #expect(result.result == .failed)
      #expect(result.error == "the fetch did not end within 30 s")
      #expect(try client.allNewsItems.count == 1)
      let run = try #require(try client.runs(limit: 1).first)
      #expect(run.result == .failed)
      #expect(run.requests == 1)
      #expect(run.bytes > 100, "what it has cost is recorded")
      #expect(result.requests == run.requests && result.badge == 1)
      installation.server.release()
      // The failed fetch does not block the next one.
      try await eventually("the next one succeeds") { await client.performFetch().result == .newData }
      try installation.expectEqual(client)
      #expect(warned.texts.count == 1, "a fetch that ends in time warns nobody")
      withExtendedLifetime(observation) {}
    }
  }

  @Test("continues with the stored feed; without one, nothing is created")
  func goingOn() async throws {
    try await Installation.with(topics: ["sport"]) { installation in
      struct Nothing: Error {}
      let folder = installation.folder
      #expect(throws: Nothing.self) {
        try NewsFetcher(folder: folder, application: ApplicationLifecycle(launchReason: .user)) { stored in
          #expect(stored == nil)
          throw Nothing()
        }
      }
      #expect(!FileManager.default.fileExists(atPath: folder.path))
      installation.feed.publish("goal", topics: ["sport"])
      let first = try installation.client()
      await first.performFetch()
      let again = try NewsFetcher(folder: folder, application: ApplicationLifecycle(launchReason: .user)) { stored in
        NewsFetcher.Configuration(
          folder: URL(filePath: "/nowhere"), feed: try #require(stored), userAgent: "tests/1 (+https://example.org)")
      }
      #expect(again.configuration.feed == first.configuration.feed)
      #expect(again.configuration.folder == folder)
    }
  }

  @Test("shares the store with processes that open the empty folder at the same moment")
  func opening() async throws {
    for _ in 0..<20 {
      try await Installation.with { installation in
        try await withThrowingTaskGroup { group in
          for _ in 0..<4 { group.addTask { _ = try installation.client().count } }
          try await group.waitForAll()
        }
      }
    }
  }
}
