import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The effects of the answers of providers.
@Suite struct OutcomeTests {
  private static let start = Date.pushStart

  /// Publishes an item, and claims the message for the only device.
  private static func claim(_ store: NewsStore, _ sql: PostgresPool, at now: Date = start) async throws -> PushMessage {
    try await sql.publish([UUID()])
    try await store.wake(at: now)
    return try #require(try await store.claim(at: now).first)
  }

  private static func record(
    _ store: NewsStore, _ message: PushMessage, _ result: PushOutcome.Result, at now: Date = start
  ) async throws {
    try await store.recordOutcomes([PushOutcome(message: message, result: result)], at: now)
  }

  @Test("A device that is gone is deleted with all that it is owed")
  func gone() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let messages = try await store.claim()
      #expect(messages.count == 4)
      try await store.recordOutcomes(
        [PushOutcome(message: messages[0], result: .gone(since: nil))]
          + messages[1...].map { .init(message: $0, result: .sent) },
        at: Self.start)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1)
      #expect(try await sql.value("SELECT count(*) FROM deliveries") == 1)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
      let alert = try #require(try await store.pushes(limit: 5).first { $0.kind == .alert })
      #expect(alert.gone == 1 && alert.sent == 1 && alert.lastSent == Self.start)
    }
  }

  @Test("A device that has registered after the time at which its address was gone is kept")
  func goneBefore() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      let message = try await Self.claim(store, sql)
      try await Self.record(store, message, .gone(since: Self.start))
      #expect(try await store.device(device.id) != nil)
      #expect(try await store.nextDue(.apns, at: Self.start) == nil)
      #expect(try await store.pushes(limit: 1).first?.gone == 0)
      let next = try await Self.claim(store, sql, at: Self.start + 1)
      try await Self.record(store, next, .gone(since: Self.start + 0.001), at: Self.start + 1)
      #expect(try await store.device(device.id) == nil)
    }
  }

  @Test("A device that has a new address since the claim is kept, and gets the message there")
  func goneAddress() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns(1))
      let message = try await Self.claim(store, sql)
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .apns(2), limits: .none, at: Self.start + 1)
      try await Self.record(store, message, .gone(since: nil), at: Self.start + 2)
      let again = try #require(try await store.claim(at: Self.start + 2).first)
      #expect(again.target != message.target && again.device == device.id)
    }
  }

  @Test("A refused address is marked and tried three times, then left alone for a day")
  func tokenErrors() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      _ = try await Self.claim(store, sql, at: Self.start - 61)
      for attempt in 0..<3 {
        let now = Self.start + Double(attempt) * 3600
        let message = try #require(try await store.claim(at: now).first)
        #expect(message.attempts == attempt)
        try await Self.record(store, message, .tokenError(reason: "BadDeviceToken"), at: now)
        #expect(
          try await store.device(device.id)?.tokenError == .init(reason: "BadDeviceToken", at: now, count: attempt + 1))
        let wait: Double? = attempt < 2 ? 3600 : nil
        #expect(try await store.nextDue(.apns, at: now) == wait)
      }
      let end = Self.start + 7200
      #expect(try await store.nextDue(.apns, at: end) == nil)
      try await sql.publish([UUID()])
      try await store.wake(at: end + 86_399)
      #expect(try await store.nextDue(.apns, at: end) == nil)
      let message = try await Self.claim(store, sql, at: end + 86_400)
      try await Self.record(store, message, .sent, at: end + 86_400)
      #expect(try #require(try await store.device(device.id)).tokenError == nil)
      let pushes = try await store.pushes(limit: 9)
      #expect(pushes.map(\.refused).reduce(0, +) == 3 && pushes.map(\.dropped).reduce(0, +) == 1)
    }
  }

  @Test("A device is proven once its service has accepted a message to its address")
  func proof() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      func isProven(_ second: Double, _ result: PushOutcome.Result) async throws -> Bool {
        let message = try await Self.claim(store, sql, at: Self.start + second)
        try await Self.record(store, message, result, at: Self.start + second)
        return message.isProven
      }
      #expect(try await !isProven(0, .retry(after: 0, reason: "no connection")))
      #expect(try await !isProven(1, .sent))
      #expect(try await isProven(2, .sent))
      // A known address stays proven, a new one is not.
      let again = try await store.register(.apns(), at: Self.start + 3)
      #expect(try await isProven(4, .invalid(reason: "the payload is too large")))
      _ = try await store.updateDevice(device.id, secret: again.secret, .apns(1), limits: .none, at: Self.start + 5)
      #expect(try await !isProven(4000, .sent))
      #expect(try await isProven(4001, .tokenError(reason: "BadDeviceToken")))
    }
  }

  @Test("A device of Web Push is proven when it has returned its code")
  func proofByCode() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.registerConfirmed(.webPush(1, .unifiedpush))
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try #require(try await store.send(.webpush).first).isProven)
      _ = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(1, .unifiedpush, key: 2), limits: .none, at: Self.start + 100)
      let code = try #require(try await store.claim(.webpush, at: Self.start + 200).first)
      #expect(code.kind == .confirmation && !code.isProven)
    }
  }

  @Test("Refusals of addresses that anyone may have registered count until a device is known")
  func refusals() async throws {
    try await NewsDatabase.withStore { store, sql in
      func refuse(_ reason: String, isProven: Bool) async throws -> Bool {
        try await store.noteRefusal(by: .apns, reason: reason, isProven: isProven, at: Self.start)
      }
      #expect(try await refuse("first", isProven: false))
      #expect(try await store.providerStates().map(\.refusal?.reason) == ["first"])
      try await store.endRefusal(by: .apns, at: Self.start + 1)
      #expect(try await store.providerStates().map(\.refusal) == [nil])
      try await store.register(.apns())
      _ = try await Self.claim(store, sql)
      #expect(try await refuse("second", isProven: false))
      _ = try await sql.query("UPDATE devices SET accepted = true")
      #expect(try await !refuse("third", isProven: false))
      #expect(try await refuse("fourth", isProven: true))
      let state = try #require(try await store.providerStates().first)
      #expect(state.refusal?.reason == "fourth" && state.refusal?.at == Self.start && state.pausedUntil == nil)
      // Pauses and refusals do not end each other.
      try await store.pauseProvider(.apns, for: 60, reason: "a pause", at: Self.start)
      try await store.resumeProvider(.apns, at: Self.start)
      #expect(try await store.providerStates().first?.refusal?.reason == "fourth")
    }
  }

  @Test("A refused device that registers again is tried at once")
  func registeredAgain() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      let message = try await Self.claim(store, sql)
      _ = try await store.updateDevice(device.id, secret: device.secret, .apns(1), limits: .none, at: Self.start + 1)
      // The refusal was that of the former address.
      try await Self.record(store, message, .tokenError(reason: "BadDeviceToken"), at: Self.start + 2)
      #expect(try #require(try await store.device(device.id)).tokenError == nil)
    }
  }

  @Test(
    "A known address that was refused is refused no more once it is accepted or registered again",
    arguments: [false, true])
  func refusedNoMore(isRegistered: Bool) async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      try await Self.record(store, try await Self.claim(store, sql), .sent)
      let refused = try await Self.claim(store, sql, at: Self.start + 10)
      try await Self.record(store, refused, .tokenError(reason: "BadDeviceToken"), at: Self.start + 10)
      #expect(try await store.device(device.id)?.tokenError != nil)
      if isRegistered {
        #expect(try await store.register(.apns()).id == device.id)
      } else {
        #expect(try await store.send(at: Self.start + 3610).count == 1)
      }
      #expect(try #require(try await store.device(device.id)).tokenError == nil)
    }
  }

  @Test("Of two outcomes that are recorded together, the refusal of the address counts")
  func refusedAndSent() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let messages = try await store.claim()
      #expect(messages.map(\.kind) == [.alert, .silent])
      try await store.recordOutcomes(
        zip(messages, [.sent, .tokenError(reason: "BadDeviceToken")]).map(PushOutcome.init(message:result:)),
        at: Self.start)
      #expect(try await store.device(messages[0].device)?.tokenError?.reason == "BadDeviceToken")
    }
  }

  @Test("A message that cannot be sent is overdue since its first failure, a refused one is not")
  func overdue() async throws {
    try await NewsDatabase.withStore { store, sql in
      func overdue(_ seconds: Double) async throws -> Double {
        try await store.countDeliveries(at: Self.start + seconds)
        return store.deliveryCounts().overdueSeconds[.apns] ?? 0
      }
      let device = try await store.register(.apns())
      let message = try await Self.claim(store, sql)
      try await Self.record(store, message, .retry(after: 90, reason: "no connection"))
      #expect(try await overdue(30) == 30)
      // A later push does not change it.
      try await sql.publish([UUID(2)])
      try await store.wake(at: Self.start + 40)
      let second = try #require(try await store.claim(at: Self.start + 90).first)
      try await Self.record(store, second, .retry(after: 180, reason: "no connection"), at: Self.start + 91)
      #expect(try await overdue(100) == 100)
      try await store.send(at: Self.start + 271)
      #expect(try await overdue(300) == 0)

      let third = try await Self.claim(store, sql, at: Self.start + 400)
      try await Self.record(store, third, .tokenError(reason: "BadDeviceToken"), at: Self.start + 400)
      #expect(try await overdue(2000) == 0)
      let fourth = try #require(try await store.claim(at: Self.start + 4000).first)
      try await Self.record(store, fourth, .retry(after: 60, reason: "no connection"), at: Self.start + 4000)
      // The message waits for the end of quiet hours then, which is no delay.
      _ = try await sql.query(
        "UPDATE devices SET quiet_from = 0, quiet_to = 1439 WHERE id = \(device.id)")
      #expect(try await store.claim(at: Self.start + 4060).isEmpty)
      #expect(try await overdue(4100) == 0)
    }
  }

  @Test("An alert that cannot be sent is overdue since its first failure")
  func overdueAlert() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let alert = try #require(try await store.claim(limit: 1).first)
      #expect(alert.kind == .alert)
      _ = try await sql.query("DELETE FROM deliveries")
      try await Self.record(store, alert, .retry(after: 600, reason: "no connection"))
      try await store.countDeliveries(at: Self.start + 60)
      #expect(store.deliveryCounts().overdueSeconds == [.apns: 60])
    }
  }

  @Test("The code for a device that does not prove its address is never overdue after a failure")
  func overdueCode() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.register(.webPush(1))
      try await store.send(.webpush, .retry(after: 600, reason: "no connection"))
      try await store.countDeliveries(at: Self.start + 60)
      #expect(store.deliveryCounts().overdueSeconds == [.webpush: 0])
    }
  }

  @Test("A message that could not be sent is tried again after the wait, with the newest push")
  func retry() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      let message = try await Self.claim(store, sql)
      try await Self.record(store, message, .retry(after: 90, reason: "TooManyRequests"))
      try await sql.publish([UUID(2)])
      try await store.wake(at: Self.start + 5)
      #expect(try await store.nextDue(.apns, at: Self.start + 5) == 85)
      #expect(try await store.claim(at: Self.start + 89).isEmpty)
      let again = try #require(try await store.claim(at: Self.start + 90).first)
      #expect(again.attempts == 1 && again.content.contentID == UUID(2) && again.dueAt == Self.start + 90)
    }
  }

  @Test("A retried alert keeps its row and its attempts")
  func retriedAlert() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let busy = PushOutcome.Result.retry(after: 10, reason: "busy")
      let first = try await store.send(.apns, busy)
      // Once more, because the answer to the record was lost.
      try await store.recordOutcomes(first.map { .init(message: $0, result: busy) }, at: Self.start + 5)
      let again = try await store.claim(at: Self.start + 10)
      #expect(again.map(\.kind) == [.alert, .silent] && again.map(\.attempts) == [1, 1])
      try await store.recordOutcomes(again.map { .init(message: $0, result: .invalid(reason: "PayloadTooLarge")) })
      #expect(try await store.nextDue(.apns, at: Self.start + 20) == nil)
      #expect(try await store.pushes(limit: 5).allSatisfy { $0.refused == 1 && $0.sent == 0 })
    }
  }

  @Test("A code that is sent while its device confirms an earlier one leaves the next push alone")
  func confirmedMeanwhile() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.webPush(1, .unifiedpush))
      let code = try #require(try await store.claim(.webpush).first)
      #expect(
        try await store.confirmDevice(device.id, secret: device.secret, code: try #require(code.content.code)) == true)
      try await sql.publish([UUID(1)])
      try await store.wake(at: Self.start + 1)
      try await Self.record(store, code, .sent, at: Self.start + 2)
      #expect(try await store.claim(.webpush, at: Self.start + 2).map(\.kind) == [.silent])
    }
  }

  @Test("Outcomes of many messages are recorded together, those of several processes without a deadlock")
  func many() async throws {
    try await withTwoStores { first, second, sql in
      try await sql.makeDevices(1600)
      try await sql.publish([UUID(1)])
      try await first.wake()
      let claimed = try await [first.claim(limit: 800), second.claim(limit: 800)]
      try await sql.publish([UUID(2)])
      _ = try await first.collectOutbox(window: .zero, at: Self.start + 1)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (store, messages) in zip([first, second], claimed) {
          group.addTask {
            let outcomes = messages.shuffled().enumerated().map { index, message in
              PushOutcome(message: message, result: index.isMultiple(of: 8) ? .gone(since: nil) : .sent)
            }
            try await store.recordOutcomes(outcomes, at: Self.start + 1)
          }
        }
        group.addTask { while try await first.fanOut(budget: 3, at: Self.start + 1) {} }
        try await group.waitForAll()
      }
      while try await second.fanOut(budget: 3, at: Self.start + 1) {}
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1400)
      let pushes = try await first.pushes(limit: 2)
      #expect(pushes[1].sent == 1400 && pushes[1].gone == 200)
      var next: [UUID] = []
      // A claim may have met devices that were deleted during the fan-out.
      while try await second.nextDue(.apns, at: Self.start + 2) == 0 {
        next += try await second.claim(at: Self.start + 2).map(\.device)
      }
      #expect(next.count == 1400 && Set(next).count == 1400)
      #expect(try await sql.value("SELECT count(*) FROM deliveries") == 1400)
    }
  }

  @Test("Pushes are listed by age in pages, and forgotten after 30 days")
  func pages() async throws {
    try await NewsDatabase.withStore { store, sql in
      for number in 1...5 {
        try await sql.publish([UUID(number)])
        try await store.wake(at: Self.start + Double(number))
      }
      let all = try await store.pushes(limit: 10)
      #expect(all.map(\.item) == [5, 4, 3, 2, 1].map { UUID($0) })
      #expect(try await store.pushes(limit: 2) == Array(all[..<2]))
      #expect(try await store.pushes(limit: 2, before: all[1].id) == Array(all[2..<4]))
      #expect(try await store.pushes(limit: 2, before: all[4].id).isEmpty)
      #expect(try await store.pushes(limit: 2, before: UUID()).isEmpty)
      #expect(try await store.push(all[3].id) == all[3])
      #expect(try await store.push(UUID()) == nil)
      try await store.purgeDevices(at: Self.start + 2 + 30 * 86_400)
      #expect(try await store.pushes(limit: 10).map(\.id) == all[..<3].map(\.id))
    }
  }

  @Test("The counts have devices, debts, the outbox, pauses and the outcomes of the process")
  func counts() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns(1))
      try await store.register(.apns(2))
      try await store.register(.webPush(1))
      #expect(store.deliveryCounts() == StoreDeliveries())
      try await sql.publish([UUID(1)])
      try await store.wake()
      let message = try #require(try await store.claim(limit: 1).first)
      try await store.recordOutcomes(
        [PushOutcome(message: message, result: .tokenError(reason: "BadDeviceToken"))], at: Self.start)
      try await store.pauseProvider(.fcm, for: 100, reason: "x", at: Self.start)
      try await sql.publish([UUID(2)])
      try await store.countDeliveries(at: Self.start + 30)
      let counts = store.deliveryCounts()
      #expect(
        counts.devices == [
          .init(provider: .apns, isPending: false): 2, .init(provider: .webpush, isPending: true): 1,
        ])
      #expect(counts.refusedDevices[.apns] == 1 && counts.owed == [.apns: 2, .webpush: 1])
      #expect(counts.overdueSeconds == [.apns: 30, .webpush: 30])
      #expect(counts.outboxRows == 1 && counts.outboxSeconds > 0 && counts.paused == [.fcm])
      #expect(counts.outcomes == [.init(provider: .apns, result: "tokenError"): 1])
      try await store.countDeliveries(at: Self.start + 100)
      #expect(store.deliveryCounts().paused == [])
    }
  }
}
