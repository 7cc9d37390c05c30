import Crypto
import Foundation
import News
import NewsDelivery
import NewsStore
import PushMocks
import TestKit
import Testing

/// Requests to a mock of a Web Push service over HTTP/2, which checks and decrypts them as the RFCs state it.
@Suite struct WebPushMockTests {
  private static func target(_ subscription: MockSubscription) -> PushTarget {
    .webPush(endpoint: subscription.endpoint, p256dh: subscription.p256dh, auth: subscription.auth)
  }

  private static func with(
    timeout: Duration = PushMocks.longTimeout, clock: @escaping @Sendable () -> Date = { Date() },
    _ body: (MockedSender) async throws -> Void
  ) async throws {
    try await MockedSender.with({ $0.clock = clock }) {
      try $0.webPushSender(timeout: timeout, clock: clock)
    } _: {
      try await body($0)
    }
  }

  @Test("Silent messages, alerts and codes pass all checks and are decrypted by their receivers")
  func accepted() async throws {
    try await Self.with { service in
      let subscriptions = (0..<50).map { _ in service.mocks.webPush.subscribe() }
      let answers = await service.send(to: subscriptions.map(Self.target))
      #expect(answers.allSatisfy { $0.answer.result == .sent })
      let record = service.mocks.webPush.record
      #expect(record.refusals == [:] && record.histogram == [1: 50])
      #expect(record.totals.http2Connections == record.totals.connections)
      #expect(record.takeMessages().allSatisfy { $0.field("token") == PushMessage.sampleToken && !$0.isVisible })

      let alert = PushAlert(title: "T\u{EF}tle", body: longText(1000), url: "https://news.example/a")
      #expect(await service.send(to: Self.target(subscriptions[0]), alert: alert).result == .sent)
      #expect(await service.send(to: Self.target(subscriptions[1]), code: "c0de").result == .sent)
      let messages = record.messages
      #expect(messages.count == 2 && messages[0].field("title") == "T\u{EF}tle" && messages[0].isVisible)
      #expect(messages[0].address == subscriptions[0].id && messages[1].field("code") == "c0de")
      #expect(record.refusals == [:])
    }
  }

  @Test("Messages for the keys of another receiver are refused by the mock")
  func wrongReceiver() async throws {
    try await Self.with { service in
      let (first, second) = (service.mocks.webPush.subscribe(), service.mocks.webPush.subscribe())
      let target = PushTarget.webPush(endpoint: first.endpoint, p256dh: second.p256dh, auth: first.auth)
      #expect(await service.send(to: target).result.name == "invalid")
      #expect(service.mocks.webPush.record.refusals == ["the body cannot be decrypted": 1])
    }
  }

  @Test("A subscription that has ended is gone")
  func gone() async throws {
    try await Self.with { service in
      let subscriptions = (0..<2).map { _ in service.mocks.webPush.subscribe() }
      service.mocks.webPush.unsubscribe(subscriptions[0])
      service.mocks.webPush.expire(subscriptions[1])
      for subscription in subscriptions {
        #expect(await service.send(to: Self.target(subscription)).result == .gone(since: nil))
      }
      #expect(service.mocks.webPush.record.totals.refused == 2)
    }
  }

  @Test("A key that the subscription does not belong to is an error of the token")
  func wrongKey() async throws {
    try await MockedSender.with {
      try $0.webPushSender(keyPEM: P256.Signing.PrivateKey().pemRepresentation)
    } _: { service in
      let target = Self.target(service.mocks.webPush.subscribe())
      #expect(await service.send(to: target).result.name == "tokenError")
      #expect(service.mocks.webPush.record.refusals == ["the subscription belongs to another sender": 1])
    }
  }

  @Test(
    "Each response has its meaning",
    arguments: [
      (400, "invalid"), (401, "tokenError"), (403, "tokenError"), (404, "gone"), (410, "gone"), (413, "invalid"),
      (429, "retry"), (500, "failure"), (503, "failure"),
    ])
  func responses(_ status: Int, _ expected: String) async throws {
    try await Self.with { service in
      let target = Self.target(service.mocks.webPush.subscribe())
      service.mocks.webPush.faults.next(.answer(MockResponse(status: status).retry(after: 200)))
      let answer = await service.send(to: target)
      #expect(answer.isFailure == (expected == "failure") && answer.pause == nil)
      #expect(answer.result.name == (expected == "failure" ? "retry" : expected))
      if let wait = answer.result.wait { #expect(200...260 ~= wait) }
      #expect(await service.send(to: target).result == .sent)
    }
  }

  @Test("The token of the server is renewed before it expires")
  func renewal() async throws {
    let time = TestTime()
    try await Self.with(clock: { time.now }) { service in
      let target = Self.target(service.mocks.webPush.subscribe())
      for _ in 0..<25 {
        #expect(await service.send(to: target).result == .sent)
        time.advance(minutes: 120)
      }
      #expect(service.mocks.webPush.record.refusals == [:])
    }
  }

  @Test("GOAWAY, resets and slow responses lose no message")
  func connections() async throws {
    try await Self.with { service in
      let targets = (0..<200).map { Self.target(service.mocks.webPush.sharedSubscription("\($0)")) }
      let (faults, record) = (service.mocks.webPush.faults, service.mocks.webPush.record)
      faults.streamsPerConnection = 30
      #expect(await service.sendAll(to: targets, width: 10))
      #expect(record.histogram == [1: 200] && record.refusals == [:])
      faults.clear()
      record.takeMessages()
      faults.decide { _ in .slow(.milliseconds(.random(in: 1...30))) }
      #expect(await service.sendAll(to: targets, width: 50))
      #expect(record.histogram == [1: 200])
      faults.clear()
      record.takeMessages()
      faults.share(0.02, .resetConnection)
      #expect(await service.sendAll(to: targets))
      #expect(record.addresses == 200)
    }
  }

  @Test("A service that does not respond is given at most a hundred messages at a time")
  func bounded() async throws {
    try await Self.with(timeout: .seconds(10)) { service in
      let targets = (0..<300).map { Self.target(service.mocks.webPush.sharedSubscription("\($0)")) }
      service.mocks.webPush.faults.always(.hang)
      let answers = await service.send(to: targets, width: 300)
      #expect(answers.allSatisfy { $0.answer.result.wait ?? 0 > 0 })
      #expect(1...HostGate.width ~= service.mocks.webPush.record.totals.maximumOpen)
    }
  }
}
