import Foundation
import News
import NewsAPI
import NewsConsole
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The live page while something fails.
@Suite struct LiveFaultTests {
  private static let events = "/console/live/events"

  private static func cookie(_ browser: ConsoleBrowser) -> String {
    browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
  }

  /// The number of live pages that are refreshed.
  private static func viewers(_ browser: ConsoleBrowser) async throws -> String? {
    let tags = try await browser.get("/console/live").scan.tags.filter { $0.name == "dt" || $0.name == "strong" }
    return zip(tags, tags.dropFirst()).first { $0.0.text == "Live pages" }?.1.text
  }

  @Test("A client that reads nothing loses its stream, and with it one of the places, after 30 seconds by default")
  func stall() async throws {
    #expect(NewsConsole.Settings().maximumLiveStall == .seconds(30))
    try await ConsoleServer.with(console: {
      $0.liveInterval = .milliseconds(5)
      $0.maximumLiveStall = .milliseconds(100)
    }) { console in
      let browser = try await console.signedIn([.admin])
      let client = try BlockingConnection(port: console.server.port)
      try client.send(
        "GET \(Self.events) HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \(Self.cookie(browser))\r\n\r\n")
      try await eventually("the stream is open") { try await Self.viewers(browser) == "1" }
      // Until then, the buffers of both sides fill up.
      try await eventually("the place is free") { try await Self.viewers(browser) == "0" }
      withExtendedLifetime(client) {}
    }
  }

  @Test("While the database does not answer, the events go on and say so, and the page is an error")
  func silentDatabase() async throws {
    try await ConsoleServer.with(console: { $0.liveInterval = .milliseconds(50) }) { console in
      let browser = try await console.signedIn([.admin])
      let writer = try await console.signedIn([.itemsWrite], name: "writer")
      let note = "The database does not answer."
      let name: String = try #require(
        try await console.server.sql.query("SELECT current_database()::text AS name").first?.decode("name"))
      let server = try TestCluster.sharedURL
      var source = try await EventSource(console.server.url, path: Self.events, cookie: Self.cookie(browser))
      var other = try await EventSource(console.server.url, path: Self.events, cookie: Self.cookie(writer))
      let first = try #require(try await source.next())
      #expect(first.data.contains("PostgreSQL") && !first.data.contains(note))
      try await TestDatabase.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS false", at: server)
      try await TestDatabase.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'", at: server)
      var event = first
      while !event.data.contains(note) { event = try #require(try await source.next()) }
      let scan = try PageScan("<!doctype html>\(event.data)", as: .console)
      // The values that the process knows itself are still there.
      #expect(scan.text.contains("Connections in use") && !scan.text.contains("PostgreSQL"))
      #expect(scan.tags.filter { $0.name == "svg" }.count == 3)
      // Others do not see the database at all.
      for _ in 0..<3 {
        let data = try #require(try await other.next()).data
        #expect(!data.contains(note) && !data.contains("Connections in use"))
      }
      try await eventually("the page is an error") { try await browser.get("/console/live").status == 503 }
      let page = try await browser.get("/console/live")
      #expect(page["Content-Type"] == "text/html; charset=utf-8" && page["Retry-After"] != nil)

      try await TestDatabase.execute("ALTER DATABASE \(name) ALLOW_CONNECTIONS true", at: server)
      while event.data.contains(note) { event = try #require(try await source.next()) }
      #expect(event.data.contains("PostgreSQL"))
    }
  }
}
