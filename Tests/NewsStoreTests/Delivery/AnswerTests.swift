import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The marks of devices, the counts of pushes and the states of providers that answers leave.
@Suite struct AnswerTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(state: .published, date: .newYear, text: "The ferry is back.")

  private static func record(
    _ store: NewsStore, _ message: PushMessage, _ result: PushOutcome.Result, _ seconds: Double
  ) async throws {
    try await store.recordOutcomes([PushOutcome(message: message, result: result)], at: start + seconds)
  }

  /// Claims the only message that is due at a time after the start.
  private static func claim(_ store: NewsStore, _ seconds: Double) async throws -> PushMessage {
    let messages = try await store.claim(at: start + seconds)
    #expect(messages.count == 1)
    return try #require(messages.first)
  }

  @Test("The outcome of one alert leaves the other alerts of its device alone")
  func otherAlerts() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      for number in 1...3 { _ = try await store.create(UUID(number), Self.content, requestsAlert: true) }
      try await store.wake()
      func alert(_ number: Int, _ messages: [PushMessage]) throws -> PushMessage {
        try #require(messages.first { $0.kind == .alert && $0.content.contentID == UUID(number) })
      }
      let messages = try await store.claim()
      try await Self.record(store, try alert(1, messages), .sent, 0)
      try await Self.record(store, try alert(2, messages), .retry(after: 90, reason: "busy"), 0)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 2)
      // The claim of the third one ends, and then the wait of the second one.
      for (seconds, number, attempts) in [(60.0, 3, 0), (90.0, 2, 1)] {
        let due = try await store.claim(at: Self.start + seconds)
        let alerts = due.filter { $0.kind == .alert }
        #expect(alerts.map(\.content.contentID) == [UUID(number)] && alerts.map(\.attempts) == [attempts])
        // The silent message has no outcome yet, so that its claim ends too.
        #expect(due.count { $0.kind == .silent } == (seconds == 60 ? 1 : 0))
      }
      let sent = try await store.pushes(limit: 9).filter { $0.sent > 0 }
      #expect(sent.map(\.item) == [UUID(1)] && sent.map(\.sent) == [1])
    }
  }

  @Test("The outcome of an alert for one device leaves the same alert for others alone")
  func otherDevices() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      let alerts = try await store.claim().filter { $0.kind == .alert }
      try #require(alerts.count == 3)
      try await Self.record(store, alerts[0], .sent, 0)
      try await Self.record(store, alerts[1], .retry(after: 90, reason: "busy"), 0)
      // The claim of the third one ends, and then the wait of the second one.
      for (seconds, index) in [(60.0, 2), (90.0, 1)] {
        let due = try await store.claim(at: Self.start + seconds).filter { $0.kind == .alert }
        #expect(due.map(\.device) == [alerts[index].device])
      }
    }
  }

  @Test("A refusal of an address stands until a message is accepted, and further ones are counted from there")
  func refusal() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns()).id
      try await sql.publish([UUID(1)])
      try await store.wake()
      let reason = String(repeating: "x", count: 300)
      try await Self.record(store, try await Self.claim(store, 0), .tokenError(reason: reason), 0)
      #expect(try await store.device(device)?.tokenError?.reason == String(reason.prefix(200)))
      try await Self.record(store, try await Self.claim(store, 3600), .retry(after: 60, reason: "busy"), 3600)
      try await Self.record(store, try await Self.claim(store, 3660), .invalid(reason: "too large"), 3660)
      #expect(try await store.device(device)?.tokenError?.count == 1)
      for (day, result, count) in [(1.0, PushOutcome.Result.sent, Int?.none), (2, .tokenError(reason: "y"), 1)] {
        let seconds = day * 86_400
        try await sql.publish([UUID()])
        try await store.wake(at: Self.start + seconds)
        try await Self.record(store, try await Self.claim(store, seconds), result, seconds)
        #expect(try await store.device(device)?.tokenError?.count == count)
      }
      // A registration begins a new count too.
      try await store.register(.apns(), at: Self.start + 200_000)
      try await sql.publish([UUID()])
      try await store.wake(at: Self.start + 200_000)
      try await Self.record(store, try await Self.claim(store, 200_000), .tokenError(reason: "z"), 200_000)
      #expect(try await store.device(device)?.tokenError == .init(reason: "z", at: Self.start + 200_000, count: 1))
    }
  }

  @Test("Each kind of answer is counted, for the push and for the process")
  func counts() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(5)
      try await sql.publish([UUID(1)])
      try await store.wake()
      let results: [PushOutcome.Result] = [
        .sent, .gone(since: nil), .tokenError(reason: "BadDeviceToken"), .retry(after: 60, reason: "busy"),
        .invalid(reason: "PayloadTooLarge"),
      ]
      let messages = try await store.claim()
      #expect(messages.count == 5)
      let outcomes = zip(messages, results).map(PushOutcome.init(message:result:))
      try await store.recordOutcomes(outcomes, at: Self.start)
      let push = try #require(try await store.pushes(limit: 1).first)
      #expect(push.sent == 1 && push.gone == 1 && push.refused == 2 && push.dropped == 0)
      let counted = store.deliveryCounts().outcomes
      for name in ["sent", "gone", "tokenError", "retry", "invalid"] {
        #expect(counted[.init(provider: .apns, result: name)] == 1, "\(name)")
      }
    }
  }

  @Test("The time of the last message is that of the last one that was accepted")
  func lastSent() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2)
      try await sql.publish([UUID(1)])
      try await store.wake()
      let messages = try await store.claim()
      func last() async throws -> Date? { try await store.pushes(limit: 1).first?.lastSent }
      try await Self.record(store, messages[0], .tokenError(reason: "BadDeviceToken"), 1)
      #expect(try await last() == nil)
      try await Self.record(store, messages[1], .sent, 2)
      #expect(try await last() == Self.start + 2)
      try await Self.record(store, try await Self.claim(store, 3601), .tokenError(reason: "BadDeviceToken"), 3602)
      #expect(try await last() == Self.start + 2)
      try await Self.record(store, try await Self.claim(store, 7202), .sent, 7203)
      #expect(try await last() == Self.start + 7203)
      let push = try #require(try await store.pushes(limit: 1).first)
      #expect(push.sent == 2 && push.refused == 2)
    }
  }

  @Test("Messages to refused addresses that are given up are counted over all records")
  func givenUp() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2)
      try await sql.publish([UUID(1)])
      try await store.wake()
      for seconds in [0.0, 3600, 7200] {
        let messages = try await store.claim(at: Self.start + seconds)
        #expect(messages.count == 2)
        for message in messages {
          try await Self.record(store, message, .tokenError(reason: "BadDeviceToken"), seconds)
        }
      }
      let push = try #require(try await store.pushes(limit: 1).first)
      #expect(push.dropped == 2 && push.refused == 6)
    }
  }

  @Test("A push that arrives while another one is refused for its content follows it at once")
  func afterInvalid() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      let message = try await Self.claim(store, 0)
      try await sql.publish([UUID(2)])
      try await store.wake(at: Self.start + 1)
      try await Self.record(store, message, .invalid(reason: "PayloadTooLarge"), 2)
      let next = try await Self.claim(store, 2)
      #expect(next.content.contentID == UUID(2) && next.attempts == 0)
    }
  }

  @Test("A push that arrives while the third attempt meets a refused address is not sent to it")
  func afterThirdAttempt() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      for seconds in [0.0, 60] {
        try await Self.record(store, try await Self.claim(store, seconds), .retry(after: 60, reason: "busy"), seconds)
      }
      let message = try await Self.claim(store, 120)
      try await sql.publish([UUID(2)])
      try await store.wake(at: Self.start + 121)
      let next: UUID? = try await sql.value("SELECT p.item FROM deliveries AS o JOIN pushes AS p ON p.id = o.push")
      #expect(next == UUID(2))
      try await Self.record(store, message, .tokenError(reason: "BadDeviceToken"), 122)
      #expect(try await store.nextDue(.apns, at: Self.start + 122) == nil)
    }
  }

  @Test("A message that was not sent is due again after the wait without a further attempt")
  func unsent() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      try await store.send(.apns, .retry(after: 10, reason: "busy"))
      let put = try await store.send(.apns, .unsent(after: 20, reason: "paused"), at: Self.start + 10)
      #expect(put.map(\.attempts) == [1, 1])
      #expect(try await store.nextDue(.apns, at: Self.start + 10) == 20)
      let again = try await store.claim(at: Self.start + 30)
      #expect(again.map(\.kind) == [.alert, .silent] && again.map(\.attempts) == [1, 1])
      // Both are late nonetheless, and count as such.
      try await store.countDeliveries(at: Self.start + 40)
      #expect(store.deliveryCounts().overdueSeconds == [.apns: 40])
      #expect(store.deliveryCounts().outcomes[.init(provider: .apns, result: "retry")] == 4)
    }
  }

  @Test("A device that has to return a code again is not overdue for the failures of its former address")
  func overdueFormerAddress() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.registerConfirmed(.webPush(1, .unifiedpush))
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try await store.send(.webpush, .retry(after: 600, reason: "no connection")).count == 1)
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(1, .unifiedpush, key: 2), limits: .none, at: Self.start + 100)
      try await store.countDeliveries(at: Self.start + 130)
      #expect(store.deliveryCounts().overdueSeconds == [.webpush: 30])
    }
  }

  @Test("An alert that fails again is overdue since its first failure")
  func overdueAlert() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      _ = try await sql.query("DELETE FROM deliveries")
      func overdue(_ seconds: Double) async throws -> Double? {
        try await store.countDeliveries(at: Self.start + seconds)
        #expect(store.deliveryCounts().owed == [.apns: 1])
        return store.deliveryCounts().overdueSeconds[.apns]
      }
      try await Self.record(store, try await Self.claim(store, 0), .retry(after: 60, reason: "busy"), 0)
      try await Self.record(store, try await Self.claim(store, 60), .retry(after: 600, reason: "busy"), 60)
      #expect(try await overdue(100) == 100)
      let message = try await Self.claim(store, 660)
      #expect(message.kind == .alert && message.attempts == 2)
    }
  }

  @Test("What was sent is owed no more, and the message that waits longest tells how late they are")
  func owed() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      try await sql.publish([UUID(1)])
      try await store.wake()
      let message = try #require(try await store.claim(limit: 1).first)
      try await Self.record(store, message, .sent, 0)
      // The claim of another one ends without an outcome.
      #expect(try await store.claim(limit: 1, lease: .seconds(20)).count == 1)
      try await store.countDeliveries(at: Self.start + 30)
      let counts = store.deliveryCounts()
      #expect(counts.owed == [.apns: 2] && counts.overdueSeconds == [.apns: 30])
    }
  }

  @Test("A device is counted as refused for a day")
  func refusedDevices() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      _ = try await store.registerConfirmed(.webPush(1, .unifiedpush))
      try await sql.publish([UUID(1)])
      try await store.wake()
      // Pending devices are counted too.
      try await store.register(.webPush(2))
      for provider in [PushProvider.apns, .webpush] {
        try await store.send(provider, .tokenError(reason: "BadDeviceToken"))
      }
      for (seconds, count) in [(86_399.0, 1), (86_400.0, 0)] {
        try await store.countDeliveries(at: Self.start + seconds)
        #expect(store.deliveryCounts().refusedDevices == [.apns: count, .webpush: 2 * count])
      }
    }
  }

  // MARK: Providers

  @Test("A refusal of unproven addresses counts until the same service has an active device that is known")
  func refusals() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.fcm())
      try await sql.publish([UUID(1)])
      try await store.wake()
      try await store.send(.fcm)
      // Its service has accepted the code, which has not come back.
      try await store.register(.webPush(1))
      try await store.send(.webpush)
      func refuse(_ provider: PushProvider, _ seconds: Double) async throws -> Bool {
        try await store.noteRefusal(by: provider, reason: "\(seconds)", isProven: false, at: Self.start + seconds)
      }
      #expect(try await refuse(.webpush, 1))
      #expect(try await refuse(.apns, 2))
      #expect(try await !refuse(.fcm, 3))
      #expect(try await refuse(.apns, 4))
      var states = try await store.providerStates()
      #expect(states.map(\.provider) == [.apns, .webpush] && states.map(\.refusal?.reason) == ["4.0", "1.0"])
      #expect(states.map(\.refusal?.at) == [Self.start + 4, Self.start + 1])
      #expect(states.map(\.changedAt) == [Self.start + 4, Self.start + 1])
      try await store.endRefusal(by: .apns, at: Self.start + 5)
      // A repeat changes nothing.
      try await store.endRefusal(by: .apns, at: Self.start + 6)
      states = try await store.providerStates()
      #expect(states.map(\.refusal?.reason) == [nil, "1.0"])
      #expect(states.map(\.changedAt) == [Self.start + 5, Self.start + 1])
    }
  }

  @Test("The end of a pause leaves those of other services")
  func otherPause() async throws {
    try await NewsDatabase.withStore { store, _ in
      for provider in [PushProvider.fcm, .apns] {
        try await store.pauseProvider(provider, for: 60, reason: "a test", at: Self.start)
      }
      try await store.resumeProvider(.fcm, at: Self.start + 1)
      let states = try await store.providerStates()
      #expect(states.map(\.provider) == [.apns, .fcm] && states.map(\.pausedUntil) == [Self.start + 60, nil])
    }
  }
}
