import Foundation
import News
import NewsAPI
import NewsStore
import TestKit
import TestSupport
import Testing

/// The requests of WebSub hubs.
@Suite struct HubCallbackTests {
  private static let topic = "https://feeds.example/"

  /// Runs the body with the path of a callback whose lease was requested.
  private static func withCallback(
    _ body: @escaping @Sendable (TestServer, _ path: String, _ secret: String) async throws -> Void
  ) async throws {
    try await TestServer.with { server in
      let id = UUID()
      _ = try await server.store.createSubscription(id, SubscriptionContent(url: topic))
      let poll = try #require(try await server.store.leaseSubscription(for: 60, only: id))
      try await server.store.noteHubs(["https://hub.example/"], topic: topic, of: poll)
      try await server.store.planHubLeases(callbacks: "\(server.url)/v1/websub/")
      let request = try #require(try await server.store.leaseHubRequest(for: 60))
      try await body(server, String(request.callback.dropFirst(server.url.count)), request.secret)
    }
  }

  private static let unaskedQueries: [String] = [
    "", "hub.mode=subscribe", "hub.mode=subscribe&hub.topic=TOPIC", "hub.mode=subscribe&hub.challenge=a",
    "hub.mode=subscribe&hub.topic=TOPIC&hub.challenge=", "hub.mode=Subscribe&hub.topic=TOPIC&hub.challenge=a",
    "hub.mode=subscribe&hub.topic=TOPICx&hub.challenge=a", "hub.mode=publish&hub.topic=TOPIC&hub.challenge=a",
    "hub.mode=unsubscribe&hub.topic=TOPIC&hub.challenge=a", "hub.mode=denied&hub.topic=https://a.example/",
    "hub.mode=subscribe&hub.topic=TOPIC&hub.topic=TOPIC&hub.challenge=a",
    "hub.mode=subscribe&hub.topic=TOPICx&hub.topic=TOPIC&hub.challenge=a",
    "hub.mode=subscribe&hub.topic=&hub.topic=TOPIC&hub.challenge=a",
    "hub.mode=subscribe&hub.topic=TOPIC&hub.challenge=%ff", "hub.mode=subscribe&hub.topic=TOPIC&hub.challenge=%00",
    "hub.mode=denied", "hub.challenge=a",
  ]

  @Test("A request that nobody asked for returns 404")
  func refused() async throws {
    try await Self.withCallback { server, path, _ in
      for query in Self.unaskedQueries {
        let answer = try await server.get("\(path)?\(query.replacing("TOPIC", with: Self.topic))")
        #expect(answer.status == 404 && answer["Cache-Control"] == "no-store", "\(query)")
        let subscription = try #require(try await server.store.subscriptions().first)
        #expect(subscription.websub == .init(hub: "https://hub.example/", state: .pending))
      }
    }
  }

  @Test("A challenge of up to 4 KiB is returned as plain text, and no other token has one")
  func challenge() async throws {
    try await Self.withCallback { server, path, _ in
      func answer(_ challenge: String, _ path: String) async throws -> TestResponse {
        try await server.get("\(path)?hub.mode=subscribe&hub.topic=\(Self.topic)&hub.challenge=\(challenge)")
      }
      let other = "/v1/websub/" + String(path.suffix(22).reversed())
      for path in [other, path + "a", String(path.dropLast()), path.uppercased()] {
        #expect(try await answer("a", path).status == 404)
      }
      let long = String(repeating: "a", count: 4096)
      #expect(try await answer(long + "a", path).status == 404)
      #expect(try await answer(long, path).text == long)
      let markup = try await answer("%3Cscript%3E", path)
      #expect(markup.text == "<script>" && markup["Content-Type"] == "text/plain")
      #expect(markup["X-Content-Type-Options"] == "nosniff" && markup["Cache-Control"] == "no-store")
    }
  }

