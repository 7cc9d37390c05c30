import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import PushMocks
import TestKit
import TestSupport
import Testing

/// Push services that are of no use for an hour. The test advances the clock.
@Suite struct OutageTests {
  /// More devices than a sender has messages under way.
  private static let count = rounds(320)
  private static let steps = 3

  private static func with(_ body: @Sendable (Deliveries, PushMocks) async throws -> Void) async throws {
    try await PushMocks.with { mocks in
      try await Deliveries.with { deliveries in
        try await deliveries.register(count, at: mocks)
        _ = try await deliveries.sql.query("UPDATE devices SET alerts = true")
        try await body(deliveries, mocks)
        #expect(try await deliveries.count("SELECT count(*) FROM devices") == 3 * count)
      }
    }
  }

  /// The number of messages that are owed through other services.
  private static func owed(besides provider: PushProvider, _ deliveries: Deliveries) async throws -> Int {
    try await deliveries.count(
      """
      SELECT count(*) FROM (
        SELECT o.provider FROM deliveries AS o WHERE o.due_at IS NOT NULL
        UNION ALL SELECT a.provider FROM alert_deliveries AS a
      ) AS m WHERE m.provider <> \(provider.rawValue)
      """)
  }

  /// Lets an hour pass in which a service is paused, with a publication at first and every twenty minutes, which all others
  /// send at once.
  ///
  /// - Parameter body: Is called after each publication.
  private static func hour(
    without provider: PushProvider, _ deliveries: Deliveries, _ body: (_ step: Int, _ item: UUID) async throws -> Void
  ) async throws {
    try await deliveries.publish()
    try await deliveries.waitForPause(provider)
    try await waitForPauseInMetrics(provider, deliveries)
    try await deliveries.wait("the others have the first publication") {
      try await owed(besides: provider, deliveries) == 0
    }
    for step in 1...steps {
      try await body(step, try await deliveries.publish())
      try await deliveries.wait("publication \(step) is fanned out") {
        try await deliveries.count(
          """
          SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM pushes WHERE fanned_out_at IS NULL) AS count
          """) == 0
      }
      try await deliveries.wait("the others have publication \(step)") {
        try await owed(besides: provider, deliveries) == 0
      }
      try await deliveries.waitForRest()
      deliveries.advance(1200)
    }
    try await deliveries.wait("the service is paused again and again") {
      try await deliveries.state(provider)?.pauses ?? 0 > 1
    }
    try await deliveries.waitForRest()
    #expect(try await counted(deliveries).owed[provider] ?? 0 >= count)
  }

  /// Waits until the metrics show the pause of a service at its end, because it may be over by now. On a busy machine,
  /// connections to the others may time out, and those are then paused too.
  private static func waitForPauseInMetrics(_ provider: PushProvider, _ deliveries: Deliveries) async throws {
    try await deliveries.wait("the metrics show the pause") {
      guard let end = try await deliveries.state(provider)?.pausedUntil else { return false }
      try await deliveries.store.countDeliveries(at: end - 1)
      return deliveries.store.deliveryCounts().paused.contains(provider)
    }
  }

  /// Lets time pass until nothing is owed.
  private static func finish(_ provider: PushProvider, _ deliveries: Deliveries) async throws {
    for _ in 0..<200 {
      try await deliveries.waitForRest()
      if try await counted(deliveries).owed.isEmpty { break }
      deliveries.advance(60)
      try await Task.sleep(for: .milliseconds(50))
    }
    let counts = try await counted(deliveries)
    #expect(counts.owed.isEmpty && counts.paused.isEmpty && counts.overdueSeconds.values.allSatisfy { $0 == 0 })
    try await deliveries.wait("the service has proved itself") { try await deliveries.state(provider)?.pauses == 0 }
  }

  private static func counted(_ deliveries: Deliveries) async throws -> StoreDeliveries {
    try await deliveries.store.countDeliveries(at: deliveries.now)
    return deliveries.store.deliveryCounts()
  }

  @Test("After an hour without a push service each device has one silent push and its alert, and no other has waited")
  func outage() async throws {
    try await Self.with { deliveries, mocks in
      mocks.fcm.faults.always(.answer(FCMError.unavailable.response))
      var alerted: UUID?
      try await deliveries.withServices(to: mocks, budget: 2 * Self.steps) {
        try await Self.hour(without: .fcm, deliveries) { step, item in
          guard step == 3 else { return }
          _ = try await deliveries.store.requestAlert(item: item)
          alerted = item
        }
        // Those under way at the first decision, and then a few after each pause.
        #expect(mocks.fcm.record.totals.faulted <= Self.count + Self.steps * PauseRule.minimumAnswers)
        #expect(mocks.fcm.record.totals.accepted == 0)
        mocks.fcm.faults.clear()
        try await Self.finish(.fcm, deliveries)
      }
      #expect(mocks.fcm.record.histogram == [2: Self.count])
      let messages = mocks.fcm.record.messages
      let silent = messages.filter { !$0.isVisible }
      #expect(silent.count == Self.count && Set(silent.map { $0.field("content-id") }).count == 1)
      #expect(silent.allSatisfy { $0.field("token")?.hasSuffix(".\(String(Self.steps + 1, radix: 36))") == true })
      let alerts = Set(messages.filter(\.isVisible).map { $0.field("content-id") })
      #expect(alerts == [alerted?.uuidString.lowercased()])
      #expect(mocks.apns.record.histogram == [Self.steps + 2: Self.count])
      #expect(mocks.webPush.record.histogram == [Self.steps + 2: Self.count])
    }
  }

  @Test("After an hour of a wrong environment each device is still there and has its push, and no other has waited")
  func wrongEnvironment() async throws {
    try await Self.with { deliveries, mocks in
      mocks.apns.faults.always(.answer(APNsReason.badDeviceToken.response()))
      try await deliveries.withServices(to: mocks, budget: 2 * Self.steps) {
        try await Self.hour(without: .apns, deliveries) { _, _ in }
        #expect(mocks.apns.record.totals.faulted <= Self.count + Self.steps * PauseRule.minimumAnswers)
        mocks.apns.faults.clear()
        try await Self.finish(.apns, deliveries)
      }
      #expect(mocks.apns.record.histogram == [1: Self.count])
      let tokens = Set(mocks.apns.record.messages.map { $0.field("token") })
      #expect(tokens.count == 1 && tokens.first??.hasSuffix(".\(String(Self.steps + 1, radix: 36))") == true)
      #expect(try await deliveries.count("SELECT count(*) FROM devices WHERE token_errors > 0") == 0)
      #expect(mocks.fcm.record.histogram == [Self.steps + 1: Self.count])
      #expect(mocks.webPush.record.histogram == [Self.steps + 1: Self.count])
    }
  }
}
