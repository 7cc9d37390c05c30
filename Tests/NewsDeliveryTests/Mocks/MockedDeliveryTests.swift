import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import PushMocks
import TestKit
import TestSupport
import Testing

/// The way of a publish to hundreds of devices of three push services, over HTTP/2 and a real database.
@Suite struct MockedDeliveryTests {
  /// The devices of each service, more than a sender has messages under way.
  private static let count = rounds(400)

  private static func with(
    _ count: Int = count, _ body: @Sendable (Deliveries, PushMocks) async throws -> Void
  ) async throws {
    try await PushMocks.with { mocks in
      try await Deliveries.with { deliveries in
        try await deliveries.register(count, at: mocks)
        try await body(deliveries, mocks)
      }
      for record in [mocks.apns.record, mocks.fcm.record, mocks.webPush.record] { #expect(record.refusals == [:]) }
    }
  }

  /// Expects that each device has got one message.
  private static func expectOnce(_ records: MockRecord..., count: Int = count) {
    for record in records { #expect(record.histogram == [1: count]) }
  }

  private static func expectAllDevices(_ deliveries: Deliveries, count: Int = count) async throws {
    #expect(try await deliveries.count("SELECT count(*) FROM devices") == 3 * count)
  }

  @Test("A publish wakes each of hundreds of devices once, with one or two processes", arguments: [1, 2])
  func once(_ processes: Int) async throws {
    try await Self.with { deliveries, mocks in
      try await deliveries.withServices(processes, to: mocks) {
        for number in 1...2 {
          try await deliveries.publish()
          try await deliveries.wait("all devices are woken") {
            [mocks.apns.record, mocks.fcm.record, mocks.webPush.record].allSatisfy { $0.addresses == Self.count }
          }
          try await deliveries.waitForAll()
          Self.expectOnce(mocks.apns.record, mocks.fcm.record, mocks.webPush.record)
          let tokens = Set(mocks.apns.record.takeMessages().map { $0.field("token") })
          #expect(tokens.count == 1 && tokens.first??.hasSuffix(".\(number)") == true)
          mocks.fcm.record.takeMessages()
          mocks.webPush.record.takeMessages()
        }
      }
      let push = try #require(try await deliveries.store.pushes(limit: 1).first)
      #expect(push.audience == 3 * Self.count && push.sent == 3 * Self.count && push.refused == 0)
      #expect(mocks.apns.record.totals.maximumOpen <= Deliveries.width * processes)
      // One connection would do. A reconnection is no fault.
      #expect(mocks.apns.record.totals.connections <= 4 * processes)
    }
  }

  @Test("A push service that is down is paused, delays no other, and gets each message once when it is back")
  func outage() async throws {
    try await Self.with { deliveries, mocks in
      await mocks.fcm.goDown()
      try await deliveries.withServices(to: mocks) {
        try await deliveries.publish()
        try await deliveries.waitForPause(.fcm)
        try await deliveries.wait("the others have all messages") {
          mocks.apns.record.addresses == Self.count && mocks.webPush.record.addresses == Self.count
        }
        try await deliveries.wait("the outcomes of the others are recorded") {
          try await deliveries.owed() == Self.count
        }
        #expect(try await deliveries.state(.apns)?.pausedUntil == nil)

        try await mocks.fcm.comeBack()
        try await deliveries.waitForAll(step: 30)
      }
      Self.expectOnce(mocks.apns.record, mocks.fcm.record, mocks.webPush.record)
      #expect(try await deliveries.state(.fcm)?.pauses == 0)
      try await Self.expectAllDevices(deliveries)
    }
  }

  @Test("A wrong environment for all tokens pauses APNs, deletes no device, and loses no message")
  func wrongEnvironment() async throws {
    // More than are under way at the decision.
    let count = 2 * Deliveries.width + 100
    try await Self.with(count) { deliveries, mocks in
      mocks.apns.faults.always(.answer(APNsReason.badDeviceToken.response()))
      try await deliveries.withServices(to: mocks) {
        try await deliveries.publish()
        try await deliveries.waitForPause(.apns)
        let state = try #require(try await deliveries.state(.apns))
        #expect(state.reason?.contains("refuse the token") == true)
        let refused = mocks.apns.record.totals.faulted
        // The messages that are under way at the decision receive their answers.
        #expect(20...2 * (Deliveries.width + PauseRule.minimumAnswers) ~= refused)
        try await deliveries.wait("the others have all messages") {
          mocks.fcm.record.addresses == count && mocks.webPush.record.addresses == count
        }
        try await Self.expectAllDevices(deliveries, count: count)

        mocks.apns.faults.clear()
        try await deliveries.waitForAll(step: 60)
      }
      Self.expectOnce(mocks.apns.record, mocks.fcm.record, mocks.webPush.record, count: count)
      #expect(try await deliveries.state(.apns)?.pauses == 0)
      #expect(try await deliveries.count("SELECT count(*) FROM devices WHERE token_errors > 0") == 0)
      try await Self.expectAllDevices(deliveries, count: count)
    }
  }

  @Test("A push service that never responds holds up no other, and gets each message once when it responds again")
  func silence() async throws {
    try await Self.with { deliveries, mocks in
      mocks.fcm.faults.always(.hang)
      try await deliveries.withServices(to: mocks, fcmTimeout: .seconds(10)) {
        try await deliveries.publish()
        try await deliveries.wait("the others have all messages") {
          mocks.apns.record.addresses == Self.count && mocks.webPush.record.addresses == Self.count
        }
        #expect(mocks.fcm.record.totals.accepted == 0)
        try await deliveries.waitForPause(.fcm)
        #expect(mocks.fcm.record.totals.maximumOpen <= Deliveries.width)
      }
      mocks.fcm.faults.clear()
      // A process with the usual timeout, in which a busy machine responds.
      try await deliveries.withServices(to: mocks) { try await deliveries.waitForAll(step: 30) }
      Self.expectOnce(mocks.apns.record, mocks.fcm.record, mocks.webPush.record)
      try await Self.expectAllDevices(deliveries)
    }
  }

  @Test("Devices that are gone are deleted, and all others get their messages")
  func gone() async throws {
    try await Self.with { deliveries, mocks in
      mocks.apns.faults.decide { $0.address.hasPrefix("0") ? .answer(APNsReason.unregistered.response()) : nil }
      mocks.fcm.faults.decide { $0.address.hasSuffix("7") ? .answer(FCMError.unregistered.response) : nil }
      mocks.webPush.faults.decide { $0.address.hasSuffix("7") ? .answer(MockResponse(status: 410)) : nil }
      try await deliveries.withServices(2, to: mocks) {
        try await deliveries.publish()
        try await deliveries.wait("the publish is fanned out") {
          try await deliveries.store.pushes(limit: 1).first?.finished != nil
        }
        try await deliveries.waitForAll()
      }
      let (apns, fcm, webPush) = (mocks.apns.record, mocks.fcm.record, mocks.webPush.record)
      #expect(fcm.histogram == [1: Self.count * 9 / 10] && webPush.histogram == fcm.histogram)
      #expect(Set(apns.histogram.keys) == [1] && apns.totals.accepted + apns.totals.faulted == Self.count)
      let rest = try await deliveries.count("SELECT count(*) FROM devices")
      #expect(rest == apns.totals.accepted + 2 * Self.count * 9 / 10)
      let push = try #require(try await deliveries.store.pushes(limit: 1).first)
      #expect(push.gone == 3 * Self.count - rest && push.sent == rest)
    }
  }

  @Test("Errors, resets, GOAWAY and slow responses at once lose no message")
  func storm() async throws {
    try await Self.with { deliveries, mocks in
      mocks.apns.faults.streamsPerConnection = rounds(200)
      mocks.fcm.faults.reordering = 5
      for (faults, tooMany, unavailable) in [
        (mocks.apns.faults, APNsReason.tooManyRequests.response(), APNsReason.shutdown.response()),
        (mocks.fcm.faults, FCMError.quotaExceeded.response.retry(after: 30), FCMError.unavailable.response),
        (mocks.webPush.faults, MockResponse(status: 429), MockResponse(status: 503)),
      ] {
        faults.decide { _ in
          switch Int.random(in: 0..<1000) {
          case 0..<40: .answer(tooMany)
          case 40..<80: .answer(unavailable)
          case 80..<100: .resetStream
          case 100..<200: .slow(.milliseconds(.random(in: 1...50)))
          case 200..<203: .resetConnection
          default: nil
          }
        }
      }
      try await deliveries.withServices(2, to: mocks) {
        try await deliveries.publish()
        try await deliveries.wait("the publish is fanned out") {
          try await deliveries.store.pushes(limit: 1).first?.finished != nil
        }
        try await deliveries.waitForAll(step: 20)
      }
      for record in [mocks.apns.record, mocks.fcm.record, mocks.webPush.record] {
        #expect(record.addresses == Self.count && record.totals.faulted > 0)
      }
      try await Self.expectAllDevices(deliveries)
    }
  }
}
