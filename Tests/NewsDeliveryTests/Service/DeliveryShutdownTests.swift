import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The end of a process while a push service does not respond.
@Suite struct DeliveryShutdownTests {
  @Test("A push service that does not respond keeps a process for some seconds only, and the message is kept")
  func grace() async throws {
    try await Deliveries.with { deliveries in
      let sender = ScriptedSender { _ in
        try? await Task.sleep(for: .seconds(600))
        return PushAnswer(.retry(after: 5, reason: "the server is stopping"), isFailure: true)
      }
      try await deliveries.register(1)
      let start = ContinuousClock.now
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the message is under way") { sender.messages.count == 1 }
      }
      #expect(ContinuousClock.now - start < .seconds(120))
      #expect(try await deliveries.claimed() == 0)
      #expect(try await deliveries.owed() == 1)
    }
  }

  @Test("Outcomes that the database does not take keep a process for some seconds only, however many there are")
  func fullRecorder() async throws {
    try await Deliveries.with { deliveries in
      // The last workers wait until there is room for their outcomes.
      let (release, count) = (Barrier(), OutcomeRecorder.capacity + 20)
      let sender = ScriptedSender(width: count) { _ in
        await release.wait()
        return PushAnswer(.sent)
      }
      try await deliveries.register(count)
      let start = ContinuousClock.now
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("all messages are under way") { release.waiting == count }
        _ = try await deliveries.sql.query("ALTER TABLE deliveries RENAME TO hidden_deliveries")
        release.open()
      }
      // Their claims last for three minutes.
      #expect(ContinuousClock.now - start < .seconds(150))
    }
  }

  @Test("Messages that a process gives back at its end have no failed attempt")
  func returned() async throws {
    try await Deliveries.with { deliveries in
      let release = Barrier()
      let sender = ScriptedSender(width: 1) { _ in
        await release.wait()
        return PushAnswer(.sent)
      }
      try await deliveries.register(2)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("one is under way, and the other waits") {
          guard sender.messages.count == 1 else { return false }
          return try await deliveries.claimed() == 2
        }
        // The service ends after this, and gives the other one back before the answer.
        Task {
          try? await eventually("it has been given back") { try await deliveries.claimed() < 2 }
          release.open()
        }
      }
      #expect(sender.messages.count == 1)
      #expect(try await deliveries.owed() == 1)
      #expect(try await deliveries.count("SELECT max(attempts) AS count FROM deliveries") == 0)
    }
  }
}
