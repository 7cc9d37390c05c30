import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The waits of a service that has nothing to do.
@Suite struct DeliveryRestTests {
  /// A sender that counts how often it is asked for its width. A service does so before each claim.
  private final class CountingSender: PushSender {
    let provider = PushProvider.fcm
    let sharesFailures = true
    let barrier = Barrier()
    private let count = Count()

    var claims: Int { count.value }

    var width: Int {
      _ = count.next()
      return 1
    }

    func send(_ message: PushMessage) async -> PushAnswer {
      await barrier.wait()
      return PushAnswer(.sent)
    }

    func shutdown() async {}
  }

  /// Runs the body while a service delivers.
  ///
  /// - Parameter readings: The number of times that the service has asked for the time.
  private static func with(
    _ deliveries: Deliveries, _ senders: [any PushSender], readings: Count = Count(), _ body: () async throws -> Void
  ) async throws {
    var limits = DeliveryService.Limits()
    limits.window = .zero
    let service = DeliveryService(
      store: deliveries.store, senders: senders, limits: limits, logger: NewsDatabase.logger,
      clock: {
        _ = readings.next()
        return deliveries.now
      })
    try await whileRunning({ await service.run() }, body)
  }

  /// Checks that a number grows by a few a second.
  private static func expectRest(of number: () -> Int) async throws {
    let (start, before) = (ContinuousClock.now, number())
    try await Task.sleep(for: .milliseconds(600))
    let growth = Double(number() - before)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    #expect(growth < 7 * (seconds + 1))
  }

  @Test(
    "Messages are claimed about once a second while there are none, or while the database does not answer",
    arguments: [false, true])
  func claims(hasErrors: Bool) async throws {
    try await Deliveries.with { deliveries in
      if hasErrors { _ = try await deliveries.sql.query("ALTER TABLE deliveries RENAME TO hidden_deliveries") }
      let sender = CountingSender()
      try await Self.with(deliveries, [sender]) {
        try await eventually("the service runs") { sender.claims > 3 }
        try await Self.expectRest { sender.claims }
      }
    }
  }

  @Test("A service whose workers and queue are full waits for one of them")
  func fullQueue() async throws {
    try await Deliveries.with { deliveries in
      let sender = CountingSender()
      try await deliveries.register(4)
      try await Self.with(deliveries, [sender]) {
        defer { sender.barrier.open() }
        try await deliveries.publish()
        try await eventually("a message is under way, and another one waits") {
          let claimed = try await deliveries.claimed()
          return claimed == 2 && sender.barrier.waiting == 1
        }
        try await Self.expectRest { sender.claims }
      }
    }
  }

  @Test("Without publishes the outbox is read about once a second")
  func outbox() async throws {
    try await Deliveries.with { deliveries in
      let following = Task { await deliveries.store.follow() }
      defer { following.cancel() }
      try await eventually("the state is known") { deliveries.store.cachedSnapshot != nil }
      let readings = Count()
      // A reading asks three times for the time.
      try await Self.with(deliveries, [], readings: readings) { try await Self.expectRest { readings.value } }
    }
  }
}
