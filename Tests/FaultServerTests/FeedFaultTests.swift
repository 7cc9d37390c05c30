import FaultServer
import Foundation
import News
import TestKit
import Testing

/// The behaviour of a feed with faults.
@Suite struct FeedFaultTests {
  let feed = FaultFeed()

  @Test func `a fault modifies only the next responses to its path`() async throws {
    feed.publish("1")
    feed.fault(next: .truncate(at: .body(5)), times: 2, path: "/v1/items")
    feed.fault(next: .busy(retryAfter: .seconds(3)))
    try await FaultServer.with(feed.respond) { server in
      #expect(try await exchange(server.port, "/v1/state").head.contains("Retry-After: 3"))
      for _ in 0..<2 { #expect(try await exchange(server.port, "/v1/items").body.count == 5) }
      #expect(feed.faultsLeft == 0)
      let body = try await exchange(server.port, "/v1/items").body
      #expect(try NewsJSON.decode(ItemList.self, from: body).items.count == 1)
    }
    feed.fault(next: .reset(at: .start))
    feed.removeFaults()
    #expect(feed.faultsLeft == 0)
  }

  @Test func `a stale response has the validators of its state`() throws {
    feed.publish("1")
    let (then, token) = (feed.snapshot, feed.token())
    let old = feed.respond(FaultRequest(target: "/v1/items"))
    feed.publish("2")
    feed.fault(next: .stale(then), times: 2)
    let stale = feed.respond(FaultRequest(target: "/v1/items"))
    #expect(stale.body == old.body)
    #expect(stale["ETag"] == old["ETag"])
    #expect(stale["Sync-Token"] == "\(token)")
    #expect(feed.respond(FaultRequest(target: "/v1/items?at=\(feed.token())")).status == 503)
    #expect(feed.respond(FaultRequest(target: "/v1/items"))["Sync-Token"] == "\(feed.token())")
  }

  @Test func `the JSON of a long response is modified before it is compressed`() {
    feed.publish(String(repeating: "long ", count: 400))
    let request = FaultRequest(target: "/v1/items", headers: [("Accept-Encoding", "gzip")])
    feed.fault(next: .json(.notANumber))
    let modified = feed.respond(request)
    #expect(modified["Content-Encoding"] == nil)
    #expect(modified.body.firstRange(of: Data("NaN".utf8)) != nil)
    feed.fault(next: .coding(.plainCalledGzip))
    let lie = feed.respond(request)
    #expect(lie["Content-Encoding"] == "gzip")
    #expect(lie.body.starts(with: Data("{\"items\"".utf8)))
  }

  @Test func `fields and clocks can be wrong`() throws {
    feed.fault(next: .header("ETag", nil))
    #expect(feed.respond(FaultRequest(target: "/v1/items"))["ETag"] == nil)
    feed.fault(next: .clock(offBy: 10 * 365 * 86_400))
    let year = Calendar(identifier: .gregorian).component(.year, from: Date()) + 10
    let date = try #require(feed.respond(FaultRequest(target: "/v1/items"))["Date"])
    #expect(date.contains("\(year)") || date.contains("\(year - 1)"))
  }

  @Test func `a stream begins at the current token or after the client's token`() async throws {
    feed.publish("0")
    let begin = feed.token()
    try await FaultServer.with(feed.respond) { server in
      let fresh = try await Listening(server, feed)
      let item = feed.publish("1", topics: ["a"])
      let event = #"{"ids":["\#(item.id.uuidString.lowercased())"],"token":"\#(feed.token())","topics":["a"]}"#
      let change = "id: \(feed.token())\ndata: \(event)\n\n"
      #expect(try await fresh.text() == "retry: 1000\nid: \(begin)\n\n" + change)
      let resumed = try await Listening(server, feed, "Last-Event-ID: \(begin)")
      #expect(try await resumed.text() == "retry: 1000\nid: \(begin)\n\n" + change)
      let lost = try await Listening(server, feed, "Last-Event-ID: nonsense")
      #expect(try await lost.text().contains("event: resync\ndata: {\"token\":\"\(feed.token())\"}\n\n"))
      feed.moveEpoch(keepingHistory: false)
      #expect(try await fresh.text() == "id: \(feed.token())\nevent: resync\ndata: {\"token\":\"\(feed.token())\"}\n\n")
    }
  }

  @Test(arguments: [
    (EventOrder.faithful, [1, 2, 3, 4]), (.twice, [1, 1, 2, 2, 3, 3, 4, 4]), (.swapped, [2, 1, 4, 3]), (.silent, []),
  ])
  func `events can come twice, in another order, or not`(_ order: EventOrder, _ expected: [Int]) async throws {
    feed.eventOrder = order
    try await FaultServer.with(feed.respond) { server in
      let stream = try await Listening(server, feed)
      _ = try await stream.text()
      for number in 1...4 { feed.publish("\(number)") }
      let versions = try await stream.text().split(separator: "\n").filter { $0.hasPrefix("id: ") }
        .compactMap { SyncToken($0.dropFirst(4))?.version }
      #expect(versions == expected)
    }
  }

  @Test func `a stream can end in all ways, and its listeners are removed`() async throws {
    try await FaultServer.with(feed.respond) { server in
      for (ending, seen) in [(nil, RawConnection.Ending.closed), (FaultEnding.reset, .reset), (.hang, .timeout)] {
        let stream = try await Listening(server, feed)
        _ = try await stream.text()
        feed.sendHeartbeat()
        feed.endStreams(ending)
        #expect(try await stream.connection.text(before: ":\n\n").isEmpty)
        #expect(await stream.connection.read(timeout: .milliseconds(ending == .hang ? 300 : 30_000)).ending == seen)
      }
      var stream: Listening? = try await Listening(server, feed)
      #expect(feed.eventStreams == 1)
      #expect(stream != nil)
      stream = nil
      try await eventually("it is forgotten") { feed.eventStreams == 0 }
    }
  }

  @Test func `a fault can cut a stream at a byte`() async throws {
    feed.fault(next: .reset(at: .body(40)), path: "/v1/events")
    try await FaultServer.with(feed.respond) { server in
      let stream = try await Listening(server, feed)
      feed.publish("1")
      #expect(await stream.connection.read().ending == .reset)
    }
  }
}

/// An event stream whose head has been read.
private struct Listening {
  let connection: RawConnection
  private let feed: FaultFeed

  init(_ server: FaultServer, _ feed: FaultFeed, _ headers: String...) async throws {
    let before = feed.eventStreams
    self.feed = feed
    connection = try RawConnection(port: server.port)
    try connection.send("GET /v1/events HTTP/1.1\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n")
    let head = try await connection.text(before: "\r\n\r\n")
    guard head.contains("Content-Type: text/event-stream\r\n"), feed.eventStreams == before + 1 else {
      throw RawConnection.Failure()
    }
  }

  /// Returns the text that has been sent but not read so far.
  func text() async throws -> String {
    let mark = ":\(UUID())\n\n"
    feed.sendToStreams(mark)
    // Other readers have left marks of their own.
    return try await connection.text(before: mark).replacing(/:[0-9A-F-]{36}\n\n/, with: "")
  }
}