  @Test("Notices without a valid signature are ignored, and the response is the same")
  func signatures() async throws {
    try await Self.withCallback { server, path, secret in
      #expect(
        try await server.get("\(path)?hub.mode=subscribe&hub.topic=\(Self.topic)&hub.challenge=a").status == 200)
      let fields = ["", "sha1", "sha256=", "md5=00", "sha256=" + String(repeating: "0", count: 64), "=", secret]
      for field in fields {
        let answer = try await server.send("POST", path, headers: [("X-Hub-Signature", field)], body: "x")
        #expect(answer.status == 204 && answer.body.isEmpty && answer["Cache-Control"] == "no-store", "\(field)")
      }
      #expect(try await server.send("POST", path).status == 204)
      #expect(server.store.hubActivity.notices == (valid: 0, ignored: fields.count + 1))
      #expect(try await server.store.subscriptions().first?.websub?.lastNotice == nil)
      let metrics = try await server.scrape()
      #expect(metrics.value("tidings_hub_notices_total", ["outcome": "ignored"]) == Double(fields.count + 1))
    }
  }

  @Test("A notice to an unknown callback returns 410, one of more than 16 MiB 413, and other methods 405")
  func limits() async throws {
    try await Self.withCallback { server, path, _ in
      let unknown = try await server.send("POST", "/v1/websub/" + String(path.suffix(22).reversed()))
      #expect(try unknown.json(Problem.self, status: 410).type == "/problems/callback-ended")
      #expect(try await server.send("POST", "/v1/websub/x").status == 410)
      for method in ["HEAD", "PUT", "DELETE"] { #expect(try await server.send(method, path).status == 405) }
      let head = "POST \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: "
      let large = try await RawConnection.exchange(head + "16777217\r\n\r\n", port: server.port)
      #expect(large.map(\.status) == [413])
      let largest = head + "16777216\r\n\r\n" + String(repeating: "x", count: 16 << 20)
      #expect(try await RawConnection.exchange(largest, port: server.port).map(\.status) == [204])
      let chunks = String(repeating: "100000\r\n\(String(repeating: "x", count: 1 << 20))\r\n", count: 16)
      let fields = "Host: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
      for (rest, status) in [("0\r\n\r\n", 204), ("1\r\nx\r\n0\r\n\r\n", 413)] {
        let request = "POST \(path) HTTP/1.1\r\n\(fields)\(chunks)\(rest)"
        #expect(try await RawConnection.exchange(request, port: server.port).map(\.status) == [status])
      }
      let expecting = Data("\(head)1\r\nExpect: 100-continue\r\n\r\n".utf8)
      let continued = try await RawConnection.exchange([expecting, Data("x".utf8)], port: server.port)
      #expect(continued.map(\.status) == [100, 204])
      let truncated = try await RawConnection.exchange(head + "5\r\n\r\nabc", port: server.port)
      #expect(truncated.map(\.status) == [400])
    }
  }

  @Test("The callback of a lease that has ended returns 410")
  func ended() async throws {
    try await Self.withCallback { server, path, _ in
      #expect(try await server.send("POST", path, body: "x").status == 204)
      let id = try #require(try await server.store.subscriptions().first?.id)
      try await server.store.removeSubscription(id, if: .exists)
      try await server.store.planHubLeases(callbacks: "\(server.url)/v1/websub/")
      #expect(try await server.send("POST", path, body: "x").status == 410)
    }
  }

  @Test(
    "Each method of signatures is accepted for its code, in any parts of the body and in any case",
    arguments: [
      // HMAC of "what do ya want for nothing?" with the key "Jefe": RFC 2202 and RFC 4231, test case 2.
      "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
      "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
      "sha384=af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
      """
      sha512=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a\
      6b4b636e070a38bce737
      """,
    ])
  func methods(field: String) throws {
    func isValid(_ field: String, _ parts: [String], secret: String = "Jefe") -> Bool? {
      guard var signature = NoticeSignature(field, secret: secret) else { return nil }
      for part in parts { signature.update(Array(part.utf8)) }
      return signature.isValid
    }
    let body = ["what do ya ", "", "want for nothing?"]
    #expect(isValid(field, body) == true)
    #expect(isValid(field.uppercased(), [body.joined()]) == true)
    #expect(isValid(field, body + ["!"]) == false)
    #expect(isValid(field, body, secret: "jefe") == false)
    #expect(isValid(String(field.dropLast(2)), body) == nil)
    #expect(isValid(String(field.dropLast(1)) + "x", body) == nil)
    #expect(isValid(String(field.dropLast(1)), body) == nil)
    #expect(isValid(field + "00", body) == nil)
    #expect(isValid("md5" + field.dropFirst(4), body) == nil)
  }

  private static func query(_ rest: String, topic: String = "t") -> HubQuery? {
    HubQuery("hub.topic=\(topic)&\(rest)")
  }

  @Test(
    "The duration of a lease is a number of at most ten digits, and anything else is as good as none",
    arguments: [
      ("0", 0), ("864000", 864_000), ("9999999999", 9_999_999_999), ("10000000000", nil), ("-1", nil), ("1e9", nil),
      ("1.5", nil), ("+1", nil),
    ] as [(String, Double?)])
  func leaseSeconds(text: String, seconds: Double?) throws {
    let read = try #require(Self.query("hub.mode=subscribe&hub.challenge=c&hub.lease_seconds=\(text)"))
    #expect(read.purpose == .verification(.subscribe, challenge: "c", seconds: seconds))
  }

  @Test("The reason of a denial is cut to 1 KiB, and an address of more than 2 KiB is none")
  func lengths() throws {
    func text(_ count: Int) -> String { String(repeating: "a", count: count) }
    #expect(Self.query("hub.mode=denied")?.purpose == .denial(reason: ""))
    #expect(Self.query("hub.mode=denied&hub.reason=\(text(1024))")?.purpose == .denial(reason: text(1024)))
    let cut = try #require(Self.query("hub.mode=denied&hub.reason=\(text(1025))"))
    #expect(cut.purpose == .denial(reason: text(1020)))
    #expect(Self.query("hub.mode=denied", topic: text(2048))?.topic == text(2048))
    #expect(Self.query("hub.mode=denied", topic: text(2049)) == nil)
    #expect(Self.query("hub.mode=denied", topic: "") == nil)
    #expect(Self.query("hub.mode=Denied") == nil)
  }

  @Test("Parameters that are not known are ignored, whatever they are")
  func otherParameters() {
    let expected = Self.query("hub.mode=unsubscribe&hub.challenge=c")
    #expect(expected?.purpose == .verification(.unsubscribe, challenge: "c", seconds: nil))
    for other in ["a=1&a=2", "a=%ff", "a=%00", "%zz=1", "a", "&&", "hub.secret=s", "Hub.Mode=denied"] {
      #expect(Self.query("hub.mode=unsubscribe&\(other)&hub.challenge=c") == expected, "\(other)")
    }
  }

  @Test("Names and values may be percent-encoded, and values may contain an equals sign, but not very many accents")
  func encoding() {
    #expect(HubQuery("hub%2Etopic=t&hub.mod%65=denied")?.topic == "t")
    #expect(Self.query("hub.mode=denied", topic: "https://a.example/?b=c")?.topic == "https://a.example/?b=c")
    for (count, isRead) in [(30, true), (31, false)] {
      let reason = "e" + String(repeating: "%CC%81", count: count)
      #expect((Self.query("hub.mode=denied&hub.reason=\(reason)") != nil) == isRead, "\(count)")
    }
  }

  private static let fragments = [
    "hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds", "hub.reason", "=", "=", "&", "&", "subscribe",
    "unsubscribe", "denied", "publish", "https://feeds.example/", "%", "%0", "%00", "%26", "%ff", "%C3%A9", "+", "a",
    "-1",
    "99999999999999999999", "864000", "1e9", "hub.mode=subscribe&",
    "hub.mode=subscribe&", "hub.mode=denied&", "hub.topic=a&", "hub.topic=a&", "hub.topic=b&", "hub.challenge=b&",
    "hub.challenge=b&", "hub.challenge=c&", "é", "\u{0}",
  ]

  @Test("Any query yields values within their limits, or none")
  func queries() async {
    var generator = SplitMix64(seed: 8288)
    var accepted = 0
    for number in 0..<rounds(30_000) {
      if number % 100 == 0 { await Task.yield() }
      let query = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
        Self.fragments.randomElement(using: &generator) ?? ""
      }.joined()
      guard let read = HubQuery(query) else { continue }
      accepted += 1
      #expect(!read.topic.isEmpty && !read.topic.utf8.contains(0))
      switch read.purpose {
      case .verification(let mode, let challenge, let seconds):
        #expect(mode != .publish && 1...4096 ~= challenge.utf8.count && !challenge.utf8.contains(0))
        #expect(seconds.map { 0...9_999_999_999 ~= $0 } ?? true)
      case .denial(let reason): #expect(reason.utf8.count <= 1024 && !reason.utf8.contains(0))
      }
    }
    #expect(accepted > rounds(100))
  }
}
