import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The reports on push services that accept no messages: in the log, the metrics, the console and `tidings doctor`.
@Suite struct ProviderReportTests {
  @Test("Keys that are refused from the first message on are shown at once, until a message is accepted")
  func wrongKey() async throws {
    try await Deliveries.with { deliveries in
      let log = RecordingLog()
      let isRight = Flag()
      let sender = ScriptedSender(.fcm, width: 4) { _ in
        isRight.isSet
          ? PushAnswer(.sent) : PushAnswer(.tokenError(reason: "FCM answers 403 SENDER_ID_MISMATCH"), refusesKey: true)
      }
      try await deliveries.register(2)
      @Sendable func refusal() async throws -> ProviderState.Refusal? {
        try await deliveries.store.providerStates().first?.refusal
      }
      try await deliveries.withService([sender], logger: log.logger) {
        try await deliveries.publish()
        try await eventually("the refusal is stored") { try await refusal() != nil }
        #expect(try await refusal()?.reason == "FCM answers 403 SENDER_ID_MISMATCH")
        try await eventually("both have been tried") { deliveries.outcomes(.fcm) == ["tokenError": 2] }
        try await deliveries.store.countDeliveries(at: deliveries.now)
        #expect(deliveries.store.deliveryCounts().refusing == [.fcm])
        isRight.set()
        deliveries.advance(3700)
        try await eventually("the messages are accepted") { deliveries.outcomes(.fcm)["sent"] == 2 }
        try await eventually("the refusal has ended") { try await refusal() == nil }
        // A stranger's token is nothing to show any more, however often it is refused.
        isRight.set(false)
        try await deliveries.register(1)
        _ = try await deliveries.sql.query("DELETE FROM deliveries")
        _ = try await deliveries.sql.query("UPDATE devices SET expires_at = now() - interval '1 day' WHERE accepted")
        try await deliveries.publish()
        try await eventually("the stranger's token is refused") { deliveries.outcomes(.fcm)["tokenError"] == 3 }
        #expect(try await refusal() == nil)
      }
      let lines = log.text.split(separator: "\n").filter { $0.contains("a push service refuses messages") }
      #expect(lines.count == 1 && lines.first?.hasPrefix("warning ") == true)
      let line = try #require(lines.first)
      #expect(line.contains("fcm") && line.contains("FCM answers 403 SENDER_ID_MISMATCH"))
      #expect(try await deliveries.count("SELECT count(*) FROM devices") == 3)
    }
  }

