import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The messages that a claim takes, leaves or settles.
@Suite struct ClaimChoiceTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(state: .published, date: .newYear, text: "The ferry is back.")

  @Test("Messages that are due for the longest time are claimed first")
  func oldestFirst() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.registerListener(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      let late = try await store.register(.apns(2))
      _ = try await store.create(UUID(2), Self.content, requestsAlert: true)
      try await store.wake(at: Self.start + 10)
      var messages: [PushMessage] = []
      for _ in 0..<4 { messages += try await store.claim(limit: 1, at: Self.start + 20) }
      #expect(messages.map(\.kind) == [.alert, .alert, .silent, .silent])
      #expect(messages.prefix(2).map(\.content.contentID) == [UUID(1), UUID(2)])
      #expect(messages.last?.device == late.id && messages.first?.device != late.id)
    }
  }

  @Test("Messages that another process is claiming do not keep others waiting")
  func locked() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      try await sql.transaction { transaction in
        for table in ["alert_deliveries", "deliveries"] {
          _ = try await transaction.query(
            """
            SELECT FROM \(unsafeSQL: table) AS o
            WHERE o.device = (SELECT min(d.id::text)::uuid FROM devices AS d) FOR UPDATE
            """)
        }
        #expect(try await store.claim().map(\.kind) == [.alert, .silent])
      }
      #expect(try await store.claim().map(\.kind) == [.alert, .silent])
    }
  }

  @Test(
    "A message could have been sent since its push began, unless it waits for longer than a fan-out may take",
    arguments: [(0.0, 0.0), (599, 0), (600, 600)])
  func delay(fanOut: Double, due: Double) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      _ = try await store.collectOutbox(window: .zero, at: Self.start)
      #expect(try await store.fanOut(budget: 3, at: Self.start + fanOut))
      let busy = PushOutcome.Result.retry(after: 100, reason: "busy")
      let first = try #require(try await store.send(.apns, busy, at: Self.start + 700).first)
      #expect(first.dueAt == Self.start + due)
      // The wait after a failure is no delay.
      let second = try #require(try await store.claim(at: Self.start + 810).first)
      #expect(second.attempts == 1 && second.dueAt == Self.start + 800)
      #expect(try #require(try await store.testMessage(to: first.device, at: Self.start)).dueAt == nil)
    }
  }

  @Test("Alerts ask for reports like silent messages, codes never do")
  func reports() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.webPush(1))
      try await sql.makeDevices(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      func asking(_ provider: PushProvider) async throws -> [Bool] {
        try await store.leaseMessages(provider, limit: 10, for: .seconds(60), reportRate: 1, at: Self.start)
          .map(\.asksForReport)
      }
      #expect(try await asking(.apns) == [true, true])
      #expect(try await asking(.webpush) == [false])
    }
  }

  @Test("A code is sent in quiet hours too, and no more once its device has returned it")
  func codes() async throws {
    try await NewsDatabase.withStore { store, _ in
      var wanted = DeviceRegistration.webPush(1, .unifiedpush)
      wanted.quiet = QuietHours(from: 0, to: 600)
      let device = try await store.register(wanted)
      // The service has sent it, but its answer was lost.
      let message = try #require(try await store.send(.webpush, .retry(after: 30, reason: "no answer")).first)
      let code = try #require(message.content.code)
      #expect(message.dueAt == nil)
      #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
      let noon = Self.start + 9 * 3600
      #expect(try await store.claim(.webpush, at: noon).isEmpty)
      #expect(try await store.nextDue(.webpush, at: noon) == nil)
    }
  }

  @Test("A receiver that has become a browser is not woken for an earlier push")
  func browser() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.registerConfirmed(.webPush(1, .unifiedpush))
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try await store.nextDue(.webpush, at: Self.start) == 0)
      _ = try await store.updateDevice(device.id, secret: device.secret, .webPush(1), limits: .none, at: Self.start)
      #expect(try await store.claim(.webpush).isEmpty)
      #expect(try await store.nextDue(.webpush, at: Self.start) == nil)
    }
  }

  @Test("The time of the next message counts alerts, those of the push service alone")
  func nextAlert() async throws {
    try await NewsDatabase.withStore { store, _ in
      var wanted = DeviceRegistration.webPush(1)
      wanted.alerts = true
      _ = try await store.registerConfirmed(wanted)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      #expect(try await store.nextDue(.apns, at: Self.start) == nil)
      #expect(try await store.nextDue(.webpush, at: Self.start) == 0)
      #expect(try await store.claim(.webpush).map(\.kind) == [.alert])
      #expect(try await store.nextDue(.webpush, at: Self.start + 10) == 50)
    }
  }

  @Test("Alerts that are not wanted any more are counted over all claims")
  func dropped() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      _ = try await sql.query("UPDATE devices SET alerts = false")
      for count in 1...3 {
        _ = try await store.claim(limit: 1)
        let alert = try #require(try await store.pushes(limit: 9).first { $0.kind == .alert })
        #expect(alert.dropped == count && alert.audience == 3)
      }
    }
  }

  @Test("Messages of a push that is forgotten meanwhile are settled: alerts are dropped, silent ones sent")
  func forgottenPush() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      let messages = try await store.claim()
      #expect(messages.count == 2)
      _ = try await sql.query("DELETE FROM pushes")
      try await store.recordOutcomes(messages.map { PushOutcome(message: $0, result: .sent) }, at: Self.start + 1)
      #expect(try await store.nextDue(.apns, at: Self.start + 1) == nil)

      _ = try await store.create(UUID(2), Self.content, requestsAlert: true)
      try await store.wake(at: Self.start + 10)
      _ = try await sql.query("DELETE FROM pushes")
      let later = try await store.send(at: Self.start + 10)
      #expect(later.map(\.kind) == [.silent] && later.map(\.content.contentID) == [nil])
      #expect(later.allSatisfy { $0.dueAt == nil })
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
      #expect(try await store.pushes(limit: 9).isEmpty)
    }
  }

  @Test("A debt to a device that does not exist is forgotten by the next claim")
  func unknownDevice() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      // A fan-out may meet a device that is being deleted.
      for table in ["alert_deliveries", "deliveries"] {
        _ = try await sql.query("UPDATE \(unsafeSQL: table) SET device = \(UUID(9))")
      }
      #expect(try await store.claim().isEmpty)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
      #expect(try await sql.value("SELECT count(*) FROM deliveries") == 0)
    }
  }

  @Test("Only the alert that its device does not want any more is dropped, not its others and not those of others")
  func droppedAlone() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2)
      for number in 1...2 { _ = try await store.create(UUID(number), Self.content, requestsAlert: true) }
      try await store.wake()
      let device: UUID = try await sql.value("SELECT id FROM devices WHERE address = '1'")
      _ = try await sql.query("UPDATE devices SET alerts = false WHERE id = \(device)")
      // This one is claimed first.
      _ = try await sql.query(
        """
        UPDATE alert_deliveries AS a SET due_at = a.due_at - interval '1 second' FROM pushes AS p
        WHERE a.device = \(device) AND p.id = a.push AND p.item = \(UUID(1))
        """)
      #expect(try await store.claim(limit: 1).map(\.kind) == [.silent])
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 3)
    }
  }

  @Test("Devices whose codes are sent together have codes of their own")
  func severalCodes() async throws {
    try await NewsDatabase.withStore { store, _ in
      let devices = try await [store.register(.webPush(1)), store.register(.webPush(2))]
      let messages = try await store.claim(.webpush)
      #expect(messages.count == 2)
      for device in devices {
        let code = try #require(messages.first { $0.device == device.id }?.content.code)
        #expect(try await store.confirmDevice(device.id, secret: device.secret, code: code) == true)
      }
    }
  }
}
