import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The metrics of messages to devices.
@Suite struct DeliveryMetricsTests {
  @Test("Metrics have each outcome of messages, the refused devices, and the ages of what is owed and undecided")
  func outcomes() async throws {
    let outcomes: [(result: PushOutcome.Result, count: Int)] = [
      (.sent, 1), (.retry(after: 600, reason: "x"), 2), (.tokenError(reason: "x"), 3), (.gone(since: nil), 4),
      (.invalid(reason: "x"), 5),
    ]
    let results = outcomes.flatMap { Array(repeating: $0.result, count: $0.count) }
    try await TestServer.with { server in
      let store = server.store
      for number in 1...results.count {
        _ = try await store.registerDevice(
          DeviceRegistration(provider: .fcm, token: "t\(number)"), limits: DeviceLimits(total: 100, perHost: 100))
      }
      _ = try await server.publish("one")
      while try await store.collectOutbox(window: .zero) {}
      while try await store.fanOut(budget: 3) {}
      let messages = try await store.leaseMessages(.fcm, limit: 100, for: .seconds(60), reportRate: 0)
      #expect(messages.count == results.count)
      try await store.recordOutcomes(zip(messages, results).map { PushOutcome(message: $0, result: $1) })
      _ = try await server.publish("two")
      let rows: Int = try #require(
        try await server.sql.query("SELECT count(*) AS count FROM outbox").first
      ).decode("count")
      try await store.countDeliveries(at: Date() + 100)

      let scrape = try await server.scrape()
      func value(_ name: String, _ labels: [String: String] = [:]) -> Double { scrape.value("tidings_\(name)", labels) }
      for (name, count) in [("sent", 1), ("retry", 2), ("tokenError", 3), ("gone", 4), ("invalid", 5)] {
        #expect(value("push_outcomes_total", ["provider": "fcm", "outcome": name]) == Double(count), "\(name)")
      }
      #expect(scrape.kinds["tidings_push_outcomes_total"] == "counter")
      // Also those of zero are there, from the beginning.
      for (name, count) in [("push_outcomes_total", 15), ("devices", 9), ("push_owed", 3), ("push_paused", 3)] {
        #expect(scrape.samples.keys.count { $0.name == "tidings_\(name)" } == count, "\(name)")
      }
      // A refused device is an active one too.
      #expect(value("devices", ["provider": "fcm", "state": "active"]) == 11)
      #expect(value("devices", ["provider": "fcm", "state": "refused"]) == 3)
      #expect(90...1000 ~= value("push_overdue_seconds", ["provider": "fcm"]))
      #expect(value("push_overdue_seconds", ["provider": "apns"]) == 0)
      #expect(rows > 0 && value("outbox_rows") == Double(rows))
      #expect(90...1000 ~= value("outbox_seconds"))
    }
  }
}
