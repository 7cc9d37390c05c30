import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import News
import NewsClient
import TestKit
import Testing

@Suite("Reading what is stored") struct ReadingTests {
  /// Returns the titles of the items that a query selects.
  private func titles(_ client: NewsFetcher, _ query: ItemQuery) throws -> [String] {
    try client.items(matching: query).compactMap(\.item.title)
  }

  @Test("finds words by their beginnings, whatever their case and diacritics, in all texts of an item")
  func search() async throws {
    try await Installation.with { installation in
      installation.feed.publish("The Sängerfest begins.\nFerries run until midnight.", title: "Ærø, Zürich")
      var other = NewsItem(
        id: UUID(), version: 0, date: Date(timeIntervalSince1970: 1_767_225_700), text: "text",
        updated: Date(timeIntervalSince1970: 0))
      (other.title, other.summary, other.author) = ("Two", "High water", "Ida Möller")
      installation.feed.publish([other])
      let client = try installation.client()
      await client.performFetch()
      for words in ["zurich", "ZÜRICH", "sangerf", "ferr mid", "Midnight, ferries!", "ZuRi begins"] {
        #expect(try titles(client, ItemQuery(words: words)) == ["Ærø, Zürich"], "\(words)")
      }
      for words in ["moller", "wat hig"] { #expect(try titles(client, ItemQuery(words: words)) == ["Two"], "\(words)") }
      for words in ["", "!", "ferries water", "erries", "NOT zurich", "\"", "title:Two", "zurich*x", "' OR 1"] {
        #expect(try titles(client, ItemQuery(words: words)) == [], "\(words)")
      }
      #expect(try client.count(matching: ItemQuery(words: "t", limit: 0)) == 2)
    }
  }

  @Test("follows the changes of items in their transactions", arguments: [FollowedFeed.Extent.window(2), .full])
  func index(extent: FollowedFeed.Extent) async throws {
    try await Installation.with(extent: extent) { installation in
      var item = installation.feed.publish("one", title: "First harbour")
      let client = try installation.client()
      await client.performFetch()
      item.title = "First lighthouse"
      item = installation.feed.publish([item])[0]
      await client.performFetch()
      #expect(try titles(client, ItemQuery(words: "harbour")) == [])
      #expect(try titles(client, ItemQuery(words: "lighthouse")) == ["First lighthouse"])
      installation.feed.retract(item.id)
      for number in 2...5 { installation.feed.publish("text", title: "Harbour \(number)") }
      await client.performFetch()
      #expect(try titles(client, ItemQuery(words: "lighthouse")) == [])
      // Items that are too old for the window are not found either.
      let stored = try client.allNewsItems.compactMap(\.title)
      #expect(try titles(client, ItemQuery(words: "harbour")) == stored)
      #expect(stored.count == (extent == .full ? 4 : 2))
      let rows = try await DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path).read {
        try Int.fetchOne($0, sql: "SELECT count(*) FROM items_text")
      }
      #expect(rows == stored.count)
    }
  }

