import CryptoExtras
import FaultServer
import Foundation
import JWTKit
import News
import NewsDelivery
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

/// Requests to FCM HTTP v1 and to Google's token service, and the meaning of their responses.
@Suite struct FCMSenderTests {
  private static let target = PushTarget.fcm(token: "device:token")
  /// Keys of 2048 bits take a moment to make.
  private static let key = Task { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  private struct Claims: JWTPayload {
    var iss: String
    var scope: String
    var aud: String
    var iat: Int
    var exp: Int

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  private struct Service {
    let server: FaultServer
    let sender: FCMSender
    let time: TestTime
    /// The response to a request for an access token; nil for a new token.
    let tokenResponse: ResponseBox

    func send(_ message: PushMessage = .sample(to: FCMSenderTests.target)) async -> PushAnswer {
      await sender.send(message)
    }

    func takeRequests(_ path: String) -> [FaultRequest] { server.takeRequests().filter { $0.path == path } }
  }

  private final class ResponseBox: Sendable {
    let response = Mutex<FaultResponse?>(nil)
    let issued = Mutex(0)

    func token() -> FaultResponse {
      if let response = response.withLock({ $0 }) { return response }
      let number = issued.withLock { issued in
        issued += 1
        return issued
      }
      return .json(#"{"access_token":"token-\#(number)","expires_in":3599,"token_type":"Bearer"}"#)
    }
  }

  private static let messages = "/v1/projects/example-news/messages:send"

  /// - Parameter answer: The response to a message.
  private static func with(
    _ answer: FaultResponse = .json("{}"), _ body: (Service) async throws -> Void
  ) async throws {
    let (time, box) = (TestTime(), ResponseBox())
    let pem = try await key.value.pemRepresentation
    try await FaultServer.with { server in
      server.respond { $0.path == "/token" ? box.token() : answer }
      let account = try JSONEncoder().encode([
        "type": "service_account", "project_id": "example-news", "private_key_id": "k1", "private_key": pem,
        "client_email": "push@example.org", "token_uri": "\(server.url)/token",
      ])
      let sender = FCMSender(
        try FCMCredentials(json: account), url: server.url, trustRoots: [], timeout: .seconds(60),
        clock: { time.now })
      try await withResource(sender, release: { await $0.shutdown() }) { sender in
        try await body(Service(server: server, sender: sender, time: time, tokenResponse: box))
      }
    }
  }

  private static func failure(_ status: Int, _ code: String?, _ details: String = "") -> FaultResponse {
    let error = code.map {
      #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#
    }
    let all = [error, details.isEmpty ? nil : details].compactMap { $0 }.joined(separator: ",")
    return .json(#"{"error":{"code":\#(status),"message":"m","status":"S","details":[\#(all)]}}"#, status: status)
  }

  @Test("A silent message has priority NORMAL, a collapse key, and data whose values are strings")
  func silent() async throws {
    try await Self.with { service in
      #expect(await service.send(.sample(to: Self.target, asksForReport: true)).result == .sent)
      let request = try #require(service.takeRequests(Self.messages).first)
      #expect(request.method == "POST" && request["Authorization"] == "Bearer token-1")
      #expect(request["Content-Type"] == "application/json")
      #expect(
        String(decoding: request.body, as: UTF8.self)
          == #"{"message":{"android":{"collapse_key":"news","priority":"NORMAL","ttl":"86400s"},"#
          + #""data":{"content-id":"01234567-0000-7000-8000-000000000003","#
          + #""push":"00000000-0000-4000-8000-000000000001","report":"1","token":"1k3x9qam9pkx.10"},"#
          + #""token":"device:token"}}"#)
    }
  }

  @Test("Further fields are data too, except those whose names have a meaning already")
  func data() async throws {
    try await Self.with { service in
      var content = PushContent(token: PushMessage.sampleToken)
      content.data = ["b": "2", "a": "\"1\""]
      for name in [
        "aps", "body", "breaking", "code", "content-id", "push", "report", "title", "token", "url",
      ] { content.data[name] = "x" }
      let message = PushMessage(
        push: PushMessage.samplePush, kind: .silent, device: PushMessage.sampleDevice, target: Self.target,
        deviceKind: .app, content: content, asksForReport: false, attempts: 0, registeredAt: Date(), isProven: true,
        lease: UUID())
      #expect(await service.send(message).result == .sent)
      let request = try #require(service.takeRequests(Self.messages).first)
      let push = "00000000-0000-4000-8000-000000000001"
      #expect(
        String(decoding: request.body, as: UTF8.self).contains(
          #""data":{"push":"\#(push)","token":"1k3x9qam9pkx.10","a":"\"1\"","b":"2"}"#))
    }
  }

  @Test("Data of 4,096 bytes are sent, and larger ones are not")
  func limit() async throws {
    try await Self.with { service in
      func size(_ length: Int) async -> Int? {
        let data = ["a": String(repeating: "x", count: length)]
        let result = await service.send(.sample(to: Self.target, data: data)).result
        #expect(["sent", "invalid"].contains(result.name))
        let frame =
          #"{"message":{"android":{"collapse_key":"news","priority":"NORMAL","ttl":"86400s"},"#
          + #""data":,"token":"device:token"}}"#
        return service.takeRequests(Self.messages).first.map { $0.body.count - frame.utf8.count }
      }
      let rest = 4096 - (await size(0) ?? 0)
      #expect(await size(rest) == 4096)
      #expect(await size(rest + 1) == nil)
    }
  }

  @Test("An alert has priority HIGH, and its data has at most 4,096 bytes")
  func alert() async throws {
    struct Body: Decodable {
      struct Message: Decodable {
        var android: [String: String]
        var data: [String: String]
      }

      var message: Message
    }
    try await Self.with { service in
      let alert = PushAlert(title: "Title", body: longText(1000), url: "https://news.example/a", breaking: true)
      #expect(await service.send(.sample(to: Self.target, alert: alert)).result == .sent)
      let request = try #require(service.takeRequests(Self.messages).first)
      let message = try JSONDecoder().decode(Body.self, from: request.body).message
      #expect(message.android == ["priority": "HIGH", "ttl": "21600s"])
      #expect(message.data["title"] == "Title" && message.data["url"] == "https://news.example/a")
      #expect(message.data["breaking"] == "1" && message.data["body"]?.hasSuffix("\u{2026}") == true)
      #expect(4000...4300 ~= request.body.count)
      let other = PushAlert(title: "Title", body: "Body")
      #expect(await service.send(.sample(to: Self.target, alert: other)).result == .sent)
      let plain = try #require(service.takeRequests(Self.messages).first)
      let data = try JSONDecoder().decode(Body.self, from: plain.body).message.data
      #expect(data["body"] == "Body" && data["breaking"] == nil && data["url"] == nil)
    }
  }

  @Test("The access token is requested once for all by a signed JWT, and again five minutes before its expiry")
  func accessToken() async throws {
    try await Self.with { service in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { #expect(await service.send().result == .sent) } }
      }
      let requests = service.takeRequests("/token")
      let request = try #require(requests.first)
      #expect(requests.count == 1 && request["Content-Type"] == "application/x-www-form-urlencoded")
      let form = FaultRequest(target: "/?" + String(decoding: request.body, as: UTF8.self)).query
      #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
      let keys = JWTKeyCollection()
      await keys.add(
        rsa: try JWTKit.Insecure.RSA.PublicKey(pem: try await Self.key.value.publicKey.pemRepresentation),
        digestAlgorithm: .sha256)
      let claims = try await keys.verify(form["assertion"] ?? "", as: Claims.self)
      #expect(claims.iss == "push@example.org" && claims.aud == "\(service.server.url)/token")
      #expect(claims.scope == "https://www.googleapis.com/auth/firebase.messaging")
      #expect(claims.iat == 1_800_000_000 && claims.exp == 1_800_003_600)
      let header = try #require(form["assertion"]?.split(separator: ".").first)
      let fields = try JSONDecoder().decode([String: String].self, from: try #require(Data(base64URL: header)))
      #expect(fields["alg"] == "RS256" && fields["kid"] == "k1")

      service.time.advance(minutes: 54)
      _ = await service.send()
      #expect(service.takeRequests("/token").isEmpty)
      service.time.advance(minutes: 2)
      _ = await service.send()
      #expect(service.server.requests.map { $0["Authorization"] } == [nil, "Bearer token-2"])
    }
  }

  @Test("A refused access token is renewed once")
  func refusedToken() async throws {
    try await Self.with { service in
      let refusal = Self.failure(401, nil)
      service.server.respond { request in
        if request.path == "/token" { return service.tokenResponse.token() }
        return request["Authorization"] == "Bearer token-1" ? refusal : .json("{}")
      }
      #expect(await service.send().result == .sent)
      service.server.respond { $0.path == "/token" ? service.tokenResponse.token() : refusal }
      let answer = await service.send()
      #expect(answer.pause?.seconds == 300 && answer.result.wait == 300)
      #expect(answer.pause?.reason.contains("TIDINGS_FCM_CREDENTIALS") == true)
      #expect(service.tokenResponse.issued.withLock { $0 } == 3)
    }
  }

  @Test("The refusal of a former access token does not discard the one that has replaced it")
  func lateRefusal() async throws {
    try await Self.with { service in
      let (refusal, messages) = (Self.failure(401, nil), Count())
      service.server.respond { request in
        if request.path == "/token" { return service.tokenResponse.token() }
        guard request["Authorization"] == "Bearer token-1" else { return .json("{}") }
        return messages.next() == 1 ? refusal.hanging(at: .start) : refusal
      }
      async let late = service.send()
      try await eventually("the first message has no response yet") { messages.value == 1 }
      #expect(await service.send().result == .sent)
      #expect(service.tokenResponse.issued.withLock { $0 } == 2)
      service.server.release()
      #expect(await late.result == .sent)
      #expect(service.tokenResponse.issued.withLock { $0 } == 2)
    }
  }

  @Test("Without an access token no message is sent, and the token is not requested by every message")
  func noToken() async throws {
    try await Self.with { service in
      service.tokenResponse.response.withLock { $0 = FaultResponse(status: 503) }
      for _ in 0..<5 { #expect(await service.send().isFailure) }
      #expect(service.server.takeRequests().map(\.path) == ["/token"])
      service.time.advance(minutes: 2)
      service.tokenResponse.response.withLock { $0 = .json(#"{"error":"invalid_grant"}"#, status: 400) }
      let answer = await service.send()
      #expect(answer.pause?.reason.contains("TIDINGS_FCM_CREDENTIALS") == true)
      service.time.advance(minutes: 2)
      service.tokenResponse.response.withLock { $0 = nil }
      #expect(await service.send().result == .sent)
    }
  }

  @Test(
    "An access token is renewed five minutes before its end, and one of a short life after half of it",
    arguments: [
      (#","expires_in":200"#, 100), (#","expires_in":600"#, 300), (#","expires_in":900"#, 600), ("", 3300),
    ] as [(String, Double)])
  func tokenLife(_ field: String, _ seconds: Double) async throws {
    try await Self.with { service in
      service.tokenResponse.response.withLock { $0 = .json(#"{"access_token":"a"\#(field)}"#) }
      #expect(await service.send().result == .sent)
      service.time.advance(minutes: (seconds - 1) / 60)
      #expect(await service.send().result == .sent)
      #expect(service.takeRequests("/token").count == 1)
      service.time.advance(minutes: 2.0 / 60)
      #expect(await service.send().result == .sent)
      #expect(service.takeRequests("/token").count == 1)
    }
  }

  @Test("A token service that fails is asked again after a growing wait, but at the latest after a minute")
  func tokenWaits() async throws {
    try await Self.with { service in
      func answer(_ response: FaultResponse?) { service.tokenResponse.response.withLock { $0 = response } }
      func advance(_ seconds: Double) { service.time.advance(minutes: seconds / 60) }
      answer(FaultResponse(status: 500))
      #expect(5...6.6 ~= (await service.send().result.wait ?? 0))
      advance(7)
      answer(FaultResponse(status: 503).setting("Retry-After", "3600"))
      #expect(3600...4700 ~= (await service.send().result.wait ?? 0))
      #expect(service.takeRequests("/token").count == 2)
      advance(59)
      #expect(await service.send().isFailure)
      #expect(service.takeRequests("/token").isEmpty)
      advance(2)
      answer(FaultResponse(status: 503))
      #expect(20...26.1 ~= (await service.send().result.wait ?? 0))
      // A success ends the growth.
      advance(61)
      answer(nil)
      #expect(await service.send().result == .sent)
      advance(3600)
      answer(FaultResponse(status: 503))
      #expect(5...6.6 ~= (await service.send().result.wait ?? 0))
    }
  }

  @Test(
    "An answer of the token service that only the operator can change pauses the service, and no other does",
    arguments: [(200, false), (429, false), (500, false), (499, true), (401, true), (301, true)])
  func tokenErrors(_ status: Int, _ isPause: Bool) async throws {
    try await Self.with { service in
      service.tokenResponse.response.withLock { $0 = .json("{}", status: status) }
      let answer = await service.send()
      #expect(answer.isFailure == !isPause && answer.pause?.seconds == (isPause ? 300 : nil))
      #expect(service.takeRequests(Self.messages).isEmpty)
    }
  }

  @Test("A token service that cannot be reached is a failure of the service, and no error of the operator")
  func unreachableTokenService() async throws {
    try await Self.with { service in
      await service.server.stop()
      for range in [5...6.6, 10...13.1] as [ClosedRange<Double>] {
        let answer = await service.send()
        #expect(answer.isFailure && answer.pause == nil && range ~= answer.result.wait ?? 0)
        #expect("\(answer.result)".contains("token service: no connection could be made"))
        service.time.advance(minutes: 1)
      }
    }
  }

  private static let badRequest = #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[]}"#
  /// The code of FCM after a detail of another type.
  private static let lateCode =
    #"{"@type":"type.googleapis.com/google.rpc.Help","links":[]},"#
    + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}"#

  @Test(
    "Each documented error has its meaning",
    arguments: [
      (404, "UNREGISTERED", "", "gone"), (404, nil, lateCode, "gone"), (400, "INVALID_ARGUMENT", "", "gone"),
      (400, "INVALID_ARGUMENT", badRequest, "invalid"), (400, nil, "", "invalid"), (400, nil, badRequest, "invalid"),
      (403, "SENDER_ID_MISMATCH", "", "tokenError"), (403, nil, "", "pause"), (404, nil, "", "pause"),
      (401, "THIRD_PARTY_AUTH_ERROR", "", "invalid"), (429, "QUOTA_EXCEEDED", "", "failure"),
      (500, "INTERNAL", "", "failure"), (503, "UNAVAILABLE", "", "failure"), (502, nil, "", "failure"),
      (408, nil, "", "failure"), (413, nil, "", "invalid"), (302, nil, "", "pause"),
      // Something else than FCM has answered.
      (204, nil, "", "pause"),
    ] as [(Int, String?, String, String)])
  func errors(_ status: Int, _ code: String?, _ details: String, _ expected: String) async throws {
    try await Self.with(Self.failure(status, code, details)) { service in
      let answer = await service.send()
      switch expected {
      case "pause":
        #expect(answer.pause?.seconds == 300 && answer.result.wait == 300)
        let setting = status < 400 ? "TIDINGS_FCM_URL" : "TIDINGS_FCM_CREDENTIALS"
        #expect(answer.pause?.reason.contains(setting) == true)
      case "failure":
        #expect(answer.isFailure && answer.pause == nil && answer.result.wait ?? 0 >= (status == 429 ? 60 : 5))
      default: #expect(answer.result.name == expected && answer.pause == nil && !answer.isFailure)
      }
      #expect(answer.refusesKey == ["SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR"].contains(code ?? ""))
    }
  }

  @Test(
    "An error without a code of FCM is shown by its status, as one word of at most 40 letters",
    arguments: [
      ("FAILED_PRECONDITION", "FAILED_PRECONDITION"), (#"FAILED\u001b[31m \u00e9"#, "FAILEDm"),
      (String(repeating: "A", count: 41), String(repeating: "A", count: 40)),
    ])
  func status(_ status: String, _ shown: String) async throws {
    try await Self.with(.json(#"{"error":{"status":"\#(status)"}}"#, status: 400)) { service in
      #expect(await service.send().result == .invalid(reason: "FCM answers 400 \(shown)"))
    }
  }

  @Test("A response of more than 64 KiB is no acceptance")
  func largeResponse() async throws {
    for (bytes, isRead) in [(1000, true), (1 << 17, false)] {
      try await Self.with(.huge(bytes: bytes)) { service in
        let answer = await service.send()
        #expect((answer.result == .sent) == isRead && answer.isFailure == !isRead)
      }
    }
  }

  @Test("Retry-After is obeyed")
  func retryAfter() async throws {
    try await Self.with(Self.failure(429, "QUOTA_EXCEEDED").setting("Retry-After", "20")) { service in
      #expect(20...26 ~= (await service.send().result.wait ?? 0))
    }
  }

  @Test("Waits grow with the attempts, with and without a response")
  func waits() async throws {
    for status in [429, 503] {
      try await Self.with(Self.failure(status, "UNAVAILABLE")) { service in
        for _ in 0..<2 {
          #expect(320...417 ~= (await service.send(.sample(to: Self.target, attempts: 6)).result.wait ?? 0))
          await service.server.stop()
        }
      }
    }
  }
}
