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

  @Test("A message that has waited too long for its turn is given back, and sent after another claim")
  func lateStart() async throws {
    try await Deliveries.with { deliveries in
      let release = Barrier()
      let sender = ScriptedSender(width: 1) { _ in
        await release.wait()
        return PushAnswer(.sent)
      }
      let ids = try await deliveries.register(2)
      try await deliveries.withService([sender], latestStart: .seconds(1)) {
        try await deliveries.publish()
        try await eventually("one is under way, and the other waits") {
          guard sender.messages.count == 1 else { return false }
          return try await deliveries.claimed() == 2
        }
        try await Task.sleep(for: .seconds(1))
        release.open()
        try await eventually("both are sent, and one was late") {
          let outcomes = deliveries.outcomes(.fcm)
          return outcomes["sent"] == 2 && outcomes["retry"] ?? 0 > 0
        }
      }
      #expect(Set(sender.devices) == ids && sender.devices.count == 2)
    }
  }
}
