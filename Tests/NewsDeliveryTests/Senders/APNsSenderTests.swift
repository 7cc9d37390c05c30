import Crypto
import FaultServer
import Foundation
import JWTKit
import News
import NewsDelivery
import NewsStore
import TestKit
import Testing

/// Requests to APNs, as "Sending notification requests to APNs" states them, and the meaning of its responses.
@Suite struct APNsSenderTests {
  private static let device = String(repeating: "0f", count: 32)
  private static let topic = "example.news"
  private static let target = PushTarget.apns(token: device, topic: topic, environment: .production)

  private struct Claims: JWTPayload {
    var iss: String
    var iat: Int

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  private struct Service {
    let server: FaultServer
    let sender: APNsSender
    let key: P256.Signing.PrivateKey
    /// The time of the provider token, in seconds since 1970.
    let time: TestTime

    func send(_ message: PushMessage = .sample(to: APNsSenderTests.target)) async -> PushAnswer {
      await sender.send(message)
    }

    /// The provider tokens of all requests since the last call.
    func takeTokens() -> [String] { server.takeRequests().map { $0["Authorization"] ?? "" } }
  }

  private static func with(
    timeout: Duration = .seconds(60), _ body: (Service) async throws -> Void
  ) async throws {
    let key = P256.Signing.PrivateKey()
    let time = TestTime()
    let credentials = try APNsCredentials(pem: key.pemRepresentation, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    try await FaultServer.with({ _ in FaultResponse() }) { server in
      let sender = APNsSender(
        credentials, url: nil, trustRoots: [], timeout: timeout, service: { "\(server.url)/\($0)" },
        clock: { time.now })
      try await withResource(sender, release: { await $0.shutdown() }) { sender in
        try await body(Service(server: server, sender: sender, key: key, time: time))
      }
    }
  }

  private static func failure(_ status: Int, _ reason: String, timestamp: Int? = nil) -> FaultResponse {
    .json(#"{"reason":"\#(reason)"\#(timestamp.map { ",\"timestamp\":\($0)" } ?? "")}"#, status: status)
  }

  @Test("TLS 1.2 at least is offered")
  func versions() async throws {
    let key = P256.Signing.PrivateKey()
    let credentials = try APNsCredentials(pem: key.pemRepresentation, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    let versions = try await ClientHello.versions { port in
      let sender = APNsSender(
        credentials, url: "https://127.0.0.1:\(port)", trustRoots: [], timeout: .seconds(60), clock: { Date() })
      #expect(await sender.send(.sample(to: Self.target)).isFailure)
      await sender.shutdown()
    }
    #expect(versions == [0x0303, 0x0304])
  }

  @Test("A silent message is a background notification with priority 5 and a signed provider token")
  func silent() async throws {
    try await Self.with { service in
      let message = PushMessage.sample(to: Self.target, asksForReport: true)
      #expect(await service.send(message).result == .sent)
      let request = try #require(service.server.takeRequests().first)
      #expect(request.method == "POST" && request.target == "/production/3/device/\(Self.device)")
      #expect(request["apns-topic"] == Self.topic && request["apns-push-type"] == "background")
      #expect(request["apns-priority"] == "5" && request["apns-expiration"] == "1800086400")
      #expect(request["apns-collapse-id"] == "news" && request["content-type"] == "application/json")
      #expect(request["apns-id"] == "00000000-0000-4000-8000-000000000003")
      // An outage of APNs concerns all devices.
      #expect(service.sender.provider == .apns && service.sender.sharesFailures)
      #expect(
        String(decoding: request.body, as: UTF8.self)
          == #"{"aps":{"content-available":1},"content-id":"01234567-0000-7000-8000-000000000003","#
          + #""push":"00000000-0000-4000-8000-000000000001","report":1,"token":"1k3x9qam9pkx.10"}"#)

      let authorization = try #require(request["Authorization"])
      #expect(authorization.hasPrefix("bearer "))
      let keys = JWTKeyCollection()
      await keys.add(ecdsa: try ES256PublicKey(pem: service.key.publicKey.pemRepresentation))
      let token = String(authorization.dropFirst(7))
      let claims = try await keys.verify(token, as: Claims.self)
      #expect(claims.iss == "DEF123GHIJ" && claims.iat == 1_800_000_000)
      let header = try #require(token.split(separator: ".").first)
      let fields = try JSONDecoder().decode([String: String].self, from: try #require(Data(base64URL: header)))
      #expect(fields["alg"] == "ES256" && fields["kid"] == "ABC123DEFG")
    }
  }

  @Test("An alert has priority 10, its texts, its address, and the interruption level of breaking news")
  func alert() async throws {
    try await Self.with { service in
      let alert = PushAlert(title: "Title", body: "Body", url: "https://news.example/a", breaking: true)
      #expect(await service.send(.sample(to: Self.target, alert: alert)).result == .sent)
      let request = try #require(service.server.takeRequests().first)
      #expect(request["apns-push-type"] == "alert" && request["apns-priority"] == "10")
      #expect(request["apns-expiration"] == "1800021600")
      #expect(request["apns-collapse-id"] == "01234567-0000-7000-8000-000000000003")
      #expect(
        String(decoding: request.body, as: UTF8.self)
          == #"{"aps":{"alert":{"body":"Body","title":"Title"},"interruption-level":"time-sensitive"},"#
          + #""content-id":"01234567-0000-7000-8000-000000000003","push":"00000000-0000-4000-8000-000000000001","#
          + #""token":"1k3x9qam9pkx.10","url":"https://news.example/a"}"#)
    }
  }

  @Test("The texts of an alert are cut between characters, so that the payload has at most 4,096 bytes")
  func longAlert() async throws {
    struct Payload: Decodable {
      struct APS: Decodable {
        var alert: [String: String]
      }

      var aps: APS
    }
    try await Self.with { service in
      for (title, body) in [("Title", longText(1000)), (longText(1000), "Body"), (longText(100), longText(300))] {
        #expect(await service.send(.sample(to: Self.target, alert: .init(title: title, body: body))).result == .sent)
        let request = try #require(service.server.takeRequests().first)
        // The next character would have needed 13 bytes.
        #expect(4096 - 13...4096 ~= request.body.count)
        let sent = try JSONDecoder().decode(Payload.self, from: request.body).aps.alert
        // The body is cut first.
        #expect(sent["title"] == title || title.count > 1000)
        for (text, whole) in [(sent["title"], title), (sent["body"], body)] {
          let text = try #require(text)
          let isCut = text.hasSuffix("\u{2026}") && whole.hasPrefix(text.dropLast())
          #expect(text == whole || isCut || text.isEmpty && title.count > 1000)
        }
        #expect(sent["title"] == title || sent["body"] == "")
      }
    }
  }

  @Test(
    "Each documented response has its meaning",
    arguments: [
      (400, "BadDeviceToken", "tokenError"), (400, "DeviceTokenNotForTopic", "tokenError"),
      (400, "TopicDisallowed", "tokenError"), (400, "BadTopic", "tokenError"), (400, "MissingTopic", "tokenError"),
      (400, "MissingDeviceToken", "tokenError"), (403, "BadEnvironmentKeyIdInToken", "tokenError"),
      (400, "BadCollapseId", "invalid"), (400, "BadExpirationDate", "invalid"), (400, "BadMessageId", "invalid"),
      (400, "BadPriority", "invalid"), (400, "DuplicateHeaders", "invalid"), (400, "InvalidPushType", "invalid"),
      (400, "PayloadEmpty", "invalid"), (413, "PayloadTooLarge", "invalid"), (400, "IdleTimeout", "failure"),
      (403, "BadCertificate", "pause"), (403, "BadCertificateEnvironment", "pause"), (403, "Forbidden", "pause"),
      (403, "InvalidProviderToken", "pause"), (403, "MissingProviderToken", "pause"),
      (403, "UnrelatedKeyIdInToken", "pause"), (404, "BadPath", "pause"), (405, "MethodNotAllowed", "pause"),
      (410, "ExpiredToken", "gone"), (410, "Unregistered", "gone"),
      (429, "TooManyProviderTokenUpdates", "pause"), (429, "TooManyRequests", "retry"),
      (500, "InternalServerError", "failure"), (503, "ServiceUnavailable", "failure"), (503, "Shutdown", "failure"),
      (401, "Unknown", "pause"), (408, "Unknown", "failure"), (418, "Unknown", "pause"), (301, "Unknown", "pause"),
      // Something else than APNs has answered.
      (201, "Unknown", "pause"),
    ])
  func responses(_ status: Int, _ reason: String, _ expected: String) async throws {
    try await Self.with { service in
      service.server.respond { _ in Self.failure(status, reason) }
      let answer = await service.send()
      switch expected {
      case "pause":
        let pause = try #require(answer.pause)
        #expect(pause.seconds == (status == 429 ? 60 : 300) && answer.result.wait == pause.seconds)
        let setting = [401, 403].contains(status) ? "TIDINGS_APNS_KEY_FILE" : "TIDINGS_APNS_URL"
        #expect(pause.reason.contains(reason) && pause.reason.contains(setting) == (status != 429))
      case "failure": #expect(answer.isFailure && answer.result.wait ?? 0 > 0 && answer.pause == nil)
      default: #expect(answer.result.name == expected && answer.pause == nil && !answer.isFailure)
      }
      #expect(expected == "gone" || answer.result.reason?.hasPrefix("APNs answers \(status) \(reason)") == true)
      #expect(service.server.requests.count == 1)
      // Only these say that the key is wrong, and not perhaps the token of one device.
      #expect(
        answer.refusesKey == ["TopicDisallowed", "BadTopic", "BadEnvironmentKeyIdInToken"].contains(reason))
    }
  }

  @Test("A device is gone since the time that APNs names")
  func gone() async throws {
    try await Self.with { service in
      service.server.respond(next: Self.failure(410, "Unregistered", timestamp: 1_700_000_000_500))
      #expect(await service.send().result == .gone(since: Date(timeIntervalSince1970: 1_700_000_000.5)))
    }
  }

  @Test(
    "The reason of a response is shown as one word of at most 40 letters",
    arguments: [
      (#"Bad\u001b[31m \u00e9Topic"#, "BadmTopic"),
      (String(repeating: "a", count: 41), String(repeating: "a", count: 40)),
    ])
  func reasons(_ reason: String, _ shown: String) async throws {
    try await Self.with { service in
      service.server.respond(next: Self.failure(400, reason))
      #expect(await service.send().result == .invalid(reason: "APNs answers 400 \(shown)"))
    }
  }

  @Test("Retry-After is obeyed, and waits grow with the attempts")
  func waits() async throws {
    try await Self.with { service in
      service.server.respond(next: Self.failure(503, "ServiceUnavailable").setting("Retry-After", "7200"))
      #expect(7200...9400 ~= (await service.send().result.wait ?? 0))
      // A longer wait than a day is not believed.
      service.server.respond(next: Self.failure(503, "ServiceUnavailable").setting("Retry-After", "200000"))
      #expect(86_400...112_400 ~= (await service.send().result.wait ?? 0))
      // A date is relative to the clock of the service, which may differ from this one.
      let date = Date() + 7200
      service.server.respond(next: .busy(503, retryAfter: .date(date)).dated(date - 600))
      #expect(600...790 ~= (await service.send().result.wait ?? 0))
      service.server.respond { _ in Self.failure(400, "IdleTimeout") }
      #expect(40...53 ~= (await service.send(.sample(to: Self.target, attempts: 3)).result.wait ?? 0))
      service.server.respond { _ in FaultResponse(status: 500) }
      #expect(await service.send().result.reason == "APNs answers 500")
      #expect(5...7 ~= (await service.send().result.wait ?? 0))
      #expect(40...53 ~= (await service.send(.sample(to: Self.target, attempts: 3)).result.wait ?? 0))
      #expect(900...1200 ~= (await service.send(.sample(to: Self.target, attempts: 100)).result.wait ?? 0))
      service.server.respond { _ in Self.failure(429, "TooManyRequests") }
      #expect(await service.send().result.wait ?? 0 >= 60)
      #expect(320...417 ~= (await service.send(.sample(to: Self.target, attempts: 6)).result.wait ?? 0))
      let updates = Self.failure(429, "TooManyProviderTokenUpdates")
      service.server.respond(next: updates, updates.setting("Retry-After", "600"))
      #expect(await service.send().pause?.seconds == 60)
      #expect(await service.send().pause?.seconds == 600)
    }
  }

  @Test("A payload of 4,096 bytes is sent as it is, and a larger one has its text cut, or is not sent")
  func limit() async throws {
    try await Self.with { service in
      func text(_ message: PushMessage) async -> String? {
        let result = await service.send(message).result
        let requests = service.server.takeRequests()
        #expect(requests.count == (result == .sent ? 1 : 0) && ["sent", "invalid"].contains(result.name))
        return requests.first.map { String(decoding: $0.body, as: UTF8.self) }
      }
      func silent(_ length: Int) async -> String? {
        await text(.sample(to: Self.target, data: ["a": String(repeating: "x", count: length)]))
      }
      func alert(_ length: Int) async -> String? {
        let alert = PushAlert(title: "Title", body: String(repeating: "x", count: length))
        return await text(.sample(to: Self.target, alert: alert))
      }
      let rest = 4096 - (await silent(0)?.utf8.count ?? 0)
      #expect(await silent(rest)?.utf8.count == 4096)
      #expect(await silent(rest + 1) == nil)

      let length = 4096 - (await alert(0)?.utf8.count ?? 0)
      let whole = try #require(await alert(length))
      #expect(whole.utf8.count == 4096 && !whole.contains("\u{2026}") && !whole.contains("interruption-level"))
      let cut = try #require(await alert(length + 1))
      #expect(cut.utf8.count == 4096 && cut.contains("x\u{2026}"))
    }
  }

  @Test("All requests share a provider token, which is renewed after 40 minutes")
  func tokenReuse() async throws {
    try await Self.with { service in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { #expect(await service.send().result == .sent) } }
      }
      let first = Set(service.takeTokens())
      #expect(first.count == 1)
      service.time.advance(minutes: 39)
      _ = await service.send()
      #expect(Set(service.takeTokens()) == first)
      service.time.advance(minutes: 2)
      _ = await service.send()
      let second = Set(service.takeTokens())
      #expect(second.count == 1 && second != first)
      // APNs would refuse a token from the future of a clock that was set back.
      service.time.advance(minutes: -60)
      _ = await service.send()
      let third = Set(service.takeTokens())
      #expect(third.count == 1 && third != second)
    }
  }

  @Test("An expired provider token is renewed at once, but never within 20 minutes")
  func expiredToken() async throws {
    try await Self.with { service in
      _ = await service.send()
      let first = service.takeTokens()
      service.time.advance(minutes: 5)
      service.server.respond(next: Self.failure(403, "ExpiredProviderToken"))
      let refused = await service.send()
      #expect(refused.pause?.seconds == 15 * 60 && refused.result.wait == 15 * 60)
      #expect(service.takeTokens() == first)

      service.time.advance(minutes: 16)
      service.server.respond(next: Self.failure(403, "ExpiredProviderToken"))
      #expect(await service.send().result == .sent)
      let tokens = service.takeTokens()
      #expect(tokens.count == 2 && tokens.first == first.first && tokens.last != first.first)
    }
  }

  @Test("A message whose token was refused while another one has renewed it is sent again at once")
  func renewedMeanwhile() async throws {
    try await Self.with { service in
      _ = await service.send()
      service.time.advance(minutes: 21)
      let refusal = Self.failure(403, "ExpiredProviderToken")
      service.server.respond(next: refusal.hanging(at: .start))
      async let late = service.send()
      try await eventually("the first message is under way") { service.server.requests.count == 2 }
      service.server.respond(next: refusal)
      #expect(await service.send().result == .sent)
      service.server.release()
      #expect(await late.result == .sent)
      let tokens = service.takeTokens()
      #expect(tokens.count == 5 && Set(tokens).count == 2)
    }
  }

  @Test("A request without a response ends with the timeout, and a lost connection is replaced")
  func connections() async throws {
    try await Self.with(timeout: .seconds(1)) { service in
      service.server.respond(next: FaultResponse().hanging(at: .start))
      let answer = await service.send()
      #expect(answer.isFailure && answer.result.wait ?? 0 >= 5)
      // The timeout may be too short for a busy machine.
      try await eventually("a message is sent") { await service.send().result == .sent }
    }
    try await Self.with { service in
      service.server.respond(next: FaultResponse().resetting(at: .start))
      #expect(await service.send().result == .sent)
      #expect(service.server.takeRequests().count == 2)
      await service.server.stop()
      let start = ContinuousClock.now
      for _ in 0..<5 {
        let answer = await service.send(.sample(to: Self.target, attempts: 3))
        #expect(answer.isFailure && 40...53 ~= answer.result.wait ?? 0)
        #expect("\(answer.result)".contains("no connection could be made"))
      }
      // No message waits in memory for a connection, which takes ten seconds.
      #expect(ContinuousClock.now - start < .seconds(40))
    }
  }

  @Test("The request of a task that is cancelled ends at once")
  func cancellation() async throws {
    try await Self.with { service in
      service.server.respond(next: FaultResponse().hanging(at: .start))
      let sending = Task { await service.send() }
      try await eventually("the message is under way") { service.server.requests.count == 1 }
      let start = ContinuousClock.now
      sending.cancel()
      let answer = await sending.value
      #expect(answer.isFailure && "\(answer.result)".contains("the server is stopping"))
      #expect(ContinuousClock.now - start < .seconds(30))
      #expect(service.server.requests.count == 1)
    }
  }

  @Test("After the shutdown no message is sent")
  func afterShutdown() async throws {
    try await Self.with { service in
      await service.sender.shutdown()
      #expect(await service.send().isFailure)
      #expect(service.server.connections == 0)
    }
  }

  @Test("Each environment has its service, because the tokens of one are unknown to the other")
  func environments() {
    #expect(APNsSender.service(of: .production) == "https://api.push.apple.com")
    #expect(APNsSender.service(of: .sandbox) == "https://api.sandbox.push.apple.com")
  }

  @Test("A token that is not hexadecimal is not sent, because it would change the path")
  func malformedTokens() async throws {
    try await Self.with { service in
      for token in ["", "0f/../../x", "0f?", "xyz", String(repeating: "f", count: 401)] {
        let target = PushTarget.apns(token: token, topic: Self.topic, environment: .sandbox)
        #expect(await service.send(.sample(to: target)).result.name == "tokenError")
      }
      for topic in ["", "a\r\nb", "a b", "a\u{7F}", "\u{E9}"] {
        let target = PushTarget.apns(token: Self.device, topic: topic, environment: .sandbox)
        #expect(await service.send(.sample(to: target)).result.name == "tokenError")
      }
      #expect(service.server.requests.isEmpty)
      let longest = PushTarget.apns(token: String(repeating: "f", count: 400), topic: "!~", environment: .sandbox)
      #expect(await service.send(.sample(to: longest)).result == .sent)
      #expect(service.server.requests.first?.target.hasPrefix("/sandbox/3/device/f") == true)
    }
  }
}