  @Test("A refusal among accepted messages says nothing about the keys")
  func refusedAmongAccepted() async throws {
    try await Deliveries.with { deliveries in
      let count = Count()
      let sender = ScriptedSender(.webpush, width: 1) { _ in
        count.next() == 1 ? PushAnswer(.sent) : PushAnswer(.tokenError(reason: "403"), refusesKey: true)
      }
      try await deliveries.register(3, .fcm)
      // The address does not matter to the sender.
      _ = try await deliveries.sql.query(
        """
        UPDATE devices SET accepted = true, provider = 'webpush', kind = 'unifiedpush', host = 'push.example',
          p256dh = 'x', auth = 'x'
        """)
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("all have been tried") { deliveries.outcomes(.webpush) == ["sent": 1, "tokenError": 2] }
      }
      #expect(try await deliveries.store.providerStates().isEmpty)
    }
  }

  @Test("Refused keys of devices that have received messages are shown, however few they are")
  func revokedKey() async throws {
    try await Deliveries.with { deliveries in
      let sender = ScriptedSender(.fcm, width: 1) { _ in
        PushAnswer(.invalid(reason: "FCM answers 401 THIRD_PARTY_AUTH_ERROR"), refusesKey: true)
      }
      try await deliveries.register(1)
      try await deliveries.proveDevices()
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the refusal is stored") {
          try await deliveries.store.providerStates().first?.refusal?.reason == "FCM answers 401 THIRD_PARTY_AUTH_ERROR"
        }
      }
    }
  }

  @Test(
    "A refusal is shown if it concerns the keys, or a new address while no message has been accepted yet",
    arguments: [
      (PushAnswer(.tokenError(reason: "x")), true, false), (PushAnswer(.tokenError(reason: "x")), false, true),
      (PushAnswer(.tokenError(reason: "x"), refusesKey: true), true, true),
      (PushAnswer(.invalid(reason: "x")), false, false),
      (PushAnswer(.invalid(reason: "x"), refusesKey: true), true, true),
      (PushAnswer(.gone(since: nil)), false, false),
    ])
  func shown(answer: PushAnswer, isProven: Bool, isShown: Bool) async throws {
    try await Deliveries.with { deliveries in
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm), store: deliveries.store, logger: NewsDatabase.logger, clock: { deliveries.now })
      await pauses.note(answer, to: .sample(to: .fcm(token: "a"), code: isProven ? nil : "c0de"))
      let refusal = try await deliveries.store.providerStates().first?.refusal
      #expect(refusal?.reason == (isShown ? "x" : nil))
      await pauses.note(PushAnswer(.sent), to: .sample(to: .fcm(token: "a")))
      let end = try await deliveries.store.providerStates().first?.refusal
      #expect(end == nil)
    }
  }

  @Test("A process ends the refusal that another one has stored, once a message is accepted")
  func otherProcess() async throws {
    try await Deliveries.with { deliveries in
      _ = try await deliveries.store.noteRefusal(by: .fcm, reason: "x", isProven: true, at: deliveries.now)
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm), store: deliveries.store, logger: NewsDatabase.logger, clock: { deliveries.now })
      try await pauses.refresh()
      await pauses.note(PushAnswer(.sent), to: .sample(to: .fcm(token: "a")))
      let refusal = try await deliveries.store.providerStates().first?.refusal
      #expect(refusal == nil)
    }
  }

  @Test("The refusal of a stranger's address is not shown if other devices have received messages")
  func strangerAmongOthers() async throws {
    try await Deliveries.with { deliveries in
      try await deliveries.register(1)
      try await deliveries.proveDevices()
      let log = RecordingLog()
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm), store: deliveries.store, logger: log.logger, clock: { deliveries.now })
      await pauses.note(PushAnswer(.tokenError(reason: "x")), to: .sample(to: .fcm(token: "a"), code: "c0de"))
      #expect(try await deliveries.store.providerStates().isEmpty)
      #expect(!log.text.contains("a push service refuses messages"))
    }
  }

  @Test("A failure is in the log from the second one of a message on, and a retry for another reason is not")
  func repeatedFailures() async throws {
    try await Deliveries.with { deliveries in
      for (isFailure, attempts, isLogged) in [(true, 0, false), (true, 1, true), (false, 1, false)] {
        let log = RecordingLog()
        let pauses = ProviderPauses(
          sender: ScriptedSender(.fcm), store: deliveries.store, logger: log.logger, clock: { deliveries.now })
        await pauses.note(
          PushAnswer(.retry(after: 5, reason: "x"), isFailure: isFailure),
          to: .sample(to: .fcm(token: "a"), attempts: attempts))
        #expect(log.text.contains("messages to devices have failed") == isLogged)
        #expect(log.text.contains("count") == isLogged)
      }
    }
  }

  @Test("A refusal of a stranger's address does not hide that of a known device")
  func refusedStranger() async throws {
    try await Deliveries.with { deliveries in
      let known = try #require(try await deliveries.register(1).first)
      try await deliveries.proveDevices()
      try await deliveries.register(1)
      let barrier = Barrier()
      let sender = ScriptedSender(.fcm, width: 2) { message in
        if message.device == known { await barrier.wait() }
        return PushAnswer(.tokenError(reason: message.device == known ? "known" : "stranger"), refusesKey: true)
      }
      try await deliveries.withService([sender]) {
        try await deliveries.publish()
        try await eventually("the stranger is refused") { deliveries.outcomes(.fcm) == ["tokenError": 1] }
        barrier.open()
        try await eventually("the refusal is stored") {
          try await deliveries.store.providerStates().first?.refusal?.reason == "known"
        }
      }
    }
  }

  @Test("A push service that cannot be reached is in the log, however few devices there are")
  func failingFew() async throws {
    try await Deliveries.with { deliveries in
      let log = RecordingLog()
      let sender = ScriptedSender(.apns) { _ in
        PushAnswer(.retry(after: 5, reason: "APNs: no connection could be made"), isFailure: true)
      }
      let device = try #require(try await deliveries.register(1, .apns).first)
      try await deliveries.withService([sender], logger: log.logger) {
        try await deliveries.publish()
        for attempt in 1...4 {
          try await eventually("attempt \(attempt) has failed") {
            try await deliveries.count("SELECT count(*) FROM deliveries WHERE lease IS NULL AND attempts = \(attempt)")
              == 1
          }
          // A single failure is common, and nothing to report.
          if attempt == 1 { #expect(!log.text.contains("no connection could be made")) }
          deliveries.advance(10)
        }
        try await deliveries.store.countDeliveries(at: deliveries.now)
        let overdue = deliveries.store.deliveryCounts().overdueSeconds[.apns] ?? 0
        #expect(overdue >= 30)
      }
      let lines = log.text.split(separator: "\n").filter { $0.contains("no connection could be made") }
      #expect(lines.count == 1 && lines.first?.hasPrefix("warning ") == true && lines.first?.contains("apns") == true)
      #expect(!log.text.contains(device.uuidString.lowercased()) && !log.text.contains(device.uuidString))
    }
  }
}
