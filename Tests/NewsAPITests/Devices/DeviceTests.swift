import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Registrations of devices by the API.
@Suite struct DeviceTests {
  private static let token = String(repeating: "0f", count: 32)
  private static let phone = #"{"provider": "apns", "app": "org.example.reader", "token": "\#(token)"}"#
  private static let endpoint = "https://push.example/wp/1"
  private static let p256dh =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let browser = """
    {"provider": "webpush", "kind": "browser", "subscription": {"endpoint": "\(endpoint)", "expirationTime": null,
      "keys": {"p256dh": "\(p256dh)", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}}
    """

  /// Runs the body with a server that offers all push services.
  private static func withServer(
    _ change: @escaping @Sendable (inout NewsAPI.PushSettings) -> Void = { _ in },
    _ body: @escaping @Sendable (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: PushProvider.allCases, webPush: .init(publicKey: "BPoint"))
      settings.push.allowsEndpoint = { $0.hasPrefix("https://push.example/") }
      change(&settings.push)
    }) { try await body($0) }
  }

  @discardableResult
  private static func register(_ server: TestServer, _ body: String = phone) async throws -> DeviceCredentials {
    try await server.send("POST", "/v1/devices", body: body).json(DeviceCredentials.self, status: 201)
  }

  private static func path(_ device: DeviceCredentials, _ rest: String = "") -> String {
    "/v1/devices/\(device.id.uuidString.lowercased())\(rest)"
  }

  @Test("The offer names the push services and the public key, and is not stored")
  func offer() async throws {
    try await Self.withServer { server in
      let response = try await server.send("GET", "/v1/push")
      #expect(
        try response.json(PushOffer.self)
          == PushOffer(providers: [.apns, .fcm, .webpush], webPush: .init(publicKey: "BPoint")))
      #expect(response["Cache-Control"] == "no-store" && response["Access-Control-Allow-Origin"] == "*")
    }
    try await TestServer.with { server in
      #expect(try await server.send("GET", "/v1/push").json(PushOffer.self) == PushOffer(providers: []))
      let refused = try await server.send("POST", "/v1/devices", body: Self.phone)
      #expect(refused.status == 422 && refused.text.contains("provider"))
    }
  }

  @Test("A device is registered, renewed with the same secret, and removed")
  func life() async throws {
    try await Self.withServer { server in
      let response = try await server.send("POST", "/v1/devices", body: Self.phone)
      let made = try response.json(DeviceCredentials.self, status: 201)
      #expect(response["Cache-Control"] == "no-store" && response["Access-Control-Allow-Origin"] == "*")
      #expect(made.secret.utf8.count == 43)
      #expect(abs(made.expires.timeIntervalSinceNow - 90 * 86_400) < 3600)

      let change = #"{"provider": "apns", "app": "org.example.reader", "token": "\#(Self.token)", "alerts": true}"#
      let renewed = try await server.send("PUT", Self.path(made), key: made.secret, body: change)
        .json(DeviceCredentials.self)
      #expect(renewed.id == made.id && renewed.secret == made.secret && renewed.expires >= made.expires)
      #expect(try await server.store.device(made.id)?.registration.alerts == true)

      let removed = try await server.send("DELETE", Self.path(made), key: made.secret)
      #expect(removed.status == 204 && removed["Access-Control-Allow-Origin"] == "*")
      #expect(removed["Cache-Control"] == "no-store")
      #expect(try await server.send("DELETE", Self.path(made), key: made.secret).status == 404)
    }
  }

  @Test("A known token gets the same kind of response, and voids the old secret")
  func sameToken() async throws {
    try await Self.withServer { server in
      let first = try await Self.register(server)
      let second = try await Self.register(server)
      #expect(second.id == first.id && second.secret != first.secret)
      #expect(try await server.send("PUT", Self.path(first), key: first.secret, body: Self.phone).status == 404)
      #expect(try await server.send("PUT", Self.path(first), key: second.secret, body: Self.phone).status == 200)
    }
  }

  @Test("An unknown id and a wrong secret have the same response")
  func unknown() async throws {
    try await Self.withServer { server in
      let made = try await Self.register(server)
      let stranger = DeviceCredentials(id: UUID(), secret: made.secret, expires: made.expires)
      let wrong = String(made.secret.reversed())
      let report = #"{"token": "1k3x9qam9pkx.10"}"#
      let requests = [
        ("PUT", "", Self.phone), ("DELETE", "", nil), ("PUT", "/state", report),
        ("PUT", "/confirmation", #"{"code": "x"}"#),
      ]
      for (method, rest, body) in requests {
        let unknown = try await server.send(method, Self.path(stranger, rest), key: made.secret, body: body)
        let refused = try await server.send(method, Self.path(made, rest), key: wrong, body: body)
        #expect(unknown.status == 404 && refused.status == 404, "\(method) \(rest)")
        #expect(unknown.text == refused.text)
        let noID = try await server.send(method, "/v1/devices/x\(rest)", key: made.secret, body: body)
        #expect(noID.status == 404)
        let keyless = try await server.send(method, Self.path(made, rest), body: body)
        #expect(keyless.status == 401 && keyless["WWW-Authenticate"] != nil)
      }
    }
  }

  private static let invalidFields: [(String, String)] = [
    (#"{}"#, "provider"), (#"{"provider": "mail"}"#, "provider"), (#"{"provider": "apns", "token": "00"}"#, "app"),
    (#"{"provider": "apns", "app": "a", "token": "zz"}"#, "token"), (#"{"provider": "fcm"}"#, "token"),
    (#"{"provider": "fcm", "token": "t", "topics": []}"#, "topics"),
    (#"{"provider": "fcm", "token": "t", "topics": ["nowhere"]}"#, "topics"),
    (#"{"provider": "fcm", "token": "t", "languages": []}"#, "languages"),
    (#"{"provider": "fcm", "token": "t", "languages": [1]}"#, "languages"),
    (#"{"provider": "fcm", "token": "t", "timeZone": "Mars/Olympus"}"#, "timeZone"),
    (#"{"provider": "fcm", "token": "t", "quiet": {"from": "22:00"}}"#, "quiet.to"),
    (#"{"provider": "fcm", "token": "t", "quiet": {"from": "25:00", "to": "07:00"}}"#, "quiet.from"),
    (#"{"provider": "fcm", "token": "t", "quiet": {"from": "07:00", "to": "07:00"}}"#, "quiet"),
    (#"{"provider": "fcm", "token": "t", "kind": "browser"}"#, "kind"),
    (#"{"provider": "fcm", "token": "t", "environment": "sandbox"}"#, "environment"),
    (#"{"provider": "fcm", "token": "t", "name": "x"}"#, "name"),
    (#"{"provider": "webpush", "kind": "browser"}"#, "subscription"),
    (browser.replacing("push.example", with: "127.0.0.1"), "subscription.endpoint"),
    (browser.replacing("BTBZMqHH6r4Tts7J_aSIgg", with: "AAAA"), "subscription.keys.auth"),
    (browser.replacing(p256dh, with: "AAAA"), "subscription.keys.p256dh"),
    (browser.replacing(#""kind": "browser", "#, with: ""), "kind"),
    (#"{"provider": "fcm", "token": "t", "quiet": {"from": "22:00", "to": "07:00", "x": 1}}"#, "quiet.x"),
    (#"{"provider": "fcm", "token": "t", "quiet": {"to": "07:00"}}"#, "quiet.from"),
    (browser.replacing(#""endpoint": "\#(endpoint)", "#, with: ""), "subscription.endpoint"),
    (browser.replacing(#""keys": {"#, with: #""keyring": {"#), "subscription.keys"),
    (browser.replacing(#""auth": "#, with: #""authority": "#), "subscription.keys.auth"),
    (browser.replacing(#""auth": "#, with: #""x": "", "auth": "#), "subscription.keys.x"),
    (browser.replacing("expirationTime", with: "expiry"), "subscription.expiry"),
  ]

  @Test("A field that breaks a rule is named")
  func invalid() async throws {
    try await Self.withServer { server in
      for (body, field) in Self.invalidFields {
        let problem = try await server.send("POST", "/v1/devices", body: body).json(Problem.self, status: 422)
        #expect(problem.errors?.contains { $0.field == field } == true, "\(body): \(problem)")
        let stored = try await server.sql.query("SELECT count(*) FROM devices").first?.decode(0, as: Int.self)
        #expect(stored == 0)
      }
    }
  }

  @Test("Registrations from one network end in 429, also through a proxy, and those of others go on")
  func limited() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.fcm])
      // The next one is possible a minute later.
      settings.push.registrationsPerAddress = 1
      settings.trustedProxies = TrustedProxies([IPNetwork("127.0.0.0/8")].compactMap(\.self))
    }) { server in
      for (number, (client, status)) in [
        ("198.51.100.1", 201), ("198.51.100.1", 429), ("198.51.100.2", 201), ("2001:db8:0:1::1", 201),
        ("2001:db8:0:1:ffff::2", 429), ("2001:db8:0:2::1", 201), ("203.0.113.9, 198.51.100.1", 429),
      ].enumerated() {
        let response = try await server.send(
          "POST", "/v1/devices", headers: [("X-Forwarded-For", client)],
          body: #"{"provider": "fcm", "token": "t\#(number)"}"#)
        #expect(response.status == status, "\(client)")
        #expect((response["Retry-After"] != nil) == (status == 429))
        if status == 429 { #expect(1...60 ~= Int(response["Retry-After"] ?? "") ?? 0) }
      }
      let stored = try await server.sql.query("SELECT count(*) FROM devices").first?.decode(0, as: Int.self)
      #expect(stored == 4)
    }
  }

  @Test("The networks of an IPv6 site together register ten times as many devices as a client")
  func sites() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.fcm])
      settings.push.registrationsPerAddress = 1
      settings.trustedProxies = TrustedProxies([IPNetwork("127.0.0.0/8")].compactMap(\.self))
    }) { server in
      @Sendable func register(_ client: String) async throws -> Int {
        try await server.send(
          "POST", "/v1/devices", headers: [("X-Forwarded-For", client)],
          body: #"{"provider": "fcm", "token": "\#(client)"}"#
        ).status
      }
      let start = ContinuousClock.now
      var count = 0
      while try await register("2001:db8:1:\(count)::1") == 201 { count += 1 }
      // A registration costs ten points, and takes place if there is one. The site has 100, and gets one in 600 ms.
      let points = Int((ContinuousClock.now - start) / .milliseconds(600))
      #expect(10...(109 + points) / 10 ~= count)
      // IPv4 has no sites.
      for client in ["2001:db8:2::1"] + (1...20).map({ "198.51.100.\($0)" }) {
        #expect(try await register(client) == 201, "\(client)")
      }
    }
  }

  @Test("Texts of combining marks are refused before anything compares them", .timeLimit(.minutes(2)))
  func marks() async throws {
    try await Self.withServer { server in
      let marks = "e" + String(repeating: "\u{316}\u{301}", count: 15_000)
      for field in [#""topics": ["\#(marks)"]"#, #""languages": ["\#(marks)", "de"]"#, #""timeZone": "\#(marks)""#] {
        let body = #"{"provider": "apns", "app": "a", "token": "\#(Self.token)", \#(field)}"#
        let problem = try await server.send("POST", "/v1/devices", body: body).json(Problem.self, status: 400)
        #expect(problem.type == "/problems/malformed-body")
      }
    }
  }

  @Test("A client without a proxy is limited by its own address, whatever it claims")
  func forged() async throws {
    try await Self.withServer({ $0.registrationsPerAddress = 1 }) { server in
      for (number, status) in [201, 429, 429].enumerated() {
        let response = try await server.send(
          "POST", "/v1/devices", headers: [("X-Forwarded-For", "198.51.100.\(number)")],
          body: #"{"provider": "fcm", "token": "t\#(number)"}"#)
        #expect(response.status == status)
      }
    }
  }

  @Test("A renewal is not limited, because it adds nothing")
  func renewals() async throws {
    try await Self.withServer({ $0.registrationsPerAddress = 1 }) { server in
      let made = try await Self.register(server)
      for _ in 0..<3 {
        #expect(try await server.send("PUT", Self.path(made), key: made.secret, body: Self.phone).status == 200)
      }
    }
  }

  @Test("The number of all devices is limited")
  func full() async throws {
    try await Self.withServer({ $0.limits.total = 2 }) { server in
      for number in 0..<2 { try await Self.register(server, #"{"provider": "fcm", "token": "t\#(number)"}"#) }
      let refused = try await server.send("POST", "/v1/devices", body: #"{"provider": "fcm", "token": "t2"}"#)
      #expect(refused.status == 429 && refused["Retry-After"] == "600")
      try await Self.register(server, #"{"provider": "fcm", "token": "t1"}"#)
    }
  }

  @Test("A page of any origin may register, renew and report")
  func preflight() async throws {
    try await Self.withServer { server in
      let id = UUID().uuidString.lowercased()
      let paths = [
        ("/v1/devices", "POST"), ("/v1/devices/\(id)", "PUT"), ("/v1/devices/\(id)", "DELETE"),
        ("/v1/devices/\(id)/state", "PUT"), ("/v1/devices/\(id)/confirmation", "PUT"),
      ]
      for (path, method) in paths {
        let response = try await server.send(
          "OPTIONS", path, headers: [("Origin", "https://page.example"), ("Access-Control-Request-Method", method)])
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Methods"]?.contains(method) == true)
        #expect(response["Access-Control-Allow-Headers"] == "Authorization, Content-Type")
      }
      let refused = try await server.send("POST", "/v1/devices", body: "{}")
      #expect(refused.status == 422 && refused["Access-Control-Allow-Origin"] == "*")
    }
  }

  @Test("A report needs a token, and is stored")
  func report() async throws {
    try await Self.withServer { server in
      let made = try await Self.register(server)
      let state = Self.path(made, "/state")
      let invalid = try await server.send("PUT", state, key: made.secret, body: #"{"token": "x", "result": "maybe"}"#)
        .json(Problem.self, status: 422)
      #expect(invalid.errors?.map(\.field) == ["token", "result"])
      for (body, field) in [
        ("{}", "token"), (#"{"token": "1k3x9qam9pkx.10", "push": "x"}"#, "push"),
        (#"{"token": "1k3x9qam9pkx.10", "x": 1}"#, "x"),
      ] {
        let problem = try await server.send("PUT", state, key: made.secret, body: body).json(Problem.self, status: 422)
        #expect(problem.errors?.map(\.field) == [field])
      }
      #expect(try #require(try await server.store.device(made.id)).lastReport == nil)
      let epoch = try #require(server.store.cachedSnapshot?.feedVersion.epoch)
      let token = SyncToken(epoch: epoch, scope: .feed, version: 7)
      let body = #"{"token": "\#(token)", "result": "noData"}"#
      #expect(try await server.send("PUT", state, key: made.secret, body: body).status == 204)
      #expect(try await server.store.device(made.id)?.lastReport?.version == 7)
    }
  }

  @Test("A report about a push is counted for the push, with its result, once for each device")
  func reportOfPush() async throws {
    try await Self.withServer { server in
      let devices = [
        try await Self.register(server), try await Self.register(server, #"{"provider": "fcm", "token": "t"}"#),
      ]
      _ = try await server.publish("x")
      while try await server.store.collectOutbox(window: .zero) {}
      let push = try #require(try await server.store.pushes(limit: 1).first?.id)
      let results = [(0, #""newData""#), (0, #""newData""#), (1, #""noData""#)]
      var counts: [[Int]] = []
      for (device, result) in results {
        let body = #"{"token": "1k3x9qam9pkx.10", "push": "\#(push)", "result": \#(result)}"#
        let (path, secret) = (Self.path(devices[device], "/state"), devices[device].secret)
        #expect(try await server.send("PUT", path, key: secret, body: body).status == 204)
        let counted = try #require(try await server.store.push(push))
        counts.append([counted.reports, counted.woke, counted.foundNews])
      }
      #expect(counts == [[1, 1, 1], [1, 1, 1], [2, 2, 1]])
    }
  }

  @Test("A report of an unfinished snapshot, or of a part of the changes, says that the device has nothing")
  func unfinishedReport() async throws {
    try await Self.withServer { server in
      let made = try await Self.register(server)
      let state = Self.path(made, "/state")
      let epoch = try #require(server.store.cachedSnapshot?.feedVersion.epoch)
      let unfinished = [
        SyncToken(epoch: epoch, scope: .feed, version: 9, position: 4),
        SyncToken(epoch: epoch, scope: .feed, version: 9, isPartial: true),
      ]
      for token in unfinished {
        let complete = SyncToken(epoch: epoch, scope: .feed, version: 7)
        for (reported, version) in [(complete, Int?.some(7)), (token, nil)] {
          let body = #"{"token": "\#(reported)"}"#
          #expect(try await server.send("PUT", state, key: made.secret, body: body).status == 204)
          #expect(try await server.store.device(made.id)?.lastReport?.version == version, "\(reported)")
        }
      }
    }
  }

  @Test("A wrong code is refused with its name, and the right one is accepted, also again")
  func confirmation() async throws {
    try await Self.withServer { server in
      let made = try await Self.register(server, Self.browser)
      let path = Self.path(made, "/confirmation")
      func confirm(_ code: String) async throws -> TestResponse {
        try await server.send("PUT", path, key: made.secret, body: #"{"code": "\#(code)"}"#)
      }
      // No code was sent yet.
      #expect(try await confirm(made.secret).json(Problem.self, status: 422).errors?.map(\.field) == ["code"])
      let message = try await server.store.leaseMessages(.webpush, limit: 1, for: .seconds(60), reportRate: 0).first
      let code = try #require(message?.content.code)
      for wrong in [String(code.reversed()), "x", made.secret] {
        let problem = try await confirm(wrong).json(Problem.self, status: 422)
        #expect(problem.errors?.map(\.field) == ["code"], "\(problem)")
        #expect(try await server.store.device(made.id)?.isPending == true)
      }
      for _ in 0..<2 { #expect(try await confirm(code).status == 204) }
      #expect(try await confirm("x").status == 422)
      #expect(try await server.store.device(made.id)?.isPending == false)
    }
  }

  @Test("Metrics count devices and what was sent to them, and contain no addresses")
  func metrics() async throws {
    try await Self.withServer { server in
      let (phone, browser) = (try await Self.register(server), try await Self.register(server, Self.browser))
      _ = try await server.publish("x")
      let store = server.store
      while try await store.collectOutbox(window: .zero) {}
      while try await store.fanOut(budget: 3) {}
      try await store.countDeliveries()
      var scrape = try await server.scrape()
      func value(_ name: String, _ labels: [String: String] = [:]) -> Double { scrape.value("tidings_\(name)", labels) }
      #expect(value("devices", ["provider": "apns", "state": "active"]) == 1)
      #expect(value("devices", ["provider": "webpush", "state": "pending"]) == 1)
      #expect(value("push_owed", ["provider": "apns"]) == 1 && value("push_owed", ["provider": "webpush"]) == 1)
      #expect(value("outbox_rows") == 0 && value("push_paused", ["provider": "apns"]) == 0)

      let messages = try await store.leaseMessages(.apns, limit: 10, for: .seconds(60), reportRate: 0)
      #expect(messages.map(\.device) == [phone.id])
      try await store.recordOutcomes(messages.map { PushOutcome(message: $0, result: .sent) })
      try await store.pauseProvider(.webpush, for: 600, reason: "a test")
      #expect(value("push_refused", ["provider": "fcm"]) == 0)
      #expect(try await store.noteRefusal(by: .fcm, reason: "a test", isProven: false))
      try await store.countDeliveries()
      scrape = try await server.scrape()
      #expect(value("push_refused", ["provider": "fcm"]) == 1 && value("push_refused", ["provider": "apns"]) == 0)
      #expect(value("push_outcomes_total", ["provider": "apns", "outcome": "sent"]) == 1)
      #expect(value("push_outcomes_total", ["provider": "webpush", "outcome": "sent"]) == 0)
      #expect(value("push_owed", ["provider": "apns"]) == 0 && value("push_paused", ["provider": "webpush"]) == 1)
      let text = try await server.get("/metrics").text
      for secret in [Self.token, Self.endpoint, "org.example.reader", phone.id.uuidString.lowercased(), browser.secret]
      {
        #expect(!text.contains(secret))
      }
    }
  }
}
