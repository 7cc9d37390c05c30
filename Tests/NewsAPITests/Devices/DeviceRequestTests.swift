import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The requests of devices: their limits, their parameters and the networks from which they come.
@Suite struct DeviceRequestTests {
  private static let fcm = #"{"provider": "fcm", "token": "t"}"#
  private static let p256dh =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let browser = """
    {"provider": "webpush", "kind": "browser", "subscription": {"endpoint": "https://push.example/1",
      "keys": {"p256dh": "\(p256dh)", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}}}
    """

  private static func path(_ device: DeviceCredentials, _ rest: String = "") -> String {
    "/v1/devices/\(device.id.uuidString.lowercased())\(rest)"
  }

  private static func networks(_ server: TestServer) async throws -> [String?] {
    try await server.sql.query("SELECT network::text AS network FROM devices").map { try $0.decode("network") }
  }

  @Test("The network of a pending device is stored: that of the client before trusted proxies")
  func network() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.webpush])
      settings.push.allowsEndpoint = { _ in true }
      settings.trustedProxies = TrustedProxies([IPNetwork("127.0.0.0/8")].compactMap(\.self))
    }) { server in
      let made = try await server.send(
        "POST", "/v1/devices", headers: [("X-Forwarded-For", "198.51.100.7")], body: Self.browser
      ).json(DeviceCredentials.self, status: 201)
      #expect(try await Self.networks(server) == ["198.51.100.0/24"])
      let moved = try await server.send(
        "PUT", Self.path(made), key: made.secret, headers: [("X-Forwarded-For", "2001:db8:1:2::9")],
        body: Self.browser.replacing("example/1", with: "example/2"))
      #expect(moved.status == 200)
      #expect(try await Self.networks(server) == ["2001:db8:1:2::/64"])
    }
  }

  @Test(
    "A pending browser takes the place of the oldest one of its host, if a device registers or changes its address",
    arguments: [true, false])
  func pendingBrowsers(isNew: Bool) async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.fcm, .webpush])
      settings.push.allowsEndpoint = { _ in true }
      settings.push.limits.perHost = 2
    }) { server in
      func browser(_ number: Int) -> String { Self.browser.replacing("example/1", with: "example/\(number)") }
      func register(_ body: String) async throws -> DeviceCredentials {
        try await server.send("POST", "/v1/devices", body: body).json(DeviceCredentials.self, status: 201)
      }
      let phone = try await register(Self.fcm)
      let browsers = [try await register(browser(1)), try await register(browser(2))]
      if isNew {
        _ = try await register(browser(3))
      } else {
        #expect(try await server.send("PUT", Self.path(phone), key: phone.secret, body: browser(3)).status == 200)
      }
      var isThere: [Bool] = []
      for device in browsers { isThere.append(try await server.store.device(device.id) != nil) }
      #expect(isThere == [false, true])
    }
  }

  @Test("Refused registrations of a client take nothing from the other clients of its site")
  func site() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.fcm])
      settings.push.registrationsPerAddress = 1
      settings.trustedProxies = TrustedProxies([IPNetwork("127.0.0.0/8")].compactMap(\.self))
    }) { server in
      func register(from client: String) async throws -> Int {
        try await server.send(
          "POST", "/v1/devices", headers: [("X-Forwarded-For", client)],
          body: #"{"provider": "fcm", "token": "\#(client)"}"#
        ).status
      }
      var statuses: [Int] = []
      for _ in 0..<11 { statuses.append(try await register(from: "2001:db8:3:1::1")) }
      #expect(statuses == [201] + Array(repeating: 429, count: 10))
      #expect(try await register(from: "2001:db8:3:2::1") == 201)
    }
  }

  @Test("A device registers for an offered push service only")
  func otherService() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: [.fcm])
      settings.push.allowsEndpoint = { _ in true }
    }) { server in
      let phone = #"{"provider": "apns", "app": "a", "token": "\#(String(repeating: "0f", count: 32))"}"#
      for body in [phone, Self.browser] {
        let problem = try await server.send("POST", "/v1/devices", body: body).json(Problem.self, status: 422)
        #expect(problem.errors?.map(\.field) == ["provider"])
      }
      #expect(try await server.send("POST", "/v1/devices", body: Self.fcm).status == 201)
    }
  }

  @Test("Each field of a registration is stored, and the fields that are missing have their defaults")
  func fields() async throws {
    try await TestServer.with(settings: { settings in
      settings.push.offer = PushOffer(providers: PushProvider.allCases)
      settings.push.allowsEndpoint = { _ in true }
    }) { server in
      try await server.makeTopics(["harbour"])
      let token = String(repeating: "0f", count: 32)
      let body = """
        {"provider": "apns", "kind": "app", "app": "org.example.reader", "token": "\(token)", "environment": "sandbox",
          "topics": ["harbour"], "languages": ["de"], "alerts": true, "timeZone": "Europe/Berlin",
          "quiet": {"from": "22:30", "to": "07:15"}}
        """
      let full = DeviceRegistration(
        provider: .apns, kind: .app, token: token, app: "org.example.reader", environment: .sandbox,
        topics: ["harbour"], languages: ["de"], alerts: true, timeZone: "Europe/Berlin",
        quiet: QuietHours(from: 22 * 60 + 30, to: 7 * 60 + 15))
      let keys = WebPushSubscription.Keys(p256dh: Self.p256dh, auth: "BTBZMqHH6r4Tts7J_aSIgg")
      let subscription = WebPushSubscription(endpoint: "https://push.example/1", keys: keys)
      let browser = DeviceRegistration(provider: .webpush, kind: .browser, subscription: subscription)
      for (body, registration) in [
        (body, full), (Self.fcm, DeviceRegistration(provider: .fcm, token: "t")), (Self.browser, browser),
      ] {
        let made = try await server.send("POST", "/v1/devices", body: body)
          .json(DeviceCredentials.self, status: 201)
        #expect(try await server.store.device(made.id)?.registration == registration)
      }
    }
  }

  @Test("A code is required, as a text of at most 256 bytes")
  func codes() async throws {
    try await TestServer.with(settings: { $0.push.offer = PushOffer(providers: [.fcm]) }) { server in
      let made = try await server.send("POST", "/v1/devices", body: Self.fcm)
        .json(DeviceCredentials.self, status: 201)
      for (body, field) in [
        ("{}", "code"), (#"{"code": 1}"#, "code"), (#"{"code": "x", "token": "y"}"#, "token"),
        (#"{"code": "\#(String(repeating: "x", count: 257))"}"#, "code"),
      ] {
        let problem = try await server.send("PUT", Self.path(made, "/confirmation"), key: made.secret, body: body)
          .json(Problem.self, status: 422)
        #expect(problem.errors?.map(\.field) == [field])
      }
    }
  }

  @Test("A body has at most 64 KiB")
  func bodySize() async throws {
    try await TestServer.with(settings: { $0.push.offer = PushOffer(providers: [.fcm]) }) { server in
      for (length, status) in [(65_536, 422), (65_537, 413)] {
        let start = #"{"provider": "fcm", "token": "t", "name": ""#
        let body = start + String(repeating: "x", count: length - start.utf8.count - 2) + #""}"#
        #expect(body.utf8.count == length)
        let response = try await server.send("POST", "/v1/devices", body: body)
        #expect(response.status == status)
      }
    }
  }

  @Test("A request with a parameter has no effect")
  func parameters() async throws {
    try await TestServer.with(settings: { $0.push.offer = PushOffer(providers: [.fcm]) }) { server in
      let made = try await server.send("POST", "/v1/devices", body: Self.fcm)
        .json(DeviceCredentials.self, status: 201)
      let report = #"{"token": "1k3x9qam9pkx.10"}"#
      let requests: [(method: String, path: String, body: String?)] = [
        ("GET", "/v1/push", nil), ("POST", "/v1/devices", Self.fcm), ("PUT", Self.path(made), Self.fcm),
        ("PUT", Self.path(made, "/state"), report), ("PUT", Self.path(made, "/confirmation"), #"{"code": "x"}"#),
        ("DELETE", Self.path(made), nil),
      ]
      for (method, path, body) in requests {
        let response = try await server.send(method, path + "?x=1", key: made.secret, body: body)
        #expect(response.status == 400, "\(method) \(path)")
      }
      #expect(try #require(try await server.store.device(made.id)).lastReport == nil)
    }
  }
}
