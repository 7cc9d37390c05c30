import FaultServer
import Foundation
import News
import NewsFollower
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct FeedFollowerTests {
  @Test("A feed is polled when it is due, and its entries are stored as an import would store them")
  func entries() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b"], headers: [("ETag", "\"1\""), ("Last-Modified", "x")]) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let titles = try await followed.store.editorialItems(EditorialQuery()).items.map(\.item.title)
      #expect(Set(titles) == ["a", "b"])
      #expect(try await followed.store.topics().topics.map(\.slug) == ["boats"])
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.lastSuccess == Followed.start && subscription.lastError == nil)
      let next = try #require(subscription.nextPoll)
      // Half of the hour between entries, and a twentieth more.
      #expect(next == Followed.start + 1890)
      #expect(subscription.title == "Port")
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 1)
      let accepted = try #require(followed.server.requests.first?["Accept"])
      #expect(["rss+xml", "atom+xml", "feed+json"].allSatisfy { accepted.contains("application/\($0)") })

      followed.server.respond { request in
        request["If-None-Match"] == "\"1\"" && request["If-Modified-Since"] == "x"
          ? FaultResponse(status: 304) : FaultResponse(status: 500)
      }
      followed.advance(1980)
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 2)
      #expect(try await followed.store.subscription(id).lastError == nil)
      // A response without a document has not replaced the validators.
      #expect(try await followed.poll(id).lastError == nil)
      let counts = followed.store.polls
      #expect(counts.changed == 1 && counts.unchanged == 2 && counts.failed == 0 && counts.inserted == 2)
    }
  }

  @Test("An entry is applied only when it has changed at its source, and a retracted one does not come back")
  func editors() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a", "b", "c"]) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      let items = try await followed.store.editorialItems(EditorialQuery()).items
      func item(_ title: String) throws -> EditorialItem { try #require(items.first { $0.item.title == title }) }
      _ = try await followed.store.write(try item("a").item.id, if: .exists) { item in
        var content = ItemContent(try #require(item))
        content.title = "edited"
        return content
      }
      try await followed.store.retract(try item("c").item.id, reason: nil, if: .exists)
      followed.server.respond { _ in Followed.feed(["a", "b2", "c2"]) }
      #expect(try await followed.poll(id).lastError == nil)
      let published = try await followed.store.editorialItems(EditorialQuery(state: .published)).items
      #expect(Set(published.map(\.item.title)) == ["edited", "b2"])
    }
  }

  @Test("Items of a subscription in the state draft are drafts with its topics, and stay as editors leave them")
  func drafts() async throws {
    try await Followed.with { followed in
      try await followed.store.ensureTopics(["sea": TopicContent(titles: [:], position: 0)])
      followed.server.respond { _ in Followed.feed(["a", "b"]) }
      let id = try await followed.subscribe("/feed", topics: ["sea"], state: .draft, language: "fr")
      try await followed.follower.pollDue()
      let drafts = try await followed.store.editorialItems(EditorialQuery(state: .draft)).items
      #expect(drafts.count == 2 && drafts.allSatisfy { $0.item.topics == ["sea"] && $0.item.language == "fr" })
      let a = try #require(drafts.first { $0.item.title == "a" })
      _ = try await followed.store.write(a.item.id, if: .exists) { item in
        var content = ItemContent(try #require(item))
        content.state = .published
        return content
      }
      followed.server.respond { _ in Followed.feed(["a2", "b2"]) }
      _ = try await followed.poll(id)
      let published = try await followed.store.editorialItems(EditorialQuery(state: .published)).items
      #expect(published.map(\.item.title) == ["a2"])
    }
  }

  @Test("Failures are reported, back off, and respect Retry-After")
  func failures() async throws {
    try await Followed.with { followed in
      let id = try await followed.subscribe("/feed")
      followed.server.respond { _ in FaultResponse(status: 503, headers: [("Retry-After", "7200")]) }
      try await followed.follower.pollDue()
      let failing = try await followed.store.subscription(id)
      #expect(failing.lastError?.status == 503 && failing.lastSuccess == nil)
      #expect(failing.nextPoll == Followed.start + 7200 * 1.1)
      // Not even an editor may ask for it before.
      followed.advance(7199)
      guard case .notBefore(let end) = try await followed.follower.poll(id) else {
        throw Unexpected(description: "the wait was not respected")
      }
      #expect(end == Followed.start + 7200 && followed.server.requests.count == 1)
      #expect(try await followed.store.subscription(id).nextPoll == failing.nextPoll)
      followed.server.respond { _ in FaultResponse(body: Data("[1]".utf8)) }
      followed.advance(1000)
      try await followed.follower.pollDue()
      let second = try await followed.store.subscription(id)
      #expect(second.lastError?.message.contains("neither a feed nor a page that links to one") == true)
      #expect(try await followed.wait(id) == 660)
      let counts = followed.store.polls
      #expect(counts.failed == 2 && counts.changed + counts.unchanged == 0)
    }
  }

  @Test(
    "An answer without a feed is a failure, and a line with an entry is a feed",
    arguments: ["", "{\"error\": \"busy\"}", "<rss><channel><item>", "null"])
  func noFeed(body: String) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse(body: Data(body.utf8)) }
      let id = try await followed.subscribe("/feed")
      let error = try await followed.poll(id).lastError
      let message = error?.message ?? ""
      #expect(error?.status == 200 && message.contains(": line 1: is empty") == (body == ""), "\(message)")
      // It does not have the content that the client is to have already.
      followed.server.respond { _ in .notModified() }
      #expect(try await followed.poll(id).lastError?.status == 304)
      let line = Data(#"{"guid": "1", "title": "a", "text": "x", "date": "2026-01-02T00:00:00Z"}"#.utf8)
      followed.server.respond { _ in FaultResponse(body: line) }
      #expect(try await followed.poll(id).lastError == nil)
    }
  }

  @Test("A feed that is gone is paused, and a permanent redirect changes the address")
  func goneAndMoved() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        switch request.path {
        case "/gone": FaultResponse(status: 410)
        case "/old": FaultResponse(status: 301, headers: [("Location", "/new")])
        case "/ended":
          FaultResponse(
            body: Data(
              #"{"version": "https://jsonfeed.org/version/1.1", "title": "x", "expired": true, "items": []}"#.utf8))
        default: Followed.feed(["a"])
        }
      }
      let ended = try await followed.subscribe("/ended")
      let (gone, old) = (try await followed.subscribe("/gone"), try await followed.subscribe("/old"))
      try await followed.follower.pollDue()
      let paused = try await followed.store.subscription(gone)
      #expect(paused.paused && paused.lastError?.message == "the feed is gone for good (410)")
      let last = try await followed.store.subscription(ended)
      #expect(last.paused && last.lastError?.message.contains("the feed has ended") == true)
      #expect(last.lastError?.status == nil)
      let moved = try await followed.store.subscription(old)
      #expect(moved.url.hasSuffix("/new") && moved.revision == 2)
    }
  }

  @Test("A feed that does not answer, and one at a private address, delay no other")
  func stuck() async throws {
    try await Followed.with { followed in
      followed.server.respond { request in
        request.path == "/stuck" ? FaultResponse().hanging(at: .start) : Followed.feed(["a"])
      }
      let stuck = try await followed.subscribe("/stuck")
      let secret = try await followed.subscribe("/", host: "private.example")
      for number in 0..<40 { _ = try await followed.subscribe("/\(number)") }
      try await followed.follower.pollDue()
      #expect(try await followed.store.subscription(stuck).lastError?.message.contains("paused for too long") == true)
      #expect(try await followed.store.subscription(secret).lastError?.message.contains("private address") == true)
      let successes = try await followed.store.subscriptions().count { $0.lastError == nil }
      #expect(successes == 40)
    }
  }

  @Test("Feeds that have failed before leave half of the room for others")
  func failingFeeds() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in FaultResponse().hanging(at: .start) }
      for number in 0..<20 { _ = try await followed.subscribe("/failing\(number)") }
      _ = try await followed.sql.query(
        "UPDATE subscriptions SET failures = 1, next_poll = next_poll - interval '1 hour'")
      for number in 0..<12 { _ = try await followed.subscribe("/\(number)") }
      try await followed.follower.pollDue()
      // There is room for 16 polls. All of them would be those of the feeds that are due for a longer time.
      let paths = followed.server.requests.map(\.path)
      #expect(paths.count == 32 && paths[..<16].count { !$0.hasPrefix("/failing") } == 8, "\(paths)")
    }
  }

  @Test(
    "An entity tag or a date of more than 1 KiB is not sent back",
    arguments: [(1024, 1024), (1025, 1024), (1024, 1025)])
  func longValidator(tagBytes: Int, dateBytes: Int) async throws {
    try await Followed.with { followed in
      let tag = "\"" + String(repeating: "a", count: tagBytes - 2) + "\""
      let date = String(repeating: "x", count: dateBytes)
      followed.server.respond { _ in Followed.feed(["a"], headers: [("ETag", tag), ("Last-Modified", date)]) }
      let id = try await followed.subscribe("/feed")
      for _ in 0..<2 { #expect(try await followed.poll(id).lastError == nil) }
      let second = try #require(followed.server.requests.last)
      #expect(second["If-None-Match"] == (tagBytes == 1024 ? tag : nil))
      #expect(second["If-Modified-Since"] == (dateBytes == 1024 ? date : nil))
    }
  }

  @Test("Several processes never poll a feed twice")
  func severalProcesses() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      for number in 0..<30 { _ = try await followed.subscribe("/\(number)") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { try await followed.follower.pollDue() } }
        try await group.waitForAll()
      }
      let paths = followed.server.requests.map(\.path)
      #expect(paths.count == 30 && Set(paths).count == 30)
    }
  }

  @Test("A redirect to a private address is not followed, nor a name that resolves to one at the second look-up")
  func privateAddresses() async throws {
    try await Followed.with { followed in
      let port = followed.server.port
      followed.server.respond { request in
        request.path == "/redirect"
          ? FaultResponse(status: 302, headers: [("Location", "http://private.example:\(port)/secret")])
          : Followed.feed(["a"])
      }
      let redirect = try await followed.subscribe("/redirect")
      let rebinding = try await followed.subscribe("/feed", host: "rebinding.example")
      try await followed.follower.pollDue()
      #expect(try await followed.store.subscription(redirect).lastError?.message.contains("private address") == true)
      #expect(try await followed.store.subscription(rebinding).lastError == nil)
      #expect(try await followed.poll(rebinding).lastError?.message.contains("link-local address") == true)
      #expect(followed.server.requests.map(\.path).sorted() == ["/feed", "/redirect"])
    }
  }

  @Test("Feeds are followed one after the other if there are more than are polled at a time, and are counted")
  func counted() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"]) }
      for number in 0..<20 { _ = try await followed.subscribe("/\(number)") }
      let running = Task { await followed.follower.run() }
      defer { running.cancel() }
      try await eventually("they are counted") { followed.store.polls.subscriptions.working == 20 }
      try await eventually("all are polled") { followed.store.polls.changed + followed.store.polls.unchanged == 20 }
    }
  }

  @Test("A feed that declares no encoding has that of its response")
  func charset() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in
        var response = Followed.feed(["Žižkov"]).setting("Content-Type", "application/rss+xml; charset=iso-8859-2")
        response.body = String(decoding: response.body, as: UTF8.self).data(using: .isoLatin2) ?? Data()
        return response
      }
      _ = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      #expect(try await followed.store.editorialItems(EditorialQuery()).items.map(\.item.title) == ["Žižkov"])
    }
  }

  @Test("An entry without a date takes the time at which it was first seen, and keeps it")
  func undated() async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in Followed.feed(["a"], hasDates: false) }
      let id = try await followed.subscribe("/feed")
      try await followed.follower.pollDue()
      followed.advance(86_400)
      followed.server.respond { _ in Followed.feed(["a2"], hasDates: false) }
      _ = try await followed.poll(id)
      let items = try await followed.store.editorialItems(EditorialQuery()).items
      #expect(items.map(\.item.title) == ["a2"] && items.map(\.item.date) == [Followed.start])
      let counts = followed.store.polls
      #expect(counts.changed == 2 && counts.unchanged == 0 && counts.inserted == 1 && counts.updated == 1)
    }
  }

  @Test(
    "A poll whose outcome cannot be stored is repeated after five minutes, or when the server allows it",
    arguments: [
      (Unstorable.outcome, nil, 300.0), (.outcome, "60", 300), (.outcome, "7200", 7200), (.entries, nil, 300),
      (.entries, "7200", 7200),
    ])
  func unstorable(fault: Unstorable, retryAfter: String?, wait: Double) async throws {
    try await Followed.with { followed in
      let headers = retryAfter.map { [(name: "Retry-After", value: $0)] } ?? []
      followed.server.respond { _ in
        fault == .entries ? Followed.feed(["a"], headers: headers) : FaultResponse(status: 503, headers: headers)
      }
      let id = try await followed.subscribe("/feed")
      for statement in fault.statements { _ = try await followed.sql.query(.init(unsafeSQL: statement)) }
      try await followed.follower.pollDue()
      #expect(followed.server.requests.count == 1)
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.lastError == nil && subscription.lastSuccess == nil)
      #expect(subscription.nextPoll == Followed.start + wait)
      // A poll by hand obeys the server, too.
      guard retryAfter == "7200" else { return }
      followed.advance(7199)
      guard case .notBefore(let end) = try await followed.follower.poll(id) else {
        throw Unexpected(description: "the wait was not respected")
      }
      #expect(end == Followed.start + 7200 && followed.server.requests.count == 1)
      followed.advance(1)
      _ = try await followed.poll(id)
      #expect(followed.server.requests.count == 2)
    }
  }

  /// A feed that arrives so slowly that its poll takes longer than any test.
  private static let slow = FaultResponse(body: Data(repeating: 32, count: 10_000)).dripping(every: .milliseconds(100))

  @Test(
    "A poll that is interrupted is no failure of its feed, which is polled again after a minute",
    arguments: [false, true])
  func interrupted(isStoring: Bool) async throws {
    try await Followed.with { followed in
      followed.server.respond { _ in isStoring ? Followed.feed(["a"]) : Self.slow }
      let id = try await followed.subscribe("/feed")
      try await followed.sql.transaction { transaction in
        if isStoring { _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE") }
        let poll = Task { try await followed.follower.poll(id) }
        try await eventually("the feed is requested, or its entries wait") {
          if !isStoring { return !followed.server.requests.isEmpty }
          let waiting = try await followed.sql.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
          return !waiting.isEmpty
        }
        poll.cancel()
        _ = await poll.result
      }
      #expect(!followed.log.text.contains("warning"), "\(followed.log.text)")
      let subscription = try await followed.store.subscription(id)
      #expect(subscription.lastError == nil && subscription.lastSuccess == nil)
      #expect(subscription.nextPoll == Followed.start + 60)
      #expect(try await followed.store.leaseSubscription(for: 60, at: Followed.start + 59) == nil)
      #expect(try await followed.store.leaseSubscription(for: 60, at: Followed.start + 60) != nil)
    }
  }

  @Test("A poll by hand says that another process polls the feed, or that there is no such subscription")
  func refusals() async throws {
    try await Followed.with { followed in
      let id = try await followed.subscribe("/feed")
      _ = try #require(try await followed.store.leaseSubscription(for: 60, only: id, at: followed.now))
      guard case .busy = try await followed.follower.poll(id) else {
        throw Unexpected(description: "two processes have polled the feed")
      }
      #expect(followed.server.requests.isEmpty)
      await #expect(throws: StoreError.notFound) { try await followed.follower.poll(UUID()) }
    }
  }
}

/// A part of a poll that the database refuses to store.
enum Unstorable: Sendable {
  case outcome, entries

  /// Makes the database refuse it.
  var statements: [String] {
    let event = self == .outcome ? "UPDATE OF failures ON subscriptions" : "INSERT ON items"
    return [
      """
      CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN RAISE EXCEPTION USING MESSAGE = ''refused''; END'
      """,
      "CREATE TRIGGER refuse_writes BEFORE \(event) FOR EACH ROW EXECUTE FUNCTION refuse_write()",
    ]
  }
}
