import Foundation
import NIOHTTP1
import News
import NewsDelivery
import NewsStore
import PushMocks
import TestKit
import Testing

/// The rules by which the mocks refuse requests. A mock that accepted anything would let each sender pass.
@Suite struct MockRulesTests {
  private static let device = String(repeating: "0f", count: 32)

  private static func lines(_ headers: HTTPHeaders, without names: String...) -> HTTPHeaders {
    var headers = headers
    for name in names { headers.remove(name: name) }
    return headers
  }

  private static func lines(_ headers: HTTPHeaders, _ name: String, _ value: String) -> HTTPHeaders {
    var headers = headers
    headers.replaceOrAdd(name: name, value: value)
    return headers
  }

  @Test("APNs refuses requests that break a rule, with the documented reason")
  func apns() async throws {
    try await MockedSender.with {
      try $0.apnsSender()
    } _: { service in
      let apns = service.mocks.apns
      let target = PushTarget.apns(token: Self.device, topic: "example.news", environment: .production)
      #expect(await service.send(to: target).result == .sent)
      let message = try #require(apns.record.messages.first)
      let (path, headers, body) = ("/3/device/\(Self.device)", message.headers, Array(message.payload))
      #expect(apns.trial(path, headers, body) == (200, nil))

      func expect(
        _ status: Int, _ rule: String, _ headers: HTTPHeaders? = nil, path: String? = nil, _ text: String? = nil
      ) {
        let result = apns.trial(
          path ?? "/3/device/\(Self.device)", headers ?? message.headers, text.map { Array($0.utf8) } ?? body)
        #expect(result == (status, rule))
      }
      expect(404, "BadPath", path: "/device/\(Self.device)")
      expect(400, "MissingDeviceToken", path: "/3/device/")
      expect(400, "BadDeviceToken", path: "/3/device/0g")
      expect(403, "MissingProviderToken", Self.lines(headers, without: "authorization"))
      let token = try #require(headers.first(name: "authorization"))
      expect(403, "InvalidProviderToken", Self.lines(headers, "authorization", "Basic \(token)"))
      // The first character of the signature changes.
      let parts = token.split(separator: ".")
      let forged = "\(parts[0]).\(parts[1]).\(parts[2].hasPrefix("A") ? "B" : "A")\(parts[2].dropFirst())"
      expect(403, "InvalidProviderToken", Self.lines(headers, "authorization", forged))
      expect(400, "MissingTopic", Self.lines(headers, without: "apns-topic"))
      expect(400, "InvalidPushType", Self.lines(headers, without: "apns-push-type"))
      expect(400, "InvalidPushType", Self.lines(headers, "apns-push-type", "alert"))
      expect(400, "BadPriority", Self.lines(headers, "apns-priority", "10"))
      expect(400, "BadPriority", Self.lines(headers, without: "apns-priority"))
      expect(400, "BadExpirationDate", Self.lines(headers, "apns-expiration", "soon"))
      expect(400, "BadMessageId", Self.lines(headers, "apns-id", "1"))
      expect(400, "BadCollapseId", Self.lines(headers, "apns-collapse-id", String(repeating: "a", count: 65)))
      var double = headers
      double.add(name: "apns-topic", value: "another.app")
      expect(400, "DuplicateHeaders", double)
      expect(400, "PayloadEmpty", headers, "")
      expect(400, "PayloadEmpty", headers, #"{"aps":{}}"#)
      expect(400, "PayloadEmpty", headers, #"{"aps":"#)
      expect(413, "PayloadTooLarge", headers, String(repeating: " ", count: 4097))
      for key in [#""alert":"x""#, #""sound":"x""#, #""badge":1"#] {
        expect(400, "InvalidPushType", headers, #"{"aps":{"content-available":1,\#(key)}}"#)
      }
    }
  }

  @Test("APNs refuses provider tokens that are too old, or are renewed too often on a connection")
  func providerTokens() async throws {
    let (sender, service) = (TestTime(), TestTime())
    try await MockedSender.with({ $0.clock = { service.now } }) {
      try $0.apnsSender(clock: { sender.now })
    } _: { mocked in
      let target = PushTarget.apns(token: Self.device, topic: "example.news", environment: .production)
      #expect(await mocked.send(to: target).result == .sent)
      // The clock of the sender is too fast.
      sender.advance(minutes: 41)
      #expect(await mocked.send(to: target).result.name == "retry")
      #expect(mocked.mocks.apns.record.refusals == ["InvalidProviderToken": 1])
      service.advance(minutes: 41)
      #expect(await mocked.send(to: target).result == .sent)
      service.advance(minutes: 61)
      #expect(await mocked.send(to: target).pause?.reason.contains("ExpiredProviderToken") == true)
    }
  }

  @Test("FCM refuses messages that break a rule, with the field that does")
  func fcm() async throws {
    try await MockedSender.with {
      try $0.fcmSender()
    } _: { service in
      let fcm = service.mocks.fcm
      #expect(await service.send(to: .fcm(token: "device")).result == .sent)
      let headers = try #require(fcm.record.messages.first?.headers)
      let path = "/v1/projects/\(FCMMock.projectID)/messages:send"
      func rule(_ message: String, _ headers: HTTPHeaders, path: String) -> (Int, String?) {
        fcm.trial(path, headers, Array(#"{"message":{\#(message)}}"#.utf8))
      }
      let android = #""android":{"priority":"NORMAL"}"#
      #expect(rule(#""token":"a","data":{"k":"v"},\#(android)"#, headers, path: path) == (200, nil))
      #expect(rule(#""token":"a",\#(android)"#, headers, path: "/v1/projects/other/messages:send").0 == 404)
      let without = Self.lines(headers, without: "authorization")
      #expect(rule(#""token":"a",\#(android)"#, without, path: path) == (401, "the access token is not valid"))
      for (message, field) in [
        (#"\#(android)"#, "message.token"), (#""token":"",\#(android)"#, "message.token"),
        (#""token":"a","topic":"b",\#(android)"#, "message.token"), (#""token":"a""#, "message.android"),
        (#""token":"a","android":{}"#, "message.android.priority"),
        (#""token":"a","android":{"priority":"10"}"#, "message.android.priority"),
        (#""token":"a","android":{"priority":"HIGH","ttl":3600}"#, "message.android.ttl"),
        (#""token":"a","android":{"priority":"HIGH","ttl":"2419201s"}"#, "message.android.ttl"),
        (#""token":"a","android":{"priority":"HIGH","color":"red"}"#, "message.android.color"),
        (#""token":"a","data":{"k":1},\#(android)"#, "message.data.k"),
        (#""token":"a","data":{"from":"x"},\#(android)"#, "message.data.from"),
        (#""token":"a","data":{"k":"\#(String(repeating: "v", count: 4096))"},\#(android)"#, "message.data"),
        (#""token":"a","colour":"red",\#(android)"#, "message.colour"),
      ] {
        let (status, violated) = rule(message, headers, path: path)
        #expect(status == 400 && violated?.hasPrefix("\(field) ") == true, "\(field): \(violated ?? "none")")
      }
    }
  }

  @Test("The token service refuses requests that are not those of the service account")
  func tokenService() async throws {
    try await PushMocks.with { mocks in
      func rule(_ body: String) -> String? {
        mocks.fcm.trial(
          "/token", ["content-type": "application/x-www-form-urlencoded", "host": "127.0.0.1"], Array(body.utf8)
        ).rule
      }
      let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
      #expect(rule("grant_type=password")?.hasPrefix("unsupported_grant_type") == true)
      #expect(rule("\(grant)&assertion=a.b.c") == "invalid_grant: the assertion is malformed")
      func token(_ header: String, _ claims: String) -> String {
        [header, claims, "signature"].map { String(base64URL: $0.utf8) }.joined(separator: ".")
      }
      let now = Int(Date().timeIntervalSince1970)
      func claims(aud: String = "https://127.0.0.1/token", life: Int = 3600) -> String {
        #"{"iss":"push@mock-news.iam.gserviceaccount.com","aud":"\#(aud)","iat":\#(now),"exp":\#(now + life),"#
          + #""scope":"https://www.googleapis.com/auth/firebase.messaging"}"#
      }
      let header = #"{"alg":"RS256"}"#
      #expect(rule("\(grant)&assertion=\(token(#"{"alg":"none"}"#, claims()))")?.contains("header") == true)
      #expect(rule("\(grant)&assertion=\(token(header, claims(aud: "https://a/")))")?.contains("aud") == true)
      #expect(rule("\(grant)&assertion=\(token(header, claims(life: 7200)))")?.contains("an hour") == true)
      #expect(rule("\(grant)&assertion=\(token(header, claims()))")?.contains("signature") == true)
    }
  }

  @Test("A Web Push service refuses requests that break a rule")
  func webPush() async throws {
    try await MockedSender.with {
      try $0.webPushSender()
    } _: { service in
      let webPush = service.mocks.webPush
      let subscription = webPush.subscribe()
      let target = PushTarget.webPush(
        endpoint: subscription.endpoint, p256dh: subscription.p256dh, auth: subscription.auth)
      #expect(await service.send(to: target).result == .sent)
      let headers = try #require(webPush.record.messages.first?.headers)
      let path = "/push/\(subscription.id)"
      func expect(_ status: Int, _ rule: String, _ headers: HTTPHeaders, size: Int = 200) {
        #expect(webPush.trial(path, headers, [UInt8](repeating: 66, count: size)) == (status, rule))
      }
      #expect(webPush.trial("/push/unknown", headers, []).status == 404)
      expect(400, "TTL is missing", Self.lines(headers, without: "ttl"))
      expect(400, "TTL is not a number", Self.lines(headers, "ttl", "-1"))
      expect(400, "Urgency is unknown", Self.lines(headers, "urgency", "urgent"))
      expect(
        400, "Topic is not base64url of at most 32 characters",
        Self.lines(headers, "topic", String(repeating: "a", count: 33)))
      expect(400, "Topic is not base64url of at most 32 characters", Self.lines(headers, "topic", "a+b"))
      expect(400, "Content-Encoding is not aes128gcm", Self.lines(headers, "content-encoding", "aesgcm"))
      expect(413, "the body has more than 4096 bytes", headers, size: 4097)
      expect(401, "Authorization is missing", Self.lines(headers, without: "authorization"))
      expect(401, "Authorization is malformed", Self.lines(headers, "authorization", "vapid t=a"))
      let token = try #require(headers.first(name: "authorization"))
      let forged = token.replacing(".", with: ".AA", maxReplacements: 1)
      expect(403, "the signature of the token is not valid", Self.lines(headers, "authorization", forged))
      expect(403, "aud is not the origin", Self.lines(headers, "host", "push.example.org"))
      expect(400, "the key id is not a public key of P-256", headers)
    }
  }
}
