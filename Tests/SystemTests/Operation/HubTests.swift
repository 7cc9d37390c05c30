import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Processes that serve, and a hub.
@Suite struct HubTests {
  private static func settings(_ web: FaultServer) -> [String: String] {
    [
      "TIDINGS_HUB_URL": "\(web.url)/hub", "TIDINGS_PUBLIC_URL": "https://news.example",
      "TIDINGS_ALLOWED_NETWORKS": "127.0.0.1",
    ]
  }

  private static func form(_ request: FaultRequest) -> [String: String] {
    FaultRequest(target: "/?" + String(decoding: request.body, as: UTF8.self)).query
  }

  private static let addresses = ["atom", "json", "rss"].map { "https://news.example/feed.\($0)" }

  @Test("Two servers announce a publication once, and an announcement survives the server that has failed to send it")
  func announcements() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 202) }) { web in
      try await Installation.with { installation in
        let key = try await installation.makeKey()
        let changes = Self.settings(web)
        @Sendable func publish(_ server: RunningServer) async throws {
          let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
          #expect(try await server.send("POST", "/v1/editorial/items", key: key, body: body).status == 201)
        }
        @Sendable func expectAnnouncement(of version: Int) async throws {
          try await eventually("version \(version) is announced") {
            try await installation.value(
              """
              SELECT count(*) FROM announcements AS a JOIN announcing_hubs AS h USING (hub)
              WHERE a.version = \(version) AND h.lease IS NULL
              """) == 3
          }
        }
        try await installation.serve(changes: changes) { one in
          try await installation.serve(changes: changes) { _ in
            try await publish(one)
            try await expectAnnouncement(of: 1)
          }
        }
        #expect(web.takeRequests().compactMap { Self.form($0)["hub.url"] }.sorted() == Self.addresses)

        web.respond { _ in FaultResponse(status: 503) }
        _ = try await installation.sql.query("UPDATE announcing_hubs SET next_request = clock_timestamp()")
        try await installation.serve(changes: changes) { server in
          try await publish(server)
          try await eventually("the announcement has failed") {
            try await installation.value("SELECT count(*) FROM announcing_hubs WHERE failures > 0 AND lease IS NULL")
              == 1
          }
          await server.process.kill()
        }
        web.respond { _ in FaultResponse(status: 202) }
        _ = web.takeRequests()
        _ = try await installation.sql.query("UPDATE announcing_hubs SET next_request = clock_timestamp()")
        try await installation.serve(changes: changes) { _ in try await expectAnnouncement(of: 2) }
        #expect(web.takeRequests().compactMap { Self.form($0)["hub.url"] }.sorted() == Self.addresses)
      }
    }
  }

  @Test("A hub of its own without a public address is a warning")
  func withoutAddress() async throws {
    try await Installation.with { installation in
      try await installation.serve(changes: ["TIDINGS_HUB_URL": "https://hub.example/"]) { server in
        server.process.send(SIGTERM)
        let result = await server.process.result()
        #expect(result.status == 0 && result.errors.contains("feeds are not announced to TIDINGS_HUB_URL"))
      }
    }
  }

  private static func feed(_ titles: [String], _ web: FaultServer) -> FaultResponse {
    let entries = titles.map {
      "<item><guid>\($0)</guid><title>\($0)</title><pubDate>1 Jan 2026 00:00 GMT</pubDate></item>"
    }
    let text = """
      <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Port</title>
      <atom:link rel="hub" href="\(web.url)/hub"/>\(entries.joined())</channel></rss>
      """
    return FaultResponse(body: Data(text.utf8))
  }

  @Test(
    "A server with or without an own hub leases that of a feed by itself, and publishes what a notice leads to",
    arguments: [nil, "/own"] as [String?])
  func subscription(ownHub: String?) async throws {
    try await FaultServer.with { web in
      web.respond { $0.path == "/hub" ? FaultResponse(status: 202) : Self.feed(["a"], web) }
      try await Installation.with { installation in
        var changes = Self.settings(web)
        changes["TIDINGS_HUB_URL"] = ownHub.map { web.url + $0 } ?? ""
        let made = try await installation.run("subscriptions", "add", "\(web.url)/feed", changes: changes)
        #expect(made.status == 0, "\(made.errors)")
        try await installation.serve(changes: changes) { server in
          try await eventually("the hub is asked") { web.requests.contains { $0.path == "/hub" } }
          let form = Self.form(try #require(web.requests.first { $0.path == "/hub" }))
          let callback = try #require(form["hub.callback"]?.replacing("https://news.example", with: ""))
          let answer = try await server.send(
            "GET", "\(callback)?hub.mode=subscribe&hub.topic=\(form["hub.topic"] ?? "")&hub.challenge=yes")
          #expect(answer.status == 200 && answer.text == "yes")

          web.respond { $0.path == "/hub" ? FaultResponse(status: 202) : Self.feed(["a", "b"], web) }
          _ = try await installation.sql.query(
            "UPDATE subscriptions SET last_success = clock_timestamp() - interval '1 minute'")
          let signature = hubSignature(of: "x", secret: form["hub.secret"] ?? "")
          let notice = try await server.send(
            "POST", callback, headers: [("X-Hub-Signature", signature)], body: "x")
          #expect(notice.status == 204)
          try await eventually("the entry is published") {
            try await server.send("GET", "/v1/items").json(ItemList.self).items.count == 2
          }
        }
      }
    }
  }
}
