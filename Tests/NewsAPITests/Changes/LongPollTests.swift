import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct LongPollTests {
  private static func token(_ server: TestServer, _ query: String = "") async throws -> String {
    try #require(await server.get("/v1/items" + query)["Sync-Token"])
  }

  /// Returns the number of waiting requests.
  private static func waiting(_ server: TestServer) async throws -> Int {
    let samples = try PrometheusScrape(await server.get("/metrics").text).samples
    return Int(samples[PrometheusScrape.Sample(name: "tidings_waiting_requests", labels: [:])] ?? -1)
  }

  private static func texts(_ response: TestResponse) throws -> [String] {
    try response.json(ChangeList.self).changes.map { change in
      guard case .put(let item) = change else { return "-" }
      return item.text
    }
  }

  @Test("A long poll receives the next change in a response that must not be stored")
  func nextChange() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      async let waiting = server.get("/v1/changes?wait=50&since=\(token)", ("If-None-Match", "\"\(token)\""))
      try await eventually("the request waits") { try await Self.waiting(server) == 1 }
      _ = try await server.publish("two")
      let response = try await waiting
      #expect(try Self.texts(response) == ["two"])
      #expect(response["Cache-Control"] == "no-store")
      #expect(try await Self.waiting(server) == 0)
      // The server responses at once if there are changes already. Without `wait`, the same response may be stored.
      let late = try await server.get("/v1/changes?wait=50&since=\(token)")
      #expect(try Self.texts(late) == ["two"])
      #expect(late["Cache-Control"] == "no-store")
      #expect(try await server.get("/v1/changes?since=\(token)")["Cache-Control"] != "no-store")
      #expect(try await server.get("/v1/changes?wait=50&since=\(token)")["Cache-Control"] == "no-store")
    }
  }

  @Test("The next page of a snapshot is returned without waiting")
  func restOfASnapshot() async throws {
    try await TestServer.with { server in
      for text in ["one", "two", "three"] { _ = try await server.publish(text) }
      let first = try await server.get("/v1/changes?limit=1").json(ChangeList.self)
      #expect(first.more)
      let start = ContinuousClock.now
      let rest = try await server.get("/v1/changes?wait=50&since=\(first.token)")
      #expect(try Self.texts(rest) == ["two", "three"])
      // The long poll would last for the entire wait.
      #expect(ContinuousClock.now - start < .seconds(50))
    }
  }

  @Test("A long poll without changes ends at its timeout with the same token")
  func timeout() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      for _ in 0..<2 {
        let response = try await server.get("/v1/changes?wait=1&since=\(token)")
        #expect(
          try response.json(ChangeList.self)
            == ChangeList(changes: [], more: false, snapshot: nil, token: #require(SyncToken(token))))
        let unchanged = try await server.get("/v1/changes?wait=1&since=\(token)", ("If-None-Match", "\"\(token)\""))
        #expect(unchanged.status == 304)
        #expect(unchanged["Cache-Control"] == "no-store")
      }
      #expect(try await server.send("HEAD", "/v1/changes?wait=1&since=\(token)").status == 200)
    }
  }

  @Test("A change outside the scope does not end a long poll")
  func otherTopics() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let tokens = [try await Self.token(server, "?topics=a"), try await Self.token(server, "?topics=a,b")]
      async let one = server.get("/v1/changes?topics=a&wait=50&since=\(tokens[0])")
      async let both = server.get("/v1/changes?topics=a,b&wait=50&since=\(tokens[1])")
      try await eventually("the requests wait") { try await Self.waiting(server) == 2 }
      _ = try await server.publish("in b", topics: ["b"])
      #expect(try Self.texts(await both) == ["in b"])
      #expect(try await Self.waiting(server) == 1)
      _ = try await server.publish("in a", topics: ["a"])
      #expect(try Self.texts(await one) == ["in a"])
    }
  }

  @Test("Requests that must not wait, or are invalid, are answered at once")
  func refusals() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      for wait in ["0", "51", "-1", "x", "1&wait=1"] {
        let response = try await server.get("/v1/changes?since=\(token)&wait=\(wait)")
        #expect(response.status == 400)
        #expect(response.text.contains("\"wait\""))
      }
      let snapshot = try await server.get("/v1/changes?wait=50")
      #expect(snapshot.status == 400)
      #expect(snapshot.text.contains("requires since"))
      let foreign = try #require(SyncToken(token))
      let other = SyncToken(epoch: "zzzzzz", scope: .feed, version: foreign.version)
      let expired = try await server.get("/v1/changes?wait=50&since=\(other)")
      #expect(expired.status == 410)
      #expect(expired["Cache-Control"] == "no-store")
      #expect(try await server.get("/v1/changes?since=\(other)")["Cache-Control"] == "max-age=0, s-maxage=1")
      let unknown = try await server.get("/v1/changes?wait=50&topics=none&since=\(token)")
      #expect(unknown.status == 400)
      #expect(try await server.get("/v1/changes?wait=50&since=\(token)&at=\(other)").status == 410)
    }
  }

  @Test("A cancelled long poll stops waiting; requests pipelined behind a long poll are served after it")
  func connections() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      let request = "GET /v1/changes?wait=50&since=\(token) HTTP/1.1\r\nHost: a\r\n\r\n"
      // The client closes its sending side, so it gets its response at once.
      let closed = try await RawConnection.exchange(request, port: server.port)
      #expect(closed.map(\.status) == [200])

      let next = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
      let last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      async let responses = RawConnection.exchange(request + next + request + last, port: server.port)
      async let piped = RawConnection.exchange(
        [Data((request + next + last).utf8)], port: server.port, endsInput: false)
      try await eventually("one request waits") { try await Self.waiting(server) == 1 }
      _ = try await server.publish("two")
      #expect(try await piped.map(\.status) == [200, 200, 200])
      #expect(try Self.texts(await piped[0]) == ["two"])
      #expect(try await responses.map(\.status) == [200, 200, 200, 200])
      #expect(try await Self.waiting(server) == 0)
    }
  }

  @Test("Many long polls of the same scope share one query")
  func herd() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      let client = TestClient(url: server.url)
      try await withThrowingTaskGroup { group in
        for _ in 0..<300 {
          group.addTask { try Self.texts(await client.send("GET", "/v1/changes?wait=50&since=\(token)")) }
        }
        try await eventually("all requests wait") { try await Self.waiting(server) == 300 }
        _ = try await server.publish("two")
        for try await texts in group { #expect(texts == ["two"]) }
      }
      let samples = try PrometheusScrape(await server.get("/metrics").text).samples
      let hot = PrometheusScrape.Sample(name: "tidings_http_hot_requests_total", labels: [:])
      #expect((samples[hot] ?? 0) >= 300)
    }
  }

  @Test("A long poll can be requested in absolute form")
  func absoluteForm() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      let start = "GET http://news.example/v1/changes?wait=50&since=\(token) HTTP/1.1\r\n"
      let request = Data((start + "Host: a\r\nConnection: close\r\n\r\n").utf8)
      async let responses = RawConnection.exchange([request], port: server.port, endsInput: false)
      try await eventually("the request waits") { try await Self.waiting(server) == 1 }
      _ = try await server.publish("two")
      let texts = try await responses.map { try Self.texts($0) }
      #expect(texts == [["two"]])
    }
  }

  @Test("Bytes that a client sends behind a long poll are not read", arguments: [true, false])
  func behind(isUpgrade: Bool) async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      let fields = isUpgrade ? "Connection: Upgrade\r\nUpgrade: x\r\n" : ""
      let request = "GET /v1/changes?wait=50&since=\(token) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
      let bytes = Data(request.utf8) + Data(count: 1 << 20)
      let taken = try await RawConnection.fill(bytes, limit: 64 << 20, port: server.port)
      #expect(taken < 32 << 20)
    }
  }

  @Test("A long poll whose response is not ready keeps waiting, but not beyond its timeout")
  func slowAnswers() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      let token = try await Self.token(server)
      let client = TestClient(url: server.url)
      let polls = (1...8).map { limit in
        Task { try await client.send("GET", "/v1/changes?wait=12&since=\(token)&limit=\(limit)").status }
      }
      try await eventually("all requests wait") { try await Self.waiting(server) == 8 }
      // The lock on the items is requested during the publish, so that it is granted at its end, before any reader.
      let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
      defer { isReleased.finish() }
      let locking = try await server.sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET title = 'two', revision = revision + 1")
        _ = try await transaction.query("SELECT count(*) FROM publish(ARRAY(SELECT id FROM items))")
        let locking = Task {
          try await server.sql.transaction { transaction in
            _ = try await transaction.query("LOCK TABLE items IN ACCESS EXCLUSIVE MODE")
            for await _ in release {}
          }
        }
        try await eventually("the lock is requested") {
          let query: PostgresQuery = """
            SELECT count(*) FROM pg_locks
            WHERE NOT granted AND relation = 'items'::regclass AND mode = 'AccessExclusiveLock'
            """
          return try await server.sql.query(query).first?.decode(0, as: Int.self) == 1
        }
        return locking
      }
      let version = try #require(SyncToken(token)).version
      try await eventually("the change is known") { server.store.cachedSnapshot?.feedVersion.version ?? 0 > version }
      #expect(try await Self.waiting(server) == 8)
      try await eventually("the requests have timed out") { try await Self.waiting(server) == 0 }
      isReleased.finish()
      try await locking.value
      for poll in polls { #expect(try await poll.value == 200) }
    }
  }
}
