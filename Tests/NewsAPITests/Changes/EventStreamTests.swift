import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct EventStreamTests {
  private static func token(_ server: TestServer, _ query: String = "") async throws -> SyncToken {
    try #require(SyncToken(await server.get("/v1/items" + query)["Sync-Token"] ?? ""))
  }

  /// Returns the number of open streams.
  private static func open(_ server: TestServer) async throws -> Int {
    let samples = try PrometheusScrape(await server.get("/metrics").text).samples
    return Int(samples[PrometheusScrape.Sample(name: "tidings_event_streams", labels: [:])] ?? -1)
  }

  private static func next(_ source: inout EventSource) async throws -> ChangeEvent {
    let event = try #require(try await source.next())
    #expect(event.type == "")
    let news = try event.news()
    #expect(source.lastEventID == news.token.description)
    return news
  }

  @Test("A publish sends an event with the token of the scope, the items and their topics")
  func publishes() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let start = try await Self.token(server)
      var source = try await EventSource(server.url)
      #expect(source.response["Content-Type"] == "text/event-stream")
      #expect(source.response["Cache-Control"] == "no-store")
      #expect(source.response["Access-Control-Allow-Origin"] == "*")
      try await eventually("the stream is open") { try await Self.open(server) == 1 }
      let one = try await server.publish("one", topics: ["a"])
      let first = try await Self.next(&source)
      #expect(first == ChangeEvent(token: try await Self.token(server), ids: [one.item.id], topics: ["a"]))
      #expect(first.token.version > start.version)
      #expect(1000... ~= (source.retry ?? 0))

      // Leaving a topic is a change in that topic.
      let path = "items/\(one.item.id.uuidString.lowercased())"
      _ = try await server.write("PATCH", path, #"{"topics": ["b"]}"#, ("If-Match", "*"))
      #expect(try await Self.next(&source).topics == ["a", "b"])
      _ = try await server.write("DELETE", path, nil, ("If-Match", "*"))
      #expect(try await Self.next(&source).ids == [one.item.id])
    }
  }

  @Test("A stream of topics reports only changes of these topics")
  func topics() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b", "c"])
      var one = try await EventSource(server.url, "?topics=a")
      var two = try await EventSource(server.url, "?topics=a,b")
      try await eventually("the streams are open") { try await Self.open(server) == 2 }
      _ = try await server.publish("in c", topics: ["c"])
      let inB = try await server.publish("in b and c", topics: ["b", "c"])
      let both = try await Self.next(&two)
      #expect(
        both == ChangeEvent(token: try await Self.token(server, "?topics=a,b"), ids: [inB.item.id], topics: ["b"]))
      let inA = try await server.publish("in a", topics: ["a"])
      #expect(
        try await Self.next(&one)
          == ChangeEvent(token: try await Self.token(server, "?topics=a"), ids: [inA.item.id], topics: ["a"]))
      #expect(try await Self.next(&two).ids == [inA.item.id])
      // The initial event of a stream omits changes outside its scope.
      let start = SyncToken(epoch: both.token.epoch, scope: Scope(topics: ["a", "b"]), version: 0)
      var late = try await EventSource(server.url, "?topics=a,b&since=\(start)")
      #expect(try await Set(Self.next(&late).ids) == [inA.item.id, inB.item.id])
    }
  }

  @Test("A stream cannot resume from a token whose later changes were purged")
  func purged() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("one").item
      let old = try await Self.token(server)
      _ = try await server.write("DELETE", "items/\(item.id.uuidString.lowercased())", nil, ("If-Match", "*"))
      #expect(try await server.store.purge(olderThan: .zero) > 0)
      // This publish notifies the process of the purge.
      _ = try await server.publish("two")
      let current = try await Self.token(server)
      var source = try await EventSource(server.url, lastEventID: old.description)
      #expect(try await source.next() == EventSource.Event(type: "resync", data: "{\"token\":\"\(current)\"}"))
    }
  }

  @Test("A stream resumes after the token of the last event or of a response, or starts at the current state")
  func resumption() async throws {
    try await TestServer.with { server in
      let one = try await server.publish("one")
      let token = try await Self.token(server)
      let two = try await server.publish("two")
      let old = SyncToken(epoch: token.epoch, scope: .feed, version: 0)
      for (query, last) in [("?since=\(token)", nil), ("", token), ("?since=\(old)", token)] as [(String, SyncToken?)] {
        var source = try await EventSource(server.url, query, lastEventID: last?.description)
        #expect(try await Self.next(&source).ids == [two.item.id])
      }
      var both = try await EventSource(server.url, "?since=\(old)")
      #expect(try await Self.next(&both).ids == [two.item.id, one.item.id])
      let current = try await Self.token(server)
      var quiet = try await EventSource(server.url, "?since=\(current)")
      var fresh = try await EventSource(server.url)
      try await eventually("the streams are open") { try await Self.open(server) >= 2 }
      let three = try await server.publish("three")
      #expect(try await Self.next(&quiet).ids == [three.item.id])
      #expect(try await Self.next(&fresh).ids == [three.item.id])
    }
  }

  @Test("A stream that cannot resume sends a resync event first")
  func resync() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a"])
      _ = try await server.publish("one")
      let current = try await Self.token(server)
      let other = SyncToken(epoch: "zzzzzz", scope: .feed, version: current.version)
      let ofTopic = try await Self.token(server, "?topics=a")
      for last in [other.description, ofTopic.description, "nonsense"] {
        var source = try await EventSource(server.url, lastEventID: last)
        let event = try #require(try await source.next())
        #expect(event == EventSource.Event(type: "resync", data: "{\"token\":\"\(current)\"}"))
        #expect(source.lastEventID == current.description)
      }
      // A new epoch that shares no history.
      var source = try await EventSource(server.url)
      try await eventually("the stream is open") { try await Self.open(server) > 0 }
      _ = try await server.sql.query("SELECT begin_epoch(true)")
      #expect(try await source.next()?.type == "resync")
      _ = try await server.publish("two")
      #expect(try await source.next()?.type == "")
    }
  }

  @Test("A stream resumes in a new history that contains all changes it has sent")
  func newEpoch() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("one")
      var source = try await EventSource(server.url)
      try await eventually("the stream is open") { try await Self.open(server) > 0 }
      // A new epoch that shares the history, as after a promotion.
      let row = try #require(try await server.sql.query("SELECT begin_epoch() AS id").first)
      let epoch: String = try row.decode("id")
      let item = try await server.publish("two").item
      let news = try await Self.next(&source)
      // Changes from before the process detected the new epoch are not listed.
      #expect(news.ids.isEmpty || news.ids == [item.id])
      #expect(news.token.epoch == epoch)
    }
  }

  @Test("A client that does not read is disconnected after a complete chunk")
  func slowReader() async throws {
    try await TestServer.with { server in
      for _ in 0..<10 { _ = try await server.publish(String(repeating: "x", count: 100_000)) }
      try await server.beside({ $0.heartbeatInterval = .milliseconds(50) }) { server in
        _ = try await server.get("/v1/items")
        // The responses before the stream exceed the socket buffers. Because of the tab, the decoder reads all requests
        // at once; otherwise each would wait until the client reads.
        let pages = String(repeating: "GET /v1/items HTTP/1.1\r\nHost: a\r\nX: a\tb\r\n\r\n", count: 20)
        let isGone = Mutex(false)
        async let bytes = RawConnection.bytes(
          [Data((pages + "GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n").utf8)], port: server.port, endsInput: false
        ) {
          let end = Date() + 60
          while !isGone.withLock({ $0 }), Date() < end { Thread.sleep(forTimeInterval: 0.01) }
        }
        try await eventually("the stream is closed") {
          try await server.scrape().value(
            "tidings_http_requests_total", ["method": "GET", "route": "/v1/events", "status": "200"]) == 1
        }
        isGone.withLock { $0 = true }
        let text = String(decoding: try await bytes, as: UTF8.self)
        let stream = try #require(text.range(of: "Content-Type: text/event-stream"))
        #expect(
          text[stream.upperBound...].contains(/\nid: [^\n]*\n\n\r\n[0-9a-f]+\r\nretry: [0-9]+\n\n\r\n0\r\n\r\n$/),
          "\(text.suffix(300))")
      }
    }
  }

  @Test("An event lists the last 20 of many changes, and none if there are too many to remember")
  func many() async throws {
    try await TestServer.with { server in
      let start = try await Self.token(server)
      var total = 0
      for (count, named) in [(30, 20), (900, 20), (900, 20), (900, 0)] {
        _ = try await server.sql.query(
          """
          DO $$
          DECLARE made uuid[];
          BEGIN
            SELECT array_agg(gen_random_uuid()) INTO made FROM generate_series(1, \(unsafeSQL: "\(count)"));
            INSERT INTO items (id, state, date, text) SELECT id, 'published', '2026-01-01', 'x' FROM unnest(made) AS m (id);
            PERFORM publish(made);
          END $$
          """)
        total += count
        try await eventually("the change is known") { server.store.cachedSnapshot?.feedVersion.version == total }
        var source = try await EventSource(server.url, "?since=\(start)")
        #expect(try await Self.next(&source).ids.count == named)
      }
    }
  }

  @Test("Bad requests get problems, and methods other than GET are refused")
  func refusals() async throws {
    try await TestServer.with { server in
      for query in ["topics=none", "limit=1", "since=nonsense"] {
        let answer = try await server.get("/v1/events?" + query)
        #expect(answer.status == 400)
      }
      #expect(try await server.send("HEAD", "/v1/events").status == 405)
      #expect(try await server.send("OPTIONS", "/v1/events").status == 204)
    }
  }

  @Test("A stream follows the responses to pipelined requests, and a closed stream is removed")
  func connections() async throws {
    try await TestServer.with { server in
      let requests = "GET /v1/items HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
      let stream = "GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\n"
      let bytes = try await RawConnection.bytes([Data((requests + stream + requests).utf8)], port: server.port)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == 4)
      #expect(text.contains("text/event-stream"))
      #expect(text.hasSuffix("\r\n0\r\n\r\n"))
      try await eventually("all streams are closed") { try await Self.open(server) == 0 }
    }
  }

  @Test("Heartbeats are sent while there is no news")
  func heartbeats() async throws {
    try await TestServer.with { server in
      try await server.beside({ $0.heartbeatInterval = .milliseconds(20) }) { server in
        var source = try await EventSource(server.url)
        // Comments are not events; an event follows them.
        try await Task.sleep(for: .milliseconds(200))
        _ = try await server.publish("one")
        _ = try await source.next()
        #expect(source.comments > 1)
      }
    }
  }

  @Test("A stream can be requested in absolute form")
  func absoluteForm() async throws {
    try await TestServer.with { server in
      let request = "GET HTTP://news.example/v1/events HTTP/1.1\r\nHost: a\r\n\r\n"
      let bytes = try await RawConnection.bytes([Data(request.utf8)], port: server.port)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.contains("text/event-stream"))
    }
  }

  @Test(
    "Bytes that a client sends after requesting a stream are not read",
    arguments: ["", "Connection: Upgrade\r\nUpgrade: x\r\n", "Connection: close\r\n"])
  func behind(fields: String) async throws {
    try await TestServer.with { server in
      let request = "GET /v1/events HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
      let next = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n"
      let bytes = Data((request + next).utf8) + Data(count: 1 << 20)
      // The sockets of both sides have buffers of a few MiB.
      let taken = try await RawConnection.fill(bytes, limit: 64 << 20, port: server.port)
      #expect(taken < 32 << 20)
    }
  }
}
