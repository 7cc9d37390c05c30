import Foundation
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct LiveTests {
  private static let events = "/console/live/events"

  /// Runs the body with a console whose counters are read, and whose live pages are refreshed, all the time.
  private static func with<Value: Sendable>(
    streams: Int = 16, perKey: Int = 4, _ body: @Sendable (ConsoleServer) async throws -> Value
  ) async throws -> Value {
    try await ConsoleServer.with(
      settings: { $0.trafficInterval = .milliseconds(20) },
      console: {
        $0.liveInterval = .milliseconds(50)
        $0.maximumLiveStreams = streams
        $0.maximumLiveStreamsPerKey = perKey
      }, body)
  }

  private static func stream(_ console: ConsoleServer, _ browser: ConsoleBrowser) async throws -> EventSource {
    let cookie = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    return try await EventSource(console.server.url, path: events, cookie: cookie)
  }

  /// Returns the data of the first event that contains a text.
  private static func next(_ source: inout EventSource, with text: String) async throws -> String {
    while let event = try await source.next() {
      if event.data.contains(text) { return event.data }
    }
    throw TestResponse.Unexpected(description: "the stream has ended")
  }

  /// Opens a stream, and returns a task that reads it to its end, once the first event has arrived.
  ///
  /// - Returns: The types of the later events. The task throws if the stream is cut off.
  private static func reading(
    _ console: ConsoleServer, _ browser: ConsoleBrowser
  ) async throws -> Task<Set<String>, any Error> {
    let (opened, opening) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      defer { opening.finish() }
      var source = try await stream(console, browser)
      _ = try await next(&source, with: "<section")
      opening.finish()
      var types: Set<String> = []
      while let event = try await source.next() { types.insert(event.type) }
      return types
    }
    for await _ in opened {}
    return task
  }

  /// The terms and figures of a page or a part.
  private static func figures(_ html: String) throws -> [String: String] {
    let scan = try PageScan(html.hasPrefix("<!doctype") ? html : "<!doctype html>\(html)", as: .console)
    let tags = scan.tags.filter { $0.name == "dt" || $0.name == "strong" }
    return Dictionary(
      zip(tags, tags.dropFirst()).filter { $0.name == "dt" && $1.name == "strong" }.map { ($0.text, $1.text) }
    ) { first, _ in first }
  }

  @Test("The page shows what readers have asked for, in numbers, pictures and tables")
  func requests() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn()
      _ = try await console.server.publish(String(repeating: "Fog over the harbour. ", count: 200))
      let list = try await console.server.get("/v1/items")
      for _ in 0..<9 {
        #expect(try await console.server.get("/v1/items", ("If-None-Match", list["ETag"] ?? "")).status == 304)
      }
      try await eventually("the requests are counted") {
        try Self.figures(await browser.get("/console/live").text)["Answered with 304"] == "90 %"
      }
      let page = try await browser.get("/console/live")
      let scan = try page.scan
      #expect(scan.accessibilityProblems == [])
      #expect(scan.text.contains("10 requests since the start of this server"))
      let pictures = scan.all("svg")
      #expect(pictures.count == 3 && pictures.allSatisfy { $0["role"] == "img" })
      let ids = scan.tags.compactMap { $0["id"] }
      for picture in pictures {
        for id in (picture["aria-labelledby"] ?? "").split(separator: " ") { #expect(ids.contains(String(id))) }
      }
      // Each picture has its values in a table. The requests may be older than the shortest rate, but not than an hour.
      #expect(scan.all("table").count >= 2)
      let cells = scan.all("td").map(\.text)
      #expect(cells.contains("90 %"))
      #expect(scan.all("rect").contains { $0["class"] == "bar part" })
      let figures = try Self.figures(page.text)
      #expect(figures["Sent"]?.hasSuffix("B") == true && figures["Sent"] != "0 B")
      #expect(figures["Saved"]?.hasSuffix("kB") == true)
    }
  }

  @Test("Requests of editors, of monitoring and of the console are not counted")
  func others() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn()
      _ = try await console.server.publish("Fog lifts.")
      for target in ["/healthz", "/readyz", "/metrics", "/nothing"] { _ = try await console.server.get(target) }
      _ = try await console.server.send("GET", "/v1/editorial/items", key: console.server.key)
      let one = try await browser.get("/console/live").text
      #expect(one.contains(">0 requests since the start of this server"))
      _ = try await console.server.get("/v1/state")
      #expect(try await browser.get("/console/live").text.contains(">1 requests since the start of this server"))
    }
  }

  @Test("The page shows connections, long polls and event streams")
  func clients() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn()
      let before = try Self.figures(await browser.get("/console/live").text)
      #expect(before["Long polls"] == "0" && before["Event streams"] == "0" && before["Live pages"] == "0")
      let token = try await console.server.get("/v1/items")["Sync-Token"] ?? ""
      async let poll = console.server.get("/v1/changes?since=\(token)&wait=50")
      let news = try await EventSource(console.server.url)
      let live = try await Self.reading(console, browser)
      try await eventually("all are connected") {
        let figures = try Self.figures(await browser.get("/console/live").text)
        return ["Long polls", "Event streams", "Live pages"].allSatisfy { figures[$0] == "1" }
      }
      let figures = try Self.figures(await browser.get("/console/live").text)
      #expect(Int(figures["Connections"] ?? "") ?? 0 >= 4)
      _ = try await console.server.publish("Fog lifts.")
      #expect(try await poll.status == 200)
      #expect(news.response.status == 200)
      live.cancel()
    }
  }

  @Test("A connection that has ended is no longer counted")
  func connections() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn()
      func count() async throws -> Int {
        Int(try Self.figures(await browser.get("/console/live").text)["Connections"] ?? "") ?? -1
      }
      let before = try await count()
      var others = try (0..<40).map { _ in try BlockingConnection(port: console.server.port) }
      try await eventually("they are counted") { try await count() >= 40 }
      others.removeAll()
      try await eventually("they are forgotten") { try await count() <= before + 20 }
    }
  }

  @Test("Versions have their titles, as far as the key has access to them")
  func versions() async throws {
    try await Self.with { console in
      try await console.server.makeTopics(["harbour", "sport"])
      let one = try await console.server.publish("one", topics: ["harbour"], title: "Fog over the harbour")
      _ = try await console.server.publish("two", topics: ["sport"], title: "Boats race")
      _ = try await console.item(#""state": "draft", "text": "x", "title": "Secret plans""#)
      let gone = try await console.server.publish("three", topics: ["harbour"], title: "Ferry stops")
      let path = "items/\(gone.item.id.uuidString.lowercased())"
      _ = try await console.server.write("DELETE", path, nil, ("If-Match", "*"))
      let expected: [([APIKey.Permission], [String]?, [String])] = [
        ([.itemsWrite], nil, ["Ferry stops", "Boats race", "Fog over the harbour"]),
        ([.itemsWrite], ["harbour"], ["Ferry stops", "Fog over the harbour"]),
        ([.itemsWrite], ["sport"], ["Boats race"]), ([.mediaWrite], nil, ["Boats race", "Fog over the harbour"]),
        ([.mediaWrite], ["harbour"], ["Fog over the harbour"]),
      ]
      for (permissions, topics, titles) in expected {
        let page = try await console.signedIn(permissions, topics: topics).get("/console/live")
        let scan = try page.scan
        let rows = scan.tags.filter { $0["class"] == "title" }
        #expect(rows.count == titles.count)
        for title in ["Fog over the harbour", "Boats race", "Ferry stops", "Secret plans"] {
          #expect(page.text.contains(title) == titles.contains(title), "\(title) for \(permissions) \(topics ?? [])")
        }
        #expect(
          scan.addresses.contains(ConsoleServer.path(one)) == (permissions == [.itemsWrite] && topics != ["sport"]))
      }
    }
  }

  @Test("Only administrators see the database")
  func database() async throws {
    try await Self.with { console in
      for permissions in [[.itemsPublish], [.mediaWrite], [.itemsWrite, .mediaWrite]] as [[APIKey.Permission]] {
        let page = try await console.signedIn(permissions).get("/console/live")
        #expect(page.status == 200)
        for word in ["Database", "PostgreSQL", "Schema", "127.0.0.1", "Server processes"] {
          #expect(!page.text.contains(word), "\(word) for \(permissions)")
        }
      }
      let browser = try await console.signedIn([.admin])
      try await eventually("this process listens") {
        try Self.figures(await browser.get("/console/live").text)["Server processes"] == "1"
      }
      let page = try await browser.get("/console/live")
      let figures = try Self.figures(page.text)
      #expect(figures["Answer time"]?.hasSuffix(" ms") == true)
      #expect(figures["Size"]?.hasSuffix("MB") == true)
      let schema = try #require(Migration.required.last?.name.wholeMatch(of: /([0-9]+)_(.+)\.sql/))
      #expect(figures["Schema"] == String(schema.1))
      #expect(try page.scan.all("span").contains { $0.text == schema.2.replacing("_", with: " ") })
      #expect(page.text.firstMatch(of: />PostgreSQL [0-9.]+</) != nil)
      #expect(figures["Connections in use"]?.hasSuffix("/ \(console.store.connections.limit)") == true)
      #expect(page.text.contains("No standby replicates this database."))
      #expect(try page.scan.accessibilityProblems == [])
    }
  }

  @Test("Events have the main part of the page, with each new version")
  func stream() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn([.itemsPublish])
      var source = try await Self.stream(console, browser)
      #expect(source.response["Content-Type"] == "text/event-stream")
      #expect(source.response["Cache-Control"] == "no-store")
      #expect(source.response["X-Accel-Buffering"] == "no")
      #expect(source.response["X-Content-Type-Options"] == "nosniff")
      #expect(source.response["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
      let first = try await Self.next(&source, with: "Nothing is published yet.")
      #expect(first.hasPrefix("<p") && first.hasSuffix("</section>"))
      #expect(!first.contains("Database"))
      let hostile = #"<b>Fog</b>\u2028\" onclick=\"x"#
      _ = try await console.server.publish("x", title: hostile)
      let second = try await Self.next(&source, with: "&lt;b&gt;Fog")
      let scan = try PageScan("<!doctype html>\(second)", as: .console)
      #expect(scan.tags.filter { $0.name == "svg" }.count == 3)
      #expect(
        scan.tags.contains { $0.text == "<b>Fog</b>\u{2028}\" onclick=\"x" || $0.text == "<b>Fog</b> \" onclick=\"x" })
    }
  }

  @Test("A stream ends with its session")
  func endsWithSession() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn(name: "mara")
      var source = try await Self.stream(console, browser)
      _ = try await Self.next(&source, with: "<section")
      let session = try #require(try await console.store.sessions().first)
      try await console.store.endSession(session.id)
      var last = EventSource.Event()
      while let event = try await source.next() { last = event }
      #expect(last.type == "end")
      // The same holds for the key of a session.
      let other = try await console.signedIn(name: "otto")
      source = try await Self.stream(console, other)
      _ = try await Self.next(&source, with: "<section")
      let key = try #require(try await console.store.keys().first { $0.name == "otto" })
      try await console.store.revokeKey(key.id)
      while let event = try await source.next() { last = event }
      #expect(last.type == "end")
      #expect(try await browser.get(Self.events).status == 303)
    }
  }

  @Test("A stream does not count as a use of its session")
  func use() async throws {
    try await Self.with { console in
      let browser = try await console.signedIn()
      var source = try await Self.stream(console, browser)
      _ = try await Self.next(&source, with: "<section")
      _ = try await console.server.sql.query("UPDATE console_sessions SET used_at = used_at - interval '11 hours'")
      for _ in 0..<3 { _ = try await Self.next(&source, with: "<section") }
      _ = try await console.server.sql.query("UPDATE console_sessions SET used_at = used_at - interval '2 hours'")
      var last = EventSource.Event()
      while let event = try await source.next() { last = event }
      #expect(last.type == "end")
    }
  }

  @Test("There is a limit of streams, and a place is free again after each")
  func limit() async throws {
    try await Self.with(streams: 2) { console in
      let browser = try await console.signedIn()
      let first = try await Self.reading(console, browser)
      let second = try await Self.reading(console, browser)
      let refused = try await browser.get(Self.events)
      #expect(refused.status == 503)
      #expect(refused["Retry-After"] == "30" && refused["Content-Type"] == "text/html; charset=utf-8")
      #expect(try refused.scan.text.contains("Too many live pages"))
      #expect(try await browser.get("/console/live").status == 200)
      #expect(try await browser.send("HEAD", Self.events, [], nil).status == 200)
      first.cancel()
      second.cancel()
      try await eventually("the places are free") {
        try Self.figures(await browser.get("/console/live").text)["Live pages"] == "0"
      }
      var source = try await Self.stream(console, browser)
      _ = try await Self.next(&source, with: "<section")
    }
  }

  @Test("A key has a limited number of live pages, in all its sessions, and takes none from other keys")
  func limitPerKey() async throws {
    try await Self.with(perKey: 2) { console in
      let browser = try await console.signedIn()
      let first = try await Self.reading(console, browser)
      let second = try await Self.reading(console, browser)
      #expect(try await browser.get(Self.events).status == 503)
      var other = try await Self.stream(console, try await console.signedIn([.admin], name: "admin"))
      _ = try await Self.next(&other, with: "<section")
      first.cancel()
      try await eventually("a place is free") {
        try Self.figures(await browser.get("/console/live").text)["Live pages"] == "2"
      }
      var third = try await Self.stream(console, browser)
      _ = try await Self.next(&third, with: "<section")
      second.cancel()
    }
  }

  @Test("Open streams end when the server stops, without an event that they have ended for good")
  func shutdown() async throws {
    let rest = try await Self.with { console in
      let browser = try await console.signedIn()
      return try await Self.reading(console, browser)
    }
    #expect(try await rest.value.isSubset(of: [""]))
  }

  @Test("Without a session there is no page and no stream, and parameters are refused")
  func access() async throws {
    try await Self.with { console in
      for target in ["/console/live", Self.events] {
        let page = try await console.browser().get(target)
        #expect(page.status == 303 && page["Location"]?.hasPrefix("/console/sign-in") == true)
        let browser = try await console.signedIn()
        #expect(try await browser.get("\(target)?x=1").status == 400)
        #expect(try await browser.send("POST", target, [], Data()).status == 405)
      }
    }
  }

  @Test("The page works without a script, by a link that loads it again")
  func withoutScript() async throws {
    try await Self.with { console in
      let page = try await console.signedIn().get("/console/live")
      let scan = try page.scan
      #expect(scan.tags.first { $0["id"] == "live-reload" }?["href"] == "/console/live")
      #expect(scan.tags.first { $0["id"] == "live-pause" }?["hidden"] != nil)
      #expect(scan.tags.first { $0["id"] == "live" }?["data-events"] == Self.events)
      #expect(page.text.utf8.count < 24_000)
    }
  }
}
