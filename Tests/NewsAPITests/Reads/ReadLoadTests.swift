import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Uncached reads, and their effect on other requests.
@Suite struct ReadLoadTests {
  /// Runs the body while a transaction blocks reads and writes of a table.
  static func whileLocked(
    _ table: String, _ server: TestServer, _ body: () async throws -> Void
  ) async throws {
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (locks, locked) = AsyncStream.makeStream(of: Void.self)
    async let locking: Void = server.sql.transaction { transaction in
      _ = try await transaction.query("LOCK TABLE \(unsafeSQL: table) IN ACCESS EXCLUSIVE MODE")
      locked.finish()
      for await _ in gate {}
    }
    for await _ in locks {}
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    opening.finish()
    try await locking
    try result.get()
  }

  @Test("Hundreds of different reads leave connections to editors and to the state")
  func distinctReads() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      _ = try await server.get("/v1/items")
      let readers = TestClient(url: server.url)
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked("items", server) {
          for _ in 0..<800 { group.addTask { try await readers.send("GET", "/v1/items/\(UUID())").status } }
          try await eventually("readers wait") { server.store.connections.leased >= 6 }
          for number in 0..<3 {
            // The request looks up a key and writes a topic.
            let topic = try await server.write("POST", "topics", #"{"slug": "t\#(number)"}"#)
            #expect(topic.status == 201)
            try await Task.sleep(for: .seconds(1))
          }
          let list = try await server.get("/v1/items")
          #expect(list.status == 200)
          #expect(list["Cache-Status"] == nil)
          #expect(try await server.get("/v1/state?topics=t0").status == 200)
          #expect(!server.store.isDatabaseUnresponsive)
          #expect(server.store.connections.waiting == 0)
        }
        // Some requests were served, others were refused with a retry time.
        for try await status in group { #expect([404, 503].contains(status)) }
      }
      #expect(try await server.get("/v1/items/\(UUID())").status == 404)
    }
  }

  @Test("Many requests for files leave connections to editors")
  func files() async throws {
    try await MediaServer.with { media in
      let server = media.server
      let readers = TestClient(url: server.url)
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await Self.whileLocked("media", server) {
          for _ in 0..<40 { group.addTask { try await readers.send("GET", "/v1/media/\(UUID())").status } }
          try await eventually("readers wait") { server.store.connections.leased >= 6 }
          #expect(try await server.write("POST", "topics", #"{"slug": "a"}"#).status == 201)
          #expect(server.store.connections.waiting == 0)
        }
        for try await status in group { #expect([404, 503].contains(status)) }
      }
    }
  }

  @Test("Readers that wait for a future state delay no other requests")
  func futureStates() async throws {
    try await TestServer.with { server in
      let id = try await server.publish("x").item.id
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      let future = SyncToken(epoch: token.epoch, scope: .feed, version: token.version + 1000)
      let isOver = Flag()
      let readers = TestClient(url: server.url)
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<300 {
          let target = ["/v1/items?limit=7&", "/v1/items?q=x&", "/v1/items/\(id)?", "/v1/changes?"][number % 4]
          group.addTask {
            var status = 0
            repeat { status = try await readers.send("GET", "\(target)at=\(future)").status } while !isOver.isSet
            return status
          }
        }
        for number in 0..<20 {
          for target in [
            "/v1/items?limit=\(number + 101)", "/v1/items?q=x\(number)", "/v1/changes?limit=\(number + 1)",
          ] {
            #expect(try await server.get(target).status == 200, "\(target)")
          }
        }
        isOver.set()
        for try await status in group { #expect(status == 503) }
      }
    }
  }

  @Test("A reader of a version beyond the limit is refused at once, and those of one version share their wait")
  func waitLimit() async throws {
    let waits = NewsStore.WaitLimits(versions: 3, duration: .seconds(60))
    try await TestServer.with(waits: waits) { server in
      _ = try await server.publish("x")
      for round in 0..<2 {
        let token = try await server.get("/v1/changes").json(ChangeList.self).token
        func next(_ offset: Int) -> SyncToken {
          SyncToken(epoch: token.epoch, scope: .feed, version: token.version + offset)
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<6 {
            group.addTask { try await server.get("/v1/items?at=\(next(1 + number % waits.versions))").status }
          }
          try await eventually("the requests wait") { server.store.waitedVersions == waits.versions }
          let further = try await server.get("/v1/items?at=\(next(4))")
          #expect(further.status == 503)
          #expect(further["Retry-After"] != nil)
          #expect(further.text.contains("/problems/not-reached-yet"))
          #expect(try await server.get("/v1/items?at=\(token)").status == 200)
          // The other waiters keep their places.
          #expect(server.store.waitedVersions == waits.versions)
          for number in 0..<waits.versions { _ = try await server.publish("round \(round), \(number)") }
          for try await status in group { #expect(status == 200) }
        }
        #expect(server.store.waitedVersions == 0)
      }
    }
  }

  @Test("A reader that joins a wait has its own deadline")
  func joinedWait() async throws {
    try await TestServer.with(waits: NewsStore.WaitLimits(duration: .milliseconds(800))) { server in
      _ = try await server.publish("x")
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      let next = SyncToken(epoch: token.epoch, scope: .feed, version: token.version + 1)
      @Sendable func seconds() async throws -> Double {
        let start = ContinuousClock.now
        #expect(try await server.get("/v1/items?at=\(next)").status == 503)
        return (.now - start) / .seconds(1)
      }
      async let first = seconds()
      try await Task.sleep(for: .milliseconds(500))
      async let second = seconds()
      #expect(try await first >= 0.75)
      #expect(try await second >= 0.75)
    }
  }

  @Test("A request for changes without news does not read the log, with or without a condition")
  func nothingNew() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      _ = try await server.publish("x", topics: ["a"])
      let state = try await server.get("/v1/state?topics=a").json(FeedState.self)
      try await Self.whileLocked("change_log", server) {
        for target in [
          "since=\(state.feed)", "since=\(state.feed)&limit=7", "since=\(state.feed)&include=html",
          "since=\(try #require(state.topics["a"]))&topics=a",
        ] {
          // The second response comes from memory.
          for _ in 0..<2 {
            let response = try await server.get("/v1/changes?\(target)")
            #expect(try response.json(ChangeList.self).changes.isEmpty, "\(target)")
            #expect(response["Cache-Status"] == nil)
          }
        }
      }
    }
  }

  @Test("A reader waits for a state for at most one second, even if the database does not respond")
  func clock() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      let token = try await server.get("/v1/changes").json(ChangeList.self).token
      let next = SyncToken(epoch: token.epoch, scope: .feed, version: token.version + 1)
      try await Self.whileLocked("scopes", server) {
        // A read of the counter would wait until the lock is released.
        let response = try await server.get("/v1/items?at=\(next)")
        #expect(response.status == 503)
        #expect(response["Retry-After"] != nil)
      }
    }
  }

  @Test("HEAD of an uncached search reads as many rows as GET")
  func headOfSearch() async throws {
    try await TestServer.with { server in
      for number in 0..<6 { _ = try await server.publish("alpha beta \(number)") }
      _ = try await server.sql.query("ANALYZE")
      var counts: [Int] = []
      for (method, word) in [("GET", "alpha"), ("HEAD", "beta")] {
        let before = try await Self.itemsRead(server)
        #expect(try await server.send(method, "/v1/items?q=\(word)").status == 200)
        counts.append(try await Self.itemsRead(server) - before)
      }
      #expect(counts[0] >= 6)
      #expect(counts[0] == counts[1])
    }
  }

  /// Returns the number of rows of items read so far. A session writes its statistics at its end at the latest, so this
  /// function ends all sessions.
  private static func itemsRead(_ server: TestServer) async throws -> Int {
    let ended = try await server.sql.query(
      """
      SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
      """
    ).map { try $0.decode(0, as: Int.self) }
    try await eventually("the sessions have ended") {
      let left = try await server.sql.query("SELECT 1 FROM pg_stat_activity WHERE pid = ANY(\(ended))")
      return left.isEmpty
    }
    let rows = try await server.sql.query(
      """
      SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables WHERE relname = 'items'
      """)
    return try rows.first?.decode(0) ?? 0
  }

  @Test("Tokens of any scope are accepted in at=, and those of an abandoned history only up to its end")
  func anyScope() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      _ = try await server.publish("x", topics: ["a"])
      let state = try await server.get("/v1/state?topics=a").json(FeedState.self)
      let ofTopic = try #require(state.topics["a"])
      for target in ["/v1/items?", "/v1/items?topics=b&", "/v1/changes?topics=b&"] {
        #expect(try await server.get("\(target)at=\(ofTopic)").status == 200)
      }
      _ = try await server.sql.query("SELECT begin_epoch()")
      let beyond = SyncToken(epoch: ofTopic.epoch, scope: .feed, version: ofTopic.version + 1)
      for target in ["/v1/items?", "/v1/changes?topics=b&"] {
        // The memory does not contain the new epoch yet, so the response is not made from it.
        #expect(try await server.get("\(target)at=\(ofTopic)").status == 200)
        try await eventually("the epoch is known") {
          try await server.get("\(target)at=\(beyond)").status == 410
        }
      }
    }
  }
}
