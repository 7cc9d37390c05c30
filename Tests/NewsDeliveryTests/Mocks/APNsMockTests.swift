import Foundation
import NIOHTTP1
import News
import NewsDelivery
import NewsStore
import PushMocks
import TestKit
import Testing

/// Requests to a mock of APNs over HTTP/2, which checks them as the documentation states it.
@Suite struct APNsMockTests {
  private static let topic = "example.news"

  private static func device(_ number: Int) -> String {
    String(repeating: "0f", count: 28) + String(0x1000_0000 + number, radix: 16)
  }

  private static func target(_ number: Int = 0) -> PushTarget {
    .apns(token: device(number), topic: topic, environment: .production)
  }

  private static func with(
    timeout: Duration = PushMocks.longTimeout, clock: @escaping @Sendable () -> Date = { Date() },
    _ body: (MockedSender) async throws -> Void
  ) async throws {
    try await MockedSender.with({ $0.clock = clock }) {
      try $0.apnsSender(timeout: timeout, clock: clock)
    } _: {
      try await body($0)
    }
  }

  @Test("Silent messages and alerts pass all checks of APNs, over one connection of HTTP/2")
  func accepted() async throws {
    try await Self.with { service in
      #expect(await service.send(to: Self.target(1), asksForReport: true).result == .sent)
      let alert = PushAlert(title: longText(500), body: "Body", url: "https://news.example/a", breaking: true)
      #expect(await service.send(to: Self.target(2), alert: alert).result == .sent)
      let answers = await service.send(to: (3..<203).map { Self.target($0) })
      #expect(answers.allSatisfy { $0.answer.result == .sent })

      let record = service.mocks.apns.record
      #expect(record.refusals == [:] && record.histogram == [1: 202])
      #expect(record.totals.connections == 1 && record.totals.http2Connections == 1)
      let messages = record.messages
      #expect(messages.first?.isVisible == false && messages.first?.field("report") == "1")
      #expect(messages[1].isVisible && messages[1].field("url") == "https://news.example/a")
      #expect(messages.allSatisfy { $0.field("token") == PushMessage.sampleToken })
    }
  }

