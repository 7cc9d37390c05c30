import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The claims of messages by processes.
@Suite struct ClaimTests {
  private static let start = Date.pushStart

  @Test("A message has the address, the item and the current token")
  func message() async throws {
    try await NewsDatabase.withStore { store, sql in
      var sandbox = DeviceRegistration.apns(255)
      sandbox.environment = .sandbox
      let phone = try await store.register(sandbox, at: Self.start - 5)
      try await store.register(.fcm(1))
      _ = try await store.registerConfirmed(.webPush(1, .unifiedpush, key: 9))
      try await sql.publish([UUID(1)])
      try await store.wake()
      let apple = try #require(try await store.claim().first)
      let token = String(repeating: "0", count: 62) + "ff"
      #expect(apple.target == .apns(token: token, topic: "example.reader", environment: .sandbox))
      #expect(apple.device == phone.id && apple.registeredAt == Self.start - 5 && apple.attempts == 0)
      #expect(apple.deviceKind == .app && apple.kind == .silent && !apple.asksForReport)
      #expect(apple.content == PushContent(token: (try await store.feedToken()).description, contentID: UUID(1)))
      #expect(apple.push == (try await store.pushes(limit: 1).first?.id))
      #expect(try await store.claim(.fcm).map(\.target) == [.fcm(token: "token-1")])
      let key = DeviceRegistration.point(9)
      #expect(
        try await store.claim(.webpush).map(\.target)
          == [.webPush(endpoint: "https://push.example/1", p256dh: key, auth: [UInt8](repeating: 9, count: 16))])
    }
  }

  @Test("Processes that claim at the same time share the messages")
  func sharing() async throws {
    try await withTwoStores { first, second, sql in
      try await sql.makeDevices(900)
      _ = try await first.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await first.wake()
      let claimed = try await withThrowingTaskGroup(of: [PushMessage].self) { group in
        for store in [first, second, first, second] {
          group.addTask {
            var messages: [PushMessage] = []
            while try await store.nextDue(.apns, at: Self.start) == 0 {
              messages += try await store.claim(limit: 70)
            }
            return messages
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      for kind in [PushMessage.Kind.silent, .alert] {
        let devices = claimed.filter { $0.kind == kind }.map(\.device)
        #expect(devices.count == 900 && Set(devices).count == 900)
      }
    }
  }

  @Test("The claim of a process that has vanished ends with its lease, and its late outcome has no effect")
  func lostClaim() async throws {
    try await withTwoStores { first, second, sql in
      try await sql.makeDevices(1)
      _ = try await first.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await first.wake()
      let lost = try await first.claim(lease: .seconds(30))
      #expect(lost.map(\.kind) == [.alert, .silent])
      #expect(try await second.claim(at: Self.start + 29).isEmpty)
      #expect(try await second.nextDue(.apns, at: Self.start + 29) == 1)
      let again = try await second.claim(at: Self.start + 30)
      #expect(again.map(\.kind) == [.alert, .silent])
      try await first.recordOutcomes(lost.map { .init(message: $0, result: .gone(since: nil)) }, at: Self.start + 31)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1)
      try await second.recordOutcomes(again.map { .init(message: $0, result: .sent) }, at: Self.start + 32)
      // Once more, because the answer to the first record was lost.
      try await second.recordOutcomes(again.map { .init(message: $0, result: .sent) }, at: Self.start + 33)
      #expect(try await second.pushes(limit: 10).allSatisfy { $0.sent == 1 && $0.gone == 0 })
      #expect(try await second.nextDue(.apns, at: Self.start + 40) == nil)
    }
  }

  @Test("Alerts are claimed before silent messages, those due for the longest time first")
  func order() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      try await sql.publish([UUID(1)])
      try await store.wake()
      _ = try await store.create(
        UUID(2), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake(at: Self.start + 10)
      #expect(try await store.claim(limit: 2, at: Self.start + 20).map(\.kind) == [.alert, .alert])
      #expect(try await store.claim(limit: 2, at: Self.start + 20).map(\.kind) == [.alert, .silent])
    }
  }

  @Test("A pause of a provider holds for all processes and for this provider alone")
  func pauses() async throws {
    try await withTwoStores { first, second, sql in
      try await first.registerListener()
      try await first.register(.fcm())
      _ = try await first.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await first.wake()
      #expect(try await first.providerStates().isEmpty)
      try await first.pauseProvider(.apns, for: 60, reason: "6 of 20 tokens were refused", at: Self.start)
      try await first.pauseProvider(.apns, for: 119, reason: "7 of 20 tokens were refused", at: Self.start + 1)
      let states = try await second.providerStates()
      let paused = try #require(states.first)
      #expect(states.count == 1 && paused.provider == .apns && paused.refusal == nil)
      #expect(paused.pausedUntil == Self.start + 120 && paused.changedAt == Self.start + 1)
      #expect(paused.reason == "7 of 20 tokens were refused" && paused.pauses == 2)
      #expect(try await second.claim(at: Self.start + 119).isEmpty)
      #expect(try await second.nextDue(.apns, at: Self.start + 100) == 20)
      #expect(try await second.nextDue(.fcm, at: Self.start + 100) == 0)
      #expect(try await second.send(.fcm).count == 1)
      #expect(try await second.nextDue(.fcm, at: Self.start + 100) == nil)
      #expect(try await second.send(at: Self.start + 120).map(\.kind) == [.alert, .silent])
      try await second.resumeProvider(.apns, at: Self.start + 121)
      // A repeat changes nothing.
      try await second.resumeProvider(.apns, at: Self.start + 130)
      let state = try #require(try await first.providerStates().first)
      #expect(state.pausedUntil == nil && state.pauses == 0 && state.reason == nil)
      #expect(state.changedAt == Self.start + 121)
      #expect(try await first.nextDue(.apns, at: Self.start + 121) == nil)
    }
  }

  @Test("An alert that could not be sent for twelve hours is dropped, a silent message is not")
  func age() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      let end = Self.start + 12 * 3600
      #expect(try await store.claim(lease: .seconds(1), at: end - 1).map(\.kind) == [.alert, .silent])
      #expect(try await store.claim(at: end).map(\.kind) == [.silent])
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
    }
  }

  @Test("A share of devices is asked for reports")
  func reportRate() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(600)
      try await sql.publish([UUID(1)])
      try await store.wake()
      func asked(_ rate: Double) async throws -> Int {
        try await store.leaseMessages(.apns, limit: 200, for: .seconds(60), reportRate: rate, at: Self.start)
          .count { $0.asksForReport }
      }
      #expect(try await asked(0) == 0)
      #expect(try await asked(1) == 200)
      // Outside this range once in 10^15 runs.
      #expect(20...180 ~= (try await asked(0.5)))
    }
  }

  @Test("A test message goes to any known device, and its outcome changes nothing")
  func testMessage() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      let message = try #require(try await store.testMessage(to: device.id, at: Self.start))
      #expect(message.content.token == (try await store.feedToken()).description && message.asksForReport)
      #expect(message.kind == .silent && message.device == device.id && message.attempts == 0)
      #expect(message.content.contentID == nil && message.target.provider == .apns)
      try await store.recordOutcomes([PushOutcome(message: message, result: .gone(since: nil))], at: Self.start)
      #expect(try await store.device(device.id) != nil)
      #expect(try await store.testMessage(to: UUID()) == nil)
    }
  }
}