  @Test("selects by topic, date, importance and mark")
  func filters() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let old = Date(timeIntervalSince1970: 1_767_000_000)
      feed.publish("text", date: old, topics: ["sport"], title: "Old")
      let sport = feed.publish("text", topics: ["sport", "harbour"], title: "Sport")
      feed.publish("text", topics: ["harbour"], title: "Harbour")
      var breaking = feed.publish("text", title: "Breaking")
      breaking.breaking = true
      feed.publish([breaking])
      let client = try installation.client()
      await client.performFetch()
      var query = ItemQuery()
      query.topics = ["sport", "weather"]
      #expect(try titles(client, query) == ["Sport", "Old"])
      query.since = old
      #expect(try titles(client, query) == ["Sport", "Old"])
      query.since = old + 1
      #expect(try titles(client, query) == ["Sport"])
      query = ItemQuery(limit: 1)
      query.topics = ["harbour"]
      #expect(try titles(client, query) == ["Harbour"])
      #expect(try client.count(matching: query) == 2)
      #expect(try titles(client, ItemQuery(limit: 0)) == [] && titles(client, ItemQuery(limit: -1)) == [])
      query = ItemQuery()
      query.onlyBreaking = true
      #expect(try titles(client, query) == ["Breaking"])
      try client.setRead([sport.id])
      query = ItemQuery()
      query.onlyUnread = true
      #expect(try titles(client, query) == ["Breaking", "Harbour", "Old"])
      #expect(try client.items(matching: ItemQuery()).map(\.isRead) == [false, false, true, false])
    }
  }

  @Test("counts an item in the badge until it is read, and again once it is unread")
  func badge() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let first = feed.publish("first")
      let client = try installation.client()
      await client.performFetch()
      try client.recordOpening()
      let items = (1...3).map { feed.publish("text \($0)") }
      await client.performFetch()
      #expect(try client.badge == 3)
      try client.setRead([items[0].id, items[0].id])
      try client.setRead([items[0].id, first.id])
      #expect(try client.badge == 2)
      #expect(try client.snapshot.badge == 2)
      try client.setRead([items[0].id, first.id], false)
      #expect(try client.badge == 3)
      try client.setAllRead()
      #expect(try client.badge == 0)
      var unread = ItemQuery()
      unread.onlyUnread = true
      #expect(try client.count(matching: unread) == 0)
      // An opening ends the count, but not the marks.
      try client.recordOpening()
      try client.setRead([items[1].id], false)
      #expect(try client.badge == 0)
      #expect(try client.count(matching: unread) == 1)
      // A change keeps the mark.
      var changed = items[2]
      changed.text = "changed"
      feed.publish([changed])
      await client.performFetch()
      #expect(try client.count(matching: unread) == 1)
    }
  }

  @Test("does not count an item of a copy in progress in the badge, nor forgets it when the app is opened")
  func badgeDuringCopy() async throws {
    try await Installation.with { installation in
      let items = ["one", "two"].map { installation.feed.publish($0) }
      let client = try installation.client()
      await client.performFetch()
      // The copy has recorded an item that is not stored yet.
      let queue = try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
      try await queue.write { try $0.execute(sql: "INSERT INTO badge_items (id) VALUES ('later')") }
      try client.setRead([items[0].id])
      #expect(try client.badge == 1)
      try client.recordOpening()
      let counted = try await queue.read { try String.fetchAll($0, sql: "SELECT id FROM badge_items") }
      #expect(counted == ["later"])
    }
  }

  @Test(
    "keeps the marks when the store is lost or damaged; items that were read are not new again",
    arguments: [true, false])
  func survival(isLost: Bool) async throws {
    try await Installation.with { installation in
      let items = (1...4).map { installation.feed.publish("text \($0)") }
      let client = try installation.client()
      await client.performFetch()
      try client.setRead([items[0].id, items[2].id])
      try client.setRead([items[2].id], false)
      try client.setRead([items[3].id])
      let file = installation.folder.appending(path: "news.sqlite")
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
      if isLost {
        try FileManager.default.removeItem(at: file)
      } else {
        try Data(repeating: 0x5a, count: 20_000).write(to: file)
      }
      let next = try installation.client()
      await next.performFetch()
      #expect(try next.items(matching: ItemQuery()).filter(\.isRead).map(\.item.id) == [items[3].id, items[0].id])
      #expect(try next.badge == 2)
      let attributes = try FileManager.default.attributesOfItem(
        atPath: installation.folder.appending(path: "read.json").path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("begins without marks if their copy is damaged too, which is renamed")
  func damagedCopy() async throws {
    try await Installation.with { installation in
      let item = installation.feed.publish("text")
      let client = try installation.machineClient()
      await client.performFetch()
      try client.setRead([item.id])
      let copy = installation.folder.appending(path: "read.json")
      try Data("{".utf8).write(to: copy)
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(at: installation.folder.appending(path: "news.sqlite" + suffix))
      }
      let log = Reports()
      let next = try installation.machineClient(log)
      await next.performFetch()
      let lines = log.texts.filter { $0.hasPrefix("the read marks in ") && $0.contains("the file was renamed to") }
      #expect(lines.count == 1, "\(log.texts)")
      #expect(!FileManager.default.fileExists(atPath: copy.path))
      #expect(try next.items(matching: ItemQuery()).map(\.isRead) == [false])
    }
  }

  @Test("does not mention items that were read before their notification")
  func notifications() async throws {
    try await Installation.with { installation in
      installation.feed.publish("old")
      let client = try installation.client()
      var options = NotificationOptions()
      options.showsNews = true
      // All day except one minute.
      options.quietHours = QuietHours(from: .zero, to: .seconds(23 * 3600 + 59 * 60))
      try client.notifications.setOptions(options)
      await client.performFetch()
      let items = (1...3).map { installation.feed.publish("text \($0)") }
      await client.performFetch()
      try #require(try client.notifications.waitingItems == 3)
      try client.setRead([items[0].id])
      #expect(try client.notifications.waitingItems == 2)
      try client.setAllRead()
      #expect(try client.notifications.waitingItems == 0)
      // A mark may precede the item, such as that of another process.
      let id = UUID()
      try client.setRead([id])
      let date = Date(timeIntervalSince1970: 1_767_300_000)
      installation.feed.publish([NewsItem(id: id, version: 0, date: date, text: "read elsewhere", updated: date)])
      await client.performFetch()
      #expect(try client.notifications.waitingItems == 0)
      #expect(try client.badge == 0)
    }
  }

  @Test("indexes the items of a store of an older version, and loses nothing, even with a damaged row")
  func migration() async throws {
    try await Installation.with { installation in
      let first = installation.feed.publish("one", title: "First harbour")
      installation.feed.publish("two", title: "Second harbour")
      let before = try installation.client()
      await before.performFetch()
      try before.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      try FileManager.default.removeItem(at: installation.folder.appending(path: "read.json"), ifPresent: true)
      let path = installation.folder.appending(path: "news.sqlite").path
      try await DatabaseQueue(path: path).write { db in
        for trigger in ["items_indexed", "items_indexed_again", "items_not_indexed"] {
          try db.execute(sql: "DROP TRIGGER \(trigger)")
        }
        for table in ["items_text", "read_items", "badge_items"] { try db.execute(sql: "DROP TABLE \(table)") }
        try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'reading'")
        try db.execute(sql: "INSERT INTO staged VALUES ('x', 1, 1, x'00')")
      }
      let client = try installation.client()
      #expect(try titles(client, ItemQuery(words: "harbour")) == ["Second harbour", "First harbour"])
      #expect(try client.schedule.interval == .duration(.seconds(7200)))
      #expect(try client.badge == 2)
      #expect(await client.performFetch().result == .noData)
      _ = installation.requests()
      installation.feed.retract(first.id)
      await client.performFetch()
      #expect(try titles(client, ItemQuery(words: "harbour")) == ["Second harbour"])
      #expect(installation.requests().allSatisfy { $0.hasPrefix("*") })
    }
  }

  @Test("finds ids by their beginnings and their ends")
  func abbreviations() async throws {
    try await Installation.with { installation in
      let item = installation.feed.publish("one")
      installation.feed.publish("two")
      let client = try installation.client()
      await client.performFetch()
      #expect(try client.ids(abbreviation: "0001") == [item.id])
      #expect(try client.ids(abbreviation: "00000000").count == 2)
      #expect(try client.ids(abbreviation: "ffff") == [])
      #expect(try client.distinctDigits == 6)
    }
  }
}

extension FileManager {
  fileprivate func removeItem(at url: URL, ifPresent: Bool) throws {
    if fileExists(atPath: url.path) { try removeItem(at: url) }
  }
}
