import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite("The number of new items of a feed") struct NewItemLimitTests {
  private static func titles(_ range: ClosedRange<Int>) -> [String] {
    range.reversed().map { number in "\(UnicodeScalar(UInt8(96 + number)))" }
  }

  private static func resume(_ id: UUID, _ followed: Followed) async throws {
    _ = try await followed.store.modifySubscription(id, if: .exists) { subscription in
      var content = SubscriptionContent(subscription)
      content.paused = false
      return content
    }
  }

  @Test(
    "A feed with more new entries than a poll stores is paused with a reason, and nothing is lost when it is resumed")
  func perPoll() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 100)) { followed in
      let headers = [(name: "ETag", value: "\"1\"")]
      followed.server.respond { request in
        request["If-None-Match"] == nil
          ? Followed.feed(Self.titles(1...7), headers: headers, channel: "<language>de</language>")
          : FaultResponse(status: 304, headers: headers)
      }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let paused = try await followed.store.subscription(id)
      #expect(paused.paused && paused.title == "Port" && paused.language == "de" && paused.nextPoll == nil)
      #expect(paused.lastError?.status == nil, "the response is not at fault")
      let message = try #require(paused.lastError?.message)
      #expect(message.contains("more than 3 new entries. 3 are stored now") && message.contains("resumes"))
      #expect(followed.store.polls.inserted == 3)
      #expect(try await followed.titles() == ["g", "f", "e"])
      followed.advance(100_000)
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 1)
      for expected in [6, 7] {
        try await Self.resume(id, followed)
        _ = try await followed.poll(id)
        #expect(try await followed.titles().count == expected)
      }
      let working = try await followed.store.subscription(id)
      #expect(!working.paused && working.lastError == nil)
    }
  }

  @Test("Without settings, the limits are those of the documentation")
  func defaults() {
    let limits = NewItemLimits()
    #expect(limits.perPoll == 1000 && limits.perDay == 5000)
    #expect(limits.changesPerPoll == 1000 && limits.changesPerDay == 10_000)
    #expect(limits.topicsPerPoll == 1000 && limits.topicsPerDay == 2000)
  }

  @Test("New items are counted for a day, unchanged and changed ones are not")
  func perDay() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 4)) { followed in
      let id = try await followed.subscribe("/feed")
      func poll(_ last: Int) async throws -> Subscription {
        followed.server.respond { _ in Followed.feed(Self.titles(1...last)) }
        return try await followed.poll(id)
      }
      #expect(try await poll(3).lastError == nil)
      followed.server.respond { _ in Followed.feed(["c2", "b2", "a2"]) }
      #expect(try await followed.poll(id).lastError == nil)
      #expect(try await poll(3).lastError == nil)
      followed.advance(80_000)
      #expect(try await poll(4).lastError == nil)
      let paused = try await poll(5)
      #expect(paused.paused && paused.lastError?.message.contains("more than 4 new entries within a day") == true)
      #expect(try await followed.titles().count == 4)
      try await Self.resume(id, followed)
      #expect(try await poll(5).lastError == nil)
      // A day begins with the first new item.
      followed.advance(86_400)
      #expect(try await poll(8).lastError == nil)
      #expect(try await followed.titles().count == 8)
    }
  }

  @Test("The new items of a feed that breaks off are counted too")
  func brokenFeed() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 4)) { followed in
      followed.server.respond { _ in Followed.feed(Self.titles(1...3)).withoutEnd }
      let id = try await followed.subscribe("/feed")
      #expect(try await followed.poll(id).lastError?.message.contains("not a complete feed") == true)
      #expect(try await followed.titles().count == 3)
      followed.server.respond { _ in Followed.feed(Self.titles(1...5)) }
      #expect(try await followed.poll(id).paused)
      #expect(try await followed.titles().count == 4)
    }
  }

  @Test("A feed that breaks off after more new entries than a poll stores is paused, too")
  func longBrokenFeed() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 100)) { followed in
      followed.server.respond { _ in Followed.feed(Self.titles(1...5)).withoutEnd }
      let id = try await followed.subscribe("/feed")
      let paused = try await followed.poll(id)
      #expect(paused.paused && paused.lastError?.message.contains("more than 3 new entries") == true)
      #expect(try await followed.titles() == ["e", "d", "c"])
      try await Self.resume(id, followed)
      let failed = try await followed.poll(id)
      #expect(!failed.paused && failed.lastError?.message.contains("not a complete feed") == true)
      #expect(try await followed.titles().count == 5)
    }
  }

  @Test("A poll without new items does not lengthen the day in which they are counted")
  func dayEnds() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 4)) { followed in
      let id = try await followed.subscribe("/feed")
      followed.server.respond { _ in Followed.feed(Self.titles(1...3)) }
      #expect(try await followed.poll(id).lastError == nil)
      followed.advance(80_000)
      #expect(try await followed.poll(id).lastError == nil)
      followed.advance(6400)
      followed.server.respond { _ in Followed.feed(Self.titles(1...6)) }
      #expect(try await followed.poll(id).lastError == nil)
      #expect(try await followed.titles().count == 6)
    }
  }

  @Test("A day begins with a new item, not with a poll that finds none")
  func dayBegins() async throws {
    try await Followed.with(newItems: NewItemLimits(perPoll: 3, perDay: 4)) { followed in
      let id = try await followed.subscribe("/feed")
      followed.server.respond { _ in Followed.feed([]) }
      #expect(try await followed.poll(id).lastError == nil)
      followed.advance(80_000)
      followed.server.respond { _ in Followed.feed(Self.titles(1...3)) }
      #expect(try await followed.poll(id).lastError == nil)
      followed.advance(6400)
      followed.server.respond { _ in Followed.feed(Self.titles(1...6)) }
      #expect(try await followed.poll(id).paused)
      #expect(try await followed.titles().count == 4)
    }
  }

  @Test("Changes are counted for a day also if the feed breaks off or is paused", arguments: [true, false])
  func changesOfFailures(breaksOff: Bool) async throws {
    var limits = NewItemLimits(perPoll: 5)
    (limits.changesPerPoll, limits.changesPerDay) = (2, 3)
    try await Followed.with(newItems: limits) { followed in
      followed.server.respond { _ in Followed.feed(Self.titles(1...5)) }
      let id = try await followed.subscribe("/feed")
      #expect(try await followed.poll(id).lastError == nil)
      let changed = Self.titles(1...5).map { $0 + "2" }
      followed.server.respond { _ in
        breaksOff ? Followed.feed(changed).withoutEnd : Followed.feed(changed + Self.titles(6...11))
      }
      let failed = try await followed.poll(id)
      #expect(failed.lastError != nil && failed.paused != breaksOff)
      followed.server.respond { _ in Followed.feed(changed) }
      _ = try await followed.poll(id)
      #expect(try await followed.titles().count { $0.hasSuffix("2") } == 3)
    }
  }

  @Test("Changes beyond the limit of a poll or a day are left for a later poll, and the feed is not paused")
  func changes() async throws {
    var limits = NewItemLimits()
    (limits.changesPerPoll, limits.changesPerDay) = (2, 3)
    try await Followed.with(newItems: limits) { followed in
      let headers = [(name: "ETag", value: "\"1\"")]
      @Sendable func feed(_ suffix: String) -> FaultResponse {
        Followed.feed(Self.titles(1...5).map { $0 + suffix }, headers: headers)
      }
      func changed(_ suffix: String) async throws -> Int {
        try await followed.titles().count { $0.hasSuffix(suffix) }
      }
      followed.server.respond { _ in feed("") }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      followed.server.respond { _ in feed("2") }
      let first = try await followed.poll(id)
      #expect(!first.paused && first.lastError == nil)
      let loss =
        "3 changed entries are left for a later poll: a feed may change at most 2 items in a poll and 3 in a day"
      #expect(first.losses?.messages.contains(loss) == true, "\(first.losses?.messages ?? [])")
      #expect(try await changed("2") == 2)
      _ = try await followed.poll(id)
      #expect(followed.server.requests.last?["If-None-Match"] == nil, "the rest is read again")
      #expect(try await changed("2") == 3, "a day has three changes")
      for seconds in [0.0, 86_399] {
        followed.advance(seconds)
        _ = try await followed.poll(id)
        #expect(try await changed("2") == 3)
      }
      followed.advance(1)
      for expected in [5, 5] {
        _ = try await followed.poll(id)
        #expect(try await changed("2") == expected)
      }
      #expect(followed.server.requests.last?["If-None-Match"] == "\"1\"")
    }
  }

  @Test("The changes and the new topics of a poll are counted together, however many chunks they are written in")
  func changesOfChunks() async throws {
    var limits = NewItemLimits()
    (limits.changesPerPoll, limits.changesPerDay) = (300, 10_000)
    (limits.topicsPerPoll, limits.topicsPerDay) = (300, 10_000)
    try await Followed.with(newItems: limits) { followed in
      @Sendable func feed(_ suffix: String) -> FaultResponse {
        let items = (1...600).map {
          "<item><guid>\($0)</guid><title>\($0)\(suffix)</title><category>c\($0)</category></item>"
        }
        return FaultResponse(body: Data("<rss version=\"2.0\"><channel>\(items.joined())</channel></rss>".utf8))
      }
      followed.server.respond { _ in feed("") }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      #expect(try await followed.store.topics().topics.count == 300)
      followed.server.respond { _ in feed("b") }
      _ = try await followed.poll(id)
      let changed = try await followed.sql.query("SELECT count(*) FROM items WHERE title LIKE '%b'")
      #expect(try changed.first?.decode(0, as: Int.self) == 300)
    }
  }

  @Test("A feed adds a bounded number of topics in a poll and a day, and its entries come without the others")
  func topics() async throws {
    var limits = NewItemLimits()
    (limits.topicsPerPoll, limits.topicsPerDay) = (2, 3)
    try await Followed.with(newItems: limits) { followed in
      @Sendable func feed(_ numbers: ClosedRange<Int>) -> FaultResponse {
        let items = numbers.map {
          "<item><guid>\($0)</guid><title>\($0)</title><category>Sea</category><category>c\($0)</category></item>"
        }
        return FaultResponse(body: Data("<rss version=\"2.0\"><channel>\(items.joined())</channel></rss>".utf8))
      }
      func slugs() async throws -> Set<String> { Set(try await followed.store.topics().topics.map(\.slug)) }
      let id = try await followed.subscribe("/feed")
      followed.server.respond { _ in feed(1...3) }
      let first = try await followed.poll(id)
      #expect(try await slugs() == ["sea", "c1"])
      let loss = "2 categories are left out: a feed may add at most 2 topics in a poll and 3 in a day"
      #expect(first.losses?.messages.contains(loss) == true, "\(first.losses?.messages ?? [])")
      let items = try await followed.store.editorialItems(EditorialQuery()).items
      #expect(items.count == 3 && items.count { $0.item.topics.contains("sea") } == 3)
      #expect(Set(items.flatMap(\.item.topics)) == ["sea", "c1"])
      followed.server.respond { _ in feed(4...6) }
      _ = try await followed.poll(id)
      #expect(try await slugs() == ["sea", "c1", "c4"])
      followed.advance(86_400)
      followed.server.respond { _ in feed(7...7) }
      _ = try await followed.poll(id)
      #expect(try await slugs() == ["sea", "c1", "c4", "c7"])
    }
  }

  @Test("An entry that is not written makes no topics")
  func topicsOfSkippedEntries() async throws {
    try await Followed.with { followed in
      @Sendable func feed(_ category: String) -> FaultResponse {
        FaultResponse(
          body: Data(
            """
            <rss version="2.0"><channel><item><guid>1</guid><title>Fog</title><category>\(category)</category></item>\
            </channel></rss>
            """.utf8))
      }
      followed.server.respond { _ in feed("Sea") }
      let id = try await followed.subscribe("/feed")
      _ = try await followed.poll(id)
      let item = try #require(try await followed.store.editorialItems(EditorialQuery()).items.first)
      _ = try await followed.store.retract(item.item.id, reason: nil, if: .exists)
      followed.server.respond { _ in feed("Ships") }
      _ = try await followed.poll(id)
      #expect(try await followed.store.topics().topics.map(\.slug) == ["sea"])
    }
  }

  @Test("A feed of 6,000 entries stores a bounded number, and makes no topics of the others")
  func hostile() async throws {
    try await Followed.with { followed in
      let items = (1...6000).map {
        "<item><guid>\($0)</guid><title>\($0)</title><category>c\($0)</category><pubDate>2026-01-02</pubDate></item>"
      }
      let feed = Data("<rss version=\"2.0\"><channel><title>x</title>\(items.joined())</channel></rss>".utf8)
      followed.server.respond { _ in FaultResponse(body: feed) }
      let id = try await followed.subscribe("/feed", state: .draft)
      #expect(try await followed.poll(id).paused)
      let rows = try await followed.sql.query(
        "SELECT (SELECT count(*) FROM items) AS items, (SELECT count(*) FROM topics) AS topics")
      let row = try #require(rows.first)
      #expect(try row.decode("items", as: Int.self) == 1000)
      #expect(try row.decode("topics", as: Int.self) <= 1250)
    }
  }
}
