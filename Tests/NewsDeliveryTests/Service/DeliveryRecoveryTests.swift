import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Deliveries after errors of the database.
@Suite struct DeliveryRecoveryTests {
  @Test("Services go on after errors of the database: each device is woken once")
  func errors() async throws {
    try await Deliveries.with { deliveries in
      let sender = ScriptedSender()
      let ids = try await deliveries.register(5)
      _ = try await deliveries.sql.query("ALTER TABLE deliveries RENAME TO hidden_deliveries")
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the publication is noticed") {
          try await deliveries.count("SELECT count(*) FROM pushes") == 1
        }
        #expect(sender.messages.isEmpty)
        _ = try await deliveries.sql.query("ALTER TABLE hidden_deliveries RENAME TO deliveries")
        try await eventually("all devices are woken") { sender.messages.count == 5 }
        try await eventually("nothing is owed") { try await deliveries.owed() == 0 }
      }
      #expect(Set(sender.devices) == ids && sender.messages.count == 5)
    }
  }
}
