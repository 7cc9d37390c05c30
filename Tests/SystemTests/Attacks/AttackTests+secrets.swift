import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

extension AttackTests {
  /// A kind of request with a secret that does not exist.
  enum Secret: String, CaseIterable, Sendable {
    case key, cookie, code, device, callback

    /// Returns a request with a new random secret.
    var request: String {
      let uuid = UUID().uuidString.lowercased()
      return switch self {
      case .key: "GET /v1/editorial/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer tdk_\(uuid.prefix(8))_x\r\n\r\n"
      case .cookie: "GET /console HTTP/1.1\r\nHost: a\r\nCookie: __Host-tidings=\(Self.random(43))\r\n\r\n"
      case .code: Self.post("/console/link", "application/x-www-form-urlencoded", "code=\(Self.random(43))")
      case .device:
        "DELETE /v1/devices/\(uuid) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(Self.random(43))\r\n\r\n"
      case .callback: Self.post("/v1/websub/\(Self.random(22))", "text/xml", "x")
      }
    }

    private static func post(_ path: String, _ type: String, _ body: String) -> String {
      """
      POST \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(address)\r\nContent-Type: \(type)\r\n\
      Content-Length: \(body.utf8.count)\r\n\r\n\(body)
      """
    }

    /// A random address, because attempts to sign in are limited by address.
    private static var address: String { "198.18.\(Int.random(in: 0...255)).\(Int.random(in: 0...255))" }

    private static func random(_ count: Int) -> String {
      String((0..<count).compactMap { _ in "abcdefghijklmnopqrstuvwxyz0123456789-_".randomElement() })
    }
  }

  @Test("Very many requests with random secrets block neither readers nor editors", arguments: Secret.allCases)
  func randomSecrets(_ secret: Secret) async throws {
    // Codes are limited by address, and the console answers remote addresses only with https.
    let changes = ["TIDINGS_TRUSTED_PROXIES": "127.0.0.1", "TIDINGS_PUBLIC_URL": "https://news.example"]
    try await Self.with("random secrets: \(secret)", growth: 256, changes: changes) { target in
      let connections = try await ConnectionSet(Self.runsLongTests ? 1000 : 100, port: target.server.port) { _ in
        (0..<(Self.runsLongTests ? 100 : 20)).map { _ in secret.request }.joined()
      }
      // They are read from until all requests have been answered, or the time is over.
      let end = ContinuousClock.now + .seconds(Self.runsLongTests ? 30 : 3)
      while ContinuousClock.now < end {
        _ = try await connections.countOpen()
        try await Task.sleep(for: .milliseconds(20))
      }
      connections.closeAll()
    }
  }

  @Test("Live pages of one session slow nobody down")
  func livePages() async throws {
    try await Self.with("live pages of one session", growth: 256) { target in
      var visitor = ConsoleVisitor(port: target.server.port)
      let signedIn = try await visitor.post("/console/sign-in", [("key", target.key)])
      #expect(signedIn.status == 303)
      let cookie = visitor.cookie ?? ""
      let request = "GET /console/live/events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \(cookie)\r\n\r\n"
      let connections = try await ConnectionSet(
        Self.runsLongTests ? 500 : 40, port: target.server.port, firstBytes: request)
      let end = ContinuousClock.now + .seconds(Self.runsLongTests ? 30 : 3)
      while ContinuousClock.now < end {
        _ = try await connections.countOpen()
        try await Task.sleep(for: .milliseconds(100))
      }
      connections.closeAll()
    }
  }

  @Test("Webhooks whose receivers never answer delay neither other webhooks nor editors")
  func slowWebhooks() async throws {
    try await FaultServer.with({ request in
      request.path == "/slow" ? FaultResponse().hanging(at: .start) : FaultResponse(status: 204)
    }) { receiver in
      let changes = ["TIDINGS_ALLOWED_NETWORKS": "127.0.0.1", "TIDINGS_ALLOW_PLAIN_HTTP": "true"]
      try await Self.with("webhooks that never answer", growth: 256, changes: changes) { target in
        let administrator = try await target.installation.makeKey(scopes: ["admin"])
        for path in Array(repeating: "/slow", count: 50) + ["/good", "/good"] {
          let answer = try await target.server.send(
            "POST", "/v1/editorial/webhooks", key: administrator,
            body: #"{"url": "http://127.0.0.1:\#(receiver.port)\#(path)"}"#)
          try #require(answer.status == 201)
        }
        let count = 20
        let ids = try await target.publish(count)
        try await eventually("the other webhooks have all events") {
          let events = receiver.requests.filter { $0.path == "/good" }
          let bodies = events.map { String(decoding: $0.body, as: UTF8.self) }
          return ids.allSatisfy { id in bodies.count { $0.contains(id) } == 2 }
        }
        // The server would go on trying, with a connection to each receiver.
        _ = try await target.installation.sql.query("DELETE FROM webhooks")
      }
    }
  }
}