  @Test("Each documented reason has its meaning", arguments: APNsReason.allCases)
  func reasons(_ reason: APNsReason) async throws {
    try await Self.with { service in
      service.mocks.apns.faults.always(.answer(reason.response(since: Date(timeIntervalSince1970: 1_700_000_000.5))))
      let answer = await service.send(to: Self.target())
      switch reason {
      case .unregistered, .expiredToken:
        #expect(answer.result == .gone(since: Date(timeIntervalSince1970: 1_700_000_000.5)))
      case .badDeviceToken, .deviceTokenNotForTopic, .topicDisallowed, .badTopic, .missingTopic, .missingDeviceToken,
        .badEnvironmentKeyIDInToken:
        #expect(answer.result.name == "tokenError" && answer.pause == nil)
      case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
        .payloadEmpty, .payloadTooLarge:
        #expect(answer.result.name == "invalid" && answer.pause == nil)
      case .badCertificate, .badCertificateEnvironment, .forbidden, .invalidProviderToken, .missingProviderToken,
        .unrelatedKeyIDInToken, .expiredProviderToken, .badPath, .methodNotAllowed, .tooManyProviderTokenUpdates:
        #expect(answer.result.name == "retry" && answer.pause?.reason.contains(reason.rawValue) == true)
      case .tooManyRequests:
        #expect(answer.result.wait ?? 0 >= 60 && answer.pause == nil && !answer.isFailure)
      case .idleTimeout, .internalServerError, .serviceUnavailable, .shutdown:
        #expect(answer.isFailure && answer.result.wait ?? 0 > 0)
      }
      #expect(service.mocks.apns.record.totals.accepted == 0)
      service.mocks.apns.faults.clear()
      if answer.pause == nil { #expect(await service.send(to: Self.target()).result == .sent) }
    }
  }

  @Test("A renewed provider token is accepted on the same connection, and none is ever too old")
  func renewal() async throws {
    let time = TestTime()
    try await Self.with(clock: { time.now }) { service in
      for _ in 0..<13 {
        #expect(await service.send(to: Self.target()).result == .sent)
        time.advance(minutes: 10)
      }
      let record = service.mocks.apns.record
      #expect(record.refusals == [:] && record.totals.connections == 1)
      let tokens = record.messages.map { $0.headers.first(name: "authorization") ?? "" }
      #expect(tokens.count == 13 && Set(tokens).count == 4)
    }
  }

  @Test("A service whose certificate is not trusted receives no message, and the reason is named")
  func untrusted() async throws {
    try await MockedSender.with { mocks in
      let credentials = try APNsCredentials(pem: mocks.apns.keyPEM, keyID: APNsMock.keyID, teamID: APNsMock.teamID)
      return APNsSender(
        credentials, url: mocks.apns.url, trustRoots: [], timeout: PushMocks.longTimeout, clock: { Date() })
    } _: { service in
      let answer = await service.send(to: Self.target())
      #expect(answer.isFailure && "\(answer.result)".contains("the TLS handshake failed"))
      #expect(service.mocks.apns.record.totals.accepted == 0)
    }
  }

  @Test("A key that Apple does not know pauses the service")
  func wrongKey() async throws {
    try await MockedSender.with({ $0.topics = ["another.app"] }) {
      // The key of Web Push is of the same kind.
      try $0.apnsSender(keyPEM: $0.webPush.keyPEM)
    } _: { service in
      let answer = await service.send(to: Self.target())
      #expect(answer.pause?.reason.contains("InvalidProviderToken") == true)
      #expect(service.mocks.apns.record.refusals == ["InvalidProviderToken": 1])
    }
  }

  @Test("An app that the key does not belong to is an error of the token")
  func wrongTopic() async throws {
    try await MockedSender.with({ $0.topics = ["another.app"] }) {
      try $0.apnsSender()
    } _: { service in
      #expect(await service.send(to: Self.target()).result.name == "tokenError")
      #expect(service.mocks.apns.record.refusals == ["TopicDisallowed": 1])
    }
  }

  @Test("Resets of streams and connections lose no message")
  func resets() async throws {
    try await Self.with { service in
      service.mocks.apns.faults.share(0.1, .resetStream)
      #expect(await service.sendAll(to: (0..<200).map { Self.target($0) }))
      #expect(service.mocks.apns.record.histogram == [1: 200])
      service.mocks.apns.record.takeMessages()

      service.mocks.apns.faults.share(0.02, .resetConnection)
      #expect(await service.sendAll(to: (0..<200).map { Self.target($0) }))
      // A message whose response was lost is sent again.
      let record = service.mocks.apns.record
      #expect(record.addresses == 200 && record.refusals == [:])
    }
  }

  @Test("A message without a response ends with the timeout, and delays no other on its connection")
  func hang() async throws {
    try await Self.with(timeout: .seconds(5)) { service in
      service.mocks.apns.faults.decide { $0.address == Self.device(0) ? .hang : nil }
      async let hanging = service.send(to: Self.target(0))
      try await eventually("the message hangs") { service.mocks.apns.record.totals.faulted == 1 }
      #expect(await service.sendAll(to: (1..<100).map { Self.target($0) }))
      let answer = await hanging
      #expect(answer.isFailure && answer.result.wait ?? 0 >= 5)
      #expect(service.mocks.apns.record.addresses == 99)
    }
  }

  @Test("Responses out of order reach their messages")
  func reordered() async throws {
    try await Self.with { service in
      service.mocks.apns.faults.reordering = 5
      let gone = Set(stride(from: 0, to: 100, by: 3).map { Self.target($0) }.map(String.init(describing:)))
      service.mocks.apns.faults.decide { message in
        let number = (Int(message.address.suffix(8), radix: 16) ?? 0) - 0x1000_0000
        return number.isMultiple(of: 3) ? .answer(APNsReason.unregistered.response()) : nil
      }
      let answers = await service.send(to: (0..<100).map { Self.target($0) })
      for (target, answer) in answers {
        #expect(answer.result.name == (gone.contains(String(describing: target)) ? "gone" : "sent"))
      }
      #expect(answers.count == 100 && service.mocks.apns.record.totals.maximumOpen >= 5)
    }
  }

  @Test(
    "A service that is down is a failure, and it is used again once it is back",
    arguments: [
      PushOutage.refused, .closed,
    ])
  func outage(_ outage: PushOutage) async throws {
    try await Self.with { service in
      #expect(await service.send(to: Self.target()).result == .sent)
      await service.mocks.apns.goDown(outage)
      let answer = await service.send(to: Self.target())
      #expect(answer.isFailure && answer.pause == nil)
      try await service.mocks.apns.comeBack()
      try await eventually("a message is sent") { await service.send(to: Self.target()).result == .sent }
    }
  }
}
