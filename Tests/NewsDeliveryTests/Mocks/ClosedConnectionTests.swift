import Foundation
import NIOHTTP1
import News
import NewsDelivery
import NewsStore
import PushMocks
import TestKit
import Testing

/// Messages on connections that a push service closes.
@Suite struct ClosedConnectionTests {
  private static func target(_ provider: PushProvider, _ number: Int, _ mocks: PushMocks) -> PushTarget {
    switch provider {
    case .apns:
      return .apns(token: "0f0f\(1_000_000_000 + number)0f", topic: "example.news", environment: .production)
    case .fcm: return .fcm(token: "device-\(number)")
    case .webpush:
      let subscription = mocks.webPush.sharedSubscription("\(number)")
      return .webPush(endpoint: subscription.endpoint, p256dh: subscription.p256dh, auth: subscription.auth)
    }
  }

  private static func with(
    _ provider: PushProvider, _ body: (MockedSender, MockFaults, MockRecord) async throws -> Void
  ) async throws {
    try await MockedSender.with {
      switch provider {
      case .apns: try $0.apnsSender()
      case .fcm: try $0.fcmSender()
      case .webpush: try $0.webPushSender()
      }
    } _: { service in
      let mocks = service.mocks
      switch provider {
      case .apns: try await body(service, mocks.apns.faults, mocks.apns.record)
      case .fcm: try await body(service, mocks.fcm.faults, mocks.fcm.record)
      case .webpush: try await body(service, mocks.webPush.faults, mocks.webPush.record)
      }
    }
  }

  @Test("GOAWAY every 50 messages delays none and sends none twice", arguments: PushProvider.allCases)
  func goAway(_ provider: PushProvider) async throws {
    try await Self.with(provider) { service, faults, record in
      faults.streamsPerConnection = 50
      let count = rounds(1500)
      let targets = (0..<count).map { Self.target(provider, $0, service.mocks) }
      let answers = await service.send(to: targets, width: 20)
      #expect(answers.count { $0.answer.result != .sent } == 0)
      #expect(record.histogram == [1: count])
      #expect(record.refusals == [:])
      #expect(record.totals.http2Connections >= count / 75)
    }
  }

  @Test("A connection without any response is replaced after the timeout")
  func silence() async throws {
    try await MockedSender.with {
      try $0.apnsSender(timeout: .seconds(2))
    } _: { service in
      service.mocks.apns.faults.always(.hang)
      #expect(await service.send(to: Self.target(.apns, 1, service.mocks)).isFailure)
      service.mocks.apns.faults.clear()
      // The timeout may be too short for a busy machine.
      try await eventually("a message is sent") {
        await service.send(to: Self.target(.apns, 2, service.mocks)).result == .sent
      }
      #expect(service.mocks.apns.record.totals.connections >= 2)
    }
  }

  @Test("A connection that has responded to other messages is not replaced when one gets no response")
  func oneWithoutResponse() async throws {
    try await MockedSender.with {
      try $0.apnsSender(timeout: .seconds(3))
    } _: { service in
      let (faults, record) = (service.mocks.apns.faults, service.mocks.apns.record)
      faults.always(.hang)
      async let lost = service.send(to: Self.target(.apns, 1, service.mocks))
      try await eventually("the message is received") { record.totals.faulted == 1 }
      faults.clear()
      for number in 2...3 { #expect(await service.send(to: Self.target(.apns, number, service.mocks)).result == .sent) }
      #expect(await lost.isFailure)
      #expect(await service.send(to: Self.target(.apns, 4, service.mocks)).result == .sent)
      #expect(record.totals.connections == 1)
    }
  }

  @Test("A message that is lost with a connection that is replaced may have been received")
  func lostByReplacement() async throws {
    try await MockedSender.with {
      try $0.apnsSender(timeout: .seconds(6))
    } _: { service in
      let (faults, record) = (service.mocks.apns.faults, service.mocks.apns.record)
      faults.always(.hang)
      async let first = service.send(to: Self.target(.apns, 1, service.mocks))
      try await eventually("the first message is received") { record.totals.faulted == 1 }
      // The timeout of the first one then leaves this one no time for a further attempt.
      try await Task.sleep(for: .seconds(1))
      async let second = service.send(to: Self.target(.apns, 2, service.mocks))
      for answer in await [first, second] {
        #expect(answer.isFailure && !"\(answer.result)".contains("before it processes a message"))
      }
    }
  }

  @Test("A message that the service does not process is sent ten times at most")
  func refused() async throws {
    try await Self.with(.apns) { service, faults, record in
      faults.always(.refuseStream)
      let start = ContinuousClock.now
      let answer = await service.send(to: Self.target(.apns, 1, service.mocks))
      // Each further attempt follows after 50 milliseconds at least.
      #expect(ContinuousClock.now - start > .milliseconds(450))
      #expect(answer.isFailure && "\(answer.result)".contains("before it processes a message"))
      #expect(record.totals.faulted == 10)
      faults.clear()
      #expect(await service.send(to: Self.target(.apns, 1, service.mocks)).result == .sent)
    }
  }

  @Test("A response that ends with its connection, but without an end of TLS, is lost and no failure of the handshake")
  func uncleanEnd() async throws {
    try await MockedSender.with({ $0.offersHTTP2 = false }) {
      try $0.fcmSender()
    } _: { service in
      service.mocks.fcm.faults.next(.cutResponse)
      #expect(await service.send(to: Self.target(.fcm, 1, service.mocks)).result == .sent)
      #expect(service.mocks.fcm.record.histogram == [2: 1])
    }
  }

  @Test("A message that may have been received has one further attempt", arguments: PushProvider.allCases)
  func lost(_ provider: PushProvider) async throws {
    try await Self.with(provider) { service, faults, record in
      faults.always(.resetStream)
      #expect(await service.send(to: Self.target(provider, 1, service.mocks)).isFailure)
      #expect(record.totals.faulted == 2)

      // The service may have processed the last stream that GOAWAY names, unlike those after it.
      faults.always(.resetLastStream)
      #expect(await service.send(to: Self.target(provider, 3, service.mocks)).isFailure)
      #expect(record.totals.faulted == 4)

      faults.always(.resetConnection)
      let answer = await service.send(to: Self.target(provider, 2, service.mocks))
      #expect(answer.isFailure && answer.result.wait ?? 0 >= 5)
      #expect(record.histogram == [2: 1])
    }
  }
}
