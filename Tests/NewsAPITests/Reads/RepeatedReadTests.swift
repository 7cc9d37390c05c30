import Foundation
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite("Responses from memory") struct RepeatedReadTests {
  @Test(
    "They are byte for byte equal to responses without memory, for all reads, between and during all kinds of changes")
  func sameBytes() async throws {
    // `make fuzz` compares more rounds.
    let rounds = ProcessInfo.processInfo.environment["TIDINGS_FUZZ_SECONDS"] == nil ? 30 : 120
    try await TestServer.with(settings: { $0.publicURL = "https://news.example" }) { server in
      try await server.makeTopics(["a", "b", "sport"])
      try await server.beside({
        $0.cachesViews = false
        $0.publicURL = "https://news.example"
      }) { plain in
        var random = SplitMix64(seed: 1)
        var requests = ReadGenerator()
        var count = 0
        for round in 0..<rounds {
          try await Self.change(server, round, &random, &requests)
          for index in 0..<13 {
            let (bytes, number) = requests.connection(using: &random)
            count += number
            async let published: Void = Self.publish(server, index % 4 == 0)
            let during = try await Self.compare(bytes, server, plain, &requests)
            try await published
            // The database may have been ahead of the state of both processes.
            let isSettled = try await during.state == Self.responseLines(Self.stateRequests, server)
            let found = isSettled ? during : try await Self.compare(bytes, server, plain, &requests)
            for difference in found.differences {
              Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(difference)")
            }
          }
        }
        #expect(count >= 40 * rounds)
        let hot = try await server.scrape().value("tidings_http_hot_requests_total")
        #expect(hot > Double(8 * rounds), "the router answered nearly all")
        #expect(try await plain.scrape().value("tidings_http_hot_requests_total") == 0)
      }
    }
  }

  private static func change(
    _ server: TestServer, _ round: Int, _ random: inout SplitMix64, _ requests: inout ReadGenerator
  ) async throws {
    switch round % 6 {
    case 3:
      try? await server.store.retract(requests.items.randomElement(using: &random) ?? UUID(), reason: nil, if: .exists)
    case 4:
      let body = #"{"titles": {"en": "\#(round)"}, "position": \#(round % 3)}"#
      _ = try await server.write("PUT", "topics/sport", body, ("If-Match", "*"))
    case 5: break
    default:
      let topics = [["a"], ["sport"], [], ["a", "b"]].randomElement(using: &random) ?? []
      let text = String(repeating: "words \(round) ", count: round % 5 == 0 ? 200 : 3)
      requests.items.append(
        try await server.publish(text, date: "2026-01-\(10 + round % 20)T00:00:00Z", topics: topics).item.id)
    }
    requests.token = try await server.get("/v1/state").json(FeedState.self).feed.description
  }

  private static func publish(_ server: TestServer, _ isWanted: Bool) async throws {
    if isWanted { _ = try await server.publish("meanwhile", topics: ["a"]) }
  }

  /// Sends the requests to both servers until their state is equal and does not change meanwhile. The server with
  /// memory is asked twice, between two requests to the other one.
  ///
  /// - Returns: The state of both servers, and the differences between their responses.
  private static func compare(
    _ bytes: Data, _ server: TestServer, _ plain: TestServer, _ requests: inout ReadGenerator
  ) async throws -> (state: [String], differences: [String]) {
    for _ in 0..<200 {
      let state = try await responseLines(stateRequests, server)
      // The other process is notified of a publish a little later.
      guard try await responseLines(stateRequests, plain) == state else { continue }
      let expected = try await responseLines(bytes, plain)
      requests.learn(from: expected)
      let given = [try await responseLines(bytes, server), try await responseLines(bytes, server)]
      guard try await responseLines(bytes, plain) == expected,
        try await responseLines(stateRequests, server) == state
      else {
        continue
      }
      // The server that created the page later omits its date for longer.
      let isDate = String(decoding: bytes, as: UTF8.self).contains("If-Modified-Since")
      if given.contains(where: { $0 != expected && (isDate || undated($0) == undated(expected)) }) { continue }
      let differences = given.filter { $0 != expected }.map { response in
        let lines = zip(response, expected).first { $0 != $1 }
        return "\(lines.map { "\($0.0) instead of \($0.1)" } ?? "more or less"), in \(response.count) lines"
      }
      return (state, differences)
    }
    return ([], ["never the same"])
  }

  private static func undated(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix("Last-Modified: ") } }

  private static let stateRequests = Data(
    ["/v1/state", "/v1/topics"].map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined().utf8)

  /// Returns the lines of the responses without those that always differ.
  private static func responseLines(_ bytes: Data, _ server: TestServer) async throws -> [String] {
    let all = try await RawConnection.bytes([bytes], port: server.port)
    return String(decoding: all, as: UTF8.self).components(separatedBy: "\r\n")
      .filter { !$0.hasPrefix("Date: ") && !$0.hasPrefix("X-Request-Id: ") }
  }

  @Test("The next read after a publish contains it, and the entity tag stays if the content does")
  func freshness() async throws {
    try await TestServer.with { server in
      try await server.makeTopics(["a", "b"])
      let item = try await server.publish("one", topics: ["a"]).item
      let path = "/v1/items/\(item.id.uuidString.lowercased())"
      for number in 0..<50 {
        // Often enough that each event loop has the responses.
        for _ in 0..<6 {
          for target in ["/v1/items", "/v1/items?topics=a", path] { _ = try await server.get(target) }
        }
        let elsewhere = try await server.get("/v1/items?topics=b")["ETag"]
        let title = "title \(number)"
        _ = try await server.write("PATCH", "items/\(item.id)", #"{"title": "\#(title)"}"#, ("If-Match", "*"))
        #expect(try await server.get(path).json(NewsItem.self).title == title)
        for target in ["/v1/items", "/v1/items?topics=a"] {
          #expect(try await server.get(target).json(ItemList.self).items.map(\.title) == [title])
        }
        #expect(try await server.get("/v1/items?topics=b")["ETag"] == elsewhere)
      }
    }
  }

  @Test("A connection that repeats its request receives what was published since, also within the same second")
  func repeatedOnOneConnection() async throws {
    try await TestServer.with { server in
      let item = try await server.publish("one").item
      let connection = try BlockingConnection(port: server.port)
      func read() throws -> [String?] {
        let body = try connection.exchange("GET /v1/items HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try NewsJSON.decode(ItemList.self, from: body).items.map(\.title)
      }
      for number in 0..<20 {
        for _ in 0..<5 { _ = try read() }
        _ = try await server.write("PATCH", "items/\(item.id)", #"{"title": "title \#(number)"}"#, ("If-Match", "*"))
        #expect(try read() == ["title \(number)"])
      }
    }
  }

  @Test("Responses come from memory while the database does not respond, and are refused after the age limit")
  func withoutDatabase() async throws {
    try await TestServer.with(staleLimit: .seconds(3)) { server in
      _ = try await server.publish("x")
      let repeated = ["/v1/items?q=x", "/v1/changes"]
      for target in ["/v1/items"] + repeated + repeated { _ = try await server.get(target) }
      await server.store.shutdown()
      #expect(try await server.get("/v1/items").status == 200)
      #expect(try await server.get("/readyz").status == 200)
      // First pages are in memory from the start, all other reads from their second use.
      for target in repeated + ["/v1/items?limit=7"] {
        #expect(try await server.get(target).status == 200, "\(target)")
      }
      #expect(try await server.get("/v1/items?q=y").status == 503)
      try await eventually("the limit has passed") { try await server.get("/v1/items").status == 503 }
      #expect(try await server.get("/v1/state").status == 503)
      #expect(try await server.get("/readyz").status == 503)
      #expect(try await server.get("/healthz").status == 200)
    }
  }

  @Test(
    "The lowest age limits refuse no read while the database responds, and all reads once it does not",
    arguments: [0, 1])
  func lowestLimits(seconds: Int) async throws {
    try await TestServer.with(staleLimit: .seconds(seconds)) { server in
      _ = try await server.publish("x")
      let end = ContinuousClock.now + .seconds(4)
      while .now < end {
        for target in ["/v1/items", "/v1/state", "/readyz"] { #expect(try await server.get(target).status == 200) }
        try await Task.sleep(for: .milliseconds(20))
      }
      await server.store.shutdown()
      try await eventually("reads are refused") { try await server.get("/v1/items").status == 503 }
      #expect(try await server.get("/readyz").status == 503)
    }
  }

  @Test("Searches that are made only once are not stored in memory")
  func onlyRepeatedLists() async throws {
    try await TestServer.with { server in
      _ = try await server.publish("x")
      for target in ["/v1/items?q=x", "/v1/items?q=y", "/v1/items?q=x"] { _ = try await server.get(target) }
      let before = try await server.scrape().value("tidings_http_hot_requests_total")
      _ = try await server.get("/v1/items?q=y")
      #expect(try await server.scrape().value("tidings_http_hot_requests_total") == before)
      _ = try await server.get("/v1/items?q=x")
      #expect(try await server.scrape().value("tidings_http_hot_requests_total") == before + 1)
    }
  }
}
