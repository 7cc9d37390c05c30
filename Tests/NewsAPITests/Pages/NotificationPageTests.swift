import Foundation
import News
import NewsAPI
import TestKit
import TestSupport
import Testing

/// The button for notifications on the pages of lists, and the service worker, through a real server.
@Suite struct NotificationPageTests {
  private static let strictPolicy =
    "default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"

  /// Runs the body with a server that offers Web Push.
  private static func withServer(
    _ change: @escaping @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.webpush], webPush: .init(publicKey: "BPoint"))
      change(&settings)
    }) { try await body($0) }
  }

  @Test("Lists have a button that only a script shows, and their policy allows scripts of this server alone")
  func lists() async throws {
    try await Self.withServer { server in
      try await server.makeTopics(["city"])
      for (path, topic) in [("/", nil), ("/topics/city", "city")] {
        let answer = try await server.get(path)
        #expect(
          answer["Content-Security-Policy"]
            == Self.strictPolicy + "; script-src 'self'; connect-src 'self'; worker-src 'self'")
        let page = try PageScan(answer.text, as: .readerWithScript)
        #expect(page.accessibilityProblems == [])
        let area = try #require(page.all("div").first { $0["id"] == "notify" })
        #expect((area["hidden"], area["data-worker"], area["data-topic"]) == ("", "/worker.js", topic))
        #expect(page.all("button").count == 1 && page.text.contains("Notify me"))
        let script = try #require(page.all("script").first?["src"])
        let file = try await server.get(script)
        #expect((file.status, file["Content-Type"]) == (200, "text/javascript; charset=utf-8"))
        #expect(file["Cache-Control"] == "max-age=31536000, immutable")
        let again = try await server.get(path, ("If-None-Match", try #require(answer["ETag"])))
        #expect(again.status == 304)
        #expect(again["Content-Security-Policy"] == answer["Content-Security-Policy"])
      }
    }
  }

  @Test("Lists with a button are the same for all readers")
  func sameForAll() async throws {
    try await Self.withServer { server in
      for _ in 0..<2 {
        let plain = try await server.get("/")
        let other = try await server.get(
          "/", ("Cookie", "a=b"), ("Accept-Language", "de"), ("User-Agent", "Mozilla/5.0"),
          ("Sec-Fetch-Mode", "navigate"))
        #expect(other.body == plain.body && other["ETag"] == plain["ETag"])
        #expect(other["Set-Cookie"] == nil && other["Vary"] == "Accept-Encoding")
        #expect(other["Cache-Control"] == plain["Cache-Control"])
      }
    }
  }

  @Test("The pages of items and errors run nothing")
  func otherPages() async throws {
    try await Self.withServer { server in
      let item = try await server.publish("x")
      for path in ["/items/\(item.item.id.uuidString.lowercased())", "/items/\(UUID())", "/topics/never"] {
        let answer = try await server.get(path)
        #expect(answer["Content-Security-Policy"] == Self.strictPolicy, "\(path)")
        // The elements of pages without scripts.
        _ = try PageScan(answer.text)
      }
    }
  }

  @Test("Without Web Push, no page has a script, whatever other services there are")
  func withoutWebPush() async throws {
    try await TestServer.with(settings: { $0.push.offer = PushOffer(providers: [.apns, .fcm]) }) { server in
      let answer = try await server.get("/")
      #expect(answer["Content-Security-Policy"] == Self.strictPolicy)
      _ = try PageScan(answer.text)
    }
  }

  @Test("The service worker is above all pages, is compared each time, and sends requests to this server only")
  func worker() async throws {
    try await Self.withServer { server in
      let answer = try await server.get("/worker.js")
      #expect((answer.status, answer["Content-Type"]) == (200, "text/javascript; charset=utf-8"))
      #expect(answer["Cache-Control"] == "no-cache" && answer["X-Content-Type-Options"] == "nosniff")
      #expect(answer["Content-Security-Policy"] == "default-src 'none'; connect-src 'self'")
      #expect(answer.text.contains(#"addEventListener("push""#))
      let tag = try #require(answer["ETag"])
      for method in ["GET", "HEAD"] {
        let again = try await server.send(method, "/worker.js", headers: [("If-None-Match", tag)])
        #expect(again.status == 304 && again.body.isEmpty && again["Cache-Control"] == "no-cache")
      }
      let zipped = try await server.get("/worker.js", ("Accept-Encoding", "gzip"))
      #expect(try zipped.body.gunzipped() == answer.body)
      #expect(try await server.send("POST", "/worker.js").status == 405)
      // It has no second address.
      #expect(try await server.get("/assets/worker-0123456789abcdef.js").status == 404)
    }
  }

  @Test("Without pages, there is no service worker")
  func turnedOff() async throws {
    try await Self.withServer({ $0.servesReaderPages = false }) { (server: TestServer) async throws in
      for method in ["GET", "HEAD"] { #expect(try await server.send(method, "/worker.js").status == 404) }
      #expect(try await server.get("/v1/push").status == 200)
    }
  }
}
