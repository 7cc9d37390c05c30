import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("The records of a store") struct RecordTests {
  private func write(_ installation: Installation, _ sql: String) async throws {
    let queue = try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
    try await queue.write { try $0.execute(sql: sql) }
  }

  @Test("have the cost of each fetch from its wake on, and the plan after it")
  func run() async throws {
    try await Installation.with { installation in
      let (feed, clock) = (installation.feed, installation.clock)
      let first = feed.publish("one")
      let client = try installation.client(SlowTransport(clock: clock, seconds: 7))
      try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      await client.performFetch()
      feed.retract(first.id)
      for text in ["two", "three"] { feed.publish(text) }
      let wake = clock.now
      clock.advance(by: 3)
      let report = await client.performFetch(.scheduled, wake: wake)
      let run = try #require(try client.runs(limit: 1).first)
      #expect((run.reason, run.result, run.started) == (.scheduled, .newData, wake.date))
      #expect((run.items, run.requests, run.bytes) == (3, 1, report.bytes))
      #expect(run.wallMilliseconds == 10_000)
      #expect(run.status == 200)
      guard case .wait(let next, _) = try client.schedule.decision(at: clock.now) else {
        Issue.record("it would wake at once")
        return
      }
      #expect(run.nextWake == next)
      await client.performFetch()
      let runs = try client.runs(limit: 2)
      #expect(runs.map(\.reason) == [.manual, .scheduled], "newest first")
      #expect(runs.map(\.status) == [304, 200])
      #expect(runs.map(\.items) == [0, 3])
    }
  }

  @Test("are those of the last 500 fetches and 5000 openings")
  func limits() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try await write(
        installation,
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO openings (date) SELECT i FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO runs (json) SELECT x'7b7d' FROM n;
        """)
      try client.recordOpening()
      let openings = try client.openings(limit: 10_000)
      #expect(openings.count == 5000)
      #expect(openings.first == installation.clock.now.date)
      #expect(openings.last == Date(timeIntervalSince1970: 2))
      await client.performFetch()
      #expect(try client.runs(limit: 1000).count == 1, "the others cannot be decoded")
      let queue = try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
      let numbers = try await queue.read { try Int.fetchAll($0, sql: "SELECT number FROM runs ORDER BY number") }
      #expect(numbers == Array(2...501))
    }
  }

  @Test("have the last 5000 marks of items that are not stored, and all of those that are", arguments: [4999, 5000])
  func marks(further: Int) async throws {
    try await Installation.with { installation in
      let stored = installation.feed.publish("stored")
      let client = try installation.client()
      await client.performFetch()
      let later = UUID()
      try client.setRead([stored.id, later])
      try client.setRead((0..<further).map { _ in UUID() })
      let date = Date(timeIntervalSince1970: 1_767_300_000)
      installation.feed.publish([NewsItem(id: later, version: 0, date: date, text: "later", updated: date)])
      await client.performFetch()
      let read = try client.items(matching: ItemQuery()).filter(\.isRead).map(\.item.text)
      #expect(read == (further == 4999 ? ["later", "stored"] : ["stored"]))
      #expect(try client.badge == (further == 4999 ? 0 : 1))
    }
  }

  @Test(
    "have a copy of the learned habits, which a fetch renews once a day",
    arguments: [(-90_000, true), (-80_000, false), (90_000, true)] as [(Double, Bool)])
  func habits(age: Double, isRenewed: Bool) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      try client.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      let path = installation.folder.appending(path: "habits.json").path
      let date = Date() + age
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
      await client.performFetch(.scheduled)
      let changed = try #require(
        try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date)
      #expect((abs(changed.timeIntervalSince(date)) > 1000) == isRenewed)
    }
  }

  @Test("are for the user alone, also where another version has left a file for all")
  func permissions() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let left = installation.folder.appending(path: "settings.json.new")
      try Data("{}".utf8).write(to: left)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: left.path)
      try client.updateSchedule { $0.setInterval(.minimum) }
      await client.performFetch()
      func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      }
      #expect(try mode(installation.folder.path) == 0o700)
      for name in ["news.sqlite", "news.sqlite-wal", "settings.json", "habits.json"] {
        #expect(try mode(installation.folder.appending(path: name).path) == 0o600, "\(name)")
      }
      #expect(!FileManager.default.fileExists(atPath: left.path))
      // The log of the database exists while it is open.
      withExtendedLifetime(client) {}
    }
  }

  @Test("of another feed are announced in the log when its settings change", arguments: [[], ["sport"]] as [[String]])
  func otherFeed(topics: [String]) async throws {
    try await Installation.with { installation in
      await (try installation.client()).performFetch()
      var other = installation
      other.topics = topics
      let log = Reports()
      let client = try NewsFetcher(
        .init(folder: installation.folder, feed: try other.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock), clock: installation.clock,
        log: log.note)
      try client.updateSchedule { $0.setInterval(.minimum) }
      #expect(log.texts.contains { $0.hasPrefix("the store still follows the previous") } == !topics.isEmpty)
    }
  }

  @Test("have ten headlines, each on one line of at most 120 characters")
  func headlines() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let long = String(repeating: "x", count: 120)
      feed.publish("text", title: "the eleventh")
      for number in 1...6 { feed.publish("text \(number)") }
      feed.publish("\n\nFirst line\nSecond line")
      feed.publish("text", title: long)
      feed.publish("text", title: long + "x")
      var breaking = feed.publish("text", title: "red \u{1B}[31m")
      breaking.breaking = true
      feed.publish([breaking])
      let client = try installation.client()
      await client.performFetch()
      let headlines = try client.snapshot.headlines
      let shortened = String(repeating: "x", count: 119) + "…"
      let others = (1...6).reversed().map { "text \($0)" }
      #expect(headlines.map(\.title) == ["red [31m", shortened, long, "First line"] + others)
      #expect(headlines.map(\.breaking) == [true] + Array(repeating: false, count: 9))
      #expect(headlines.map(\.id) == feed.items.prefix(10).map(\.id))
      #expect(headlines.map(\.date) == feed.items.prefix(10).map(\.date))
    }
  }
}

@Suite("A response that a client cannot use") struct UnusableResponseTests {
  @Test(
    "is named with the first field that is wrong",
    arguments: [
      (#"{"changes":[],"more":false}"#, "the field token is missing"),
      (#"{"changes":7,"more":false,"token":"1k3x9qam9pkx.1"}"#, "the field changes has another type"),
      (#"{"changes":[{"op":"put"}],"more":false,"token":"1k3x9qam9pkx.1"}"#, "the field changes.0.item is missing"),
      ("{", "it is not the expected JSON"), ("[7]", "it is not the expected JSON"),
    ])
  func form(json: String, reason: String) async throws {
    try await Installation.with(extent: .full) { installation in
      installation.feed.fault(next: .response(.json(json)))
      let report = await (try installation.client()).performFetch()
      #expect(report.failure?.code == .unexpectedResponse)
      #expect(report.error == "the response has an unexpected form: \(reason)")
    }
  }

  @Test("is named with its media type", arguments: [nil, "text/html; charset=utf-8"])
  func mediaType(type: String?) async throws {
    try await Installation.with { installation in
      installation.feed.fault(next: .header("Content-Type", type))
      let report = await (try installation.client()).performFetch()
      let name = type == nil ? "no media type" : "the media type text/html"
      #expect(report.error == "the response has \(name), not JSON")
    }
  }

  @Test("is named with at most 300 characters of its media type", arguments: [300, 301])
  func longMediaType(length: Int) async throws {
    try await Installation.with { installation in
      let type = "text/" + String(repeating: "x", count: length - 5)
      installation.feed.fault(next: .header("Content-Type", type))
      let report = await (try installation.client()).performFetch()
      #expect(report.error == "the response has the media type \(type.prefix(300)), not JSON")
    }
  }

  @Test(
    "demands a wait only if it is a temporary refusal",
    arguments: [(403, false), (428, false), (408, true), (425, true), (429, true), (500, true)])
  func wait(status: Int, isDemanded: Bool) async throws {
    try await Installation.with { installation in
      installation.feed.fault(next: .busy(status, retryAfter: .seconds(600)))
      let client = try installation.client()
      let report = await client.performFetch()
      let end = installation.clock.now.date + 600
      #expect(report.failure?.kind == .refused(until: isDemanded ? end : nil))
      #expect(await client.performFetch().requests == (isDemanded ? 0 : 1))
    }
  }

  @Test("has more items or changes than were requested", arguments: [FollowedFeed.Extent.window(3), .full])
  func tooMany(extent: FollowedFeed.Extent) async throws {
    try await Installation.with(extent: extent) { installation in
      let (limit, name) = extent == .full ? (200, "changes") : (3, "items")
      let date = Date(timeIntervalSince1970: 1_767_225_600)
      let items = (0...limit).map {
        NewsItem(id: UUID(), version: $0 + 1, date: date + Double($0), text: "\($0)", updated: date)
      }
      let token = SyncToken(epoch: "k3x9qa", scope: .feed, version: limit + 1)
      func page(_ items: some Sequence<NewsItem>) throws -> FeedFault {
        let list = ChangeList(changes: items.map { .put($0) }, more: false, snapshot: true, token: token)
        let body = try extent == .full ? NewsJSON.encode(list) : NewsJSON.encode(ItemList(items: Array(items)))
        return .response(.json(String(decoding: body, as: UTF8.self)).setting("Sync-Token", "\(token)"))
      }
      let client = try installation.client()
      installation.feed.fault(next: try page(items))
      let report = await client.performFetch()
      #expect(report.failure?.code == .tooLarge)
      #expect(report.error == "the response has \(limit + 1) \(name); at most \(limit) were requested")
      installation.feed.fault(next: try page(items.dropFirst()))
      #expect(await client.performFetch().inserted == limit)
    }
  }
}
