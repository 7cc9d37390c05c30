import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The devices that a push wakes, and when.
@Suite struct FanOutTests {
  private static let start = Date.pushStart
  private static let hour = 3600.0

  private static func woken(_ store: NewsStore, at now: Date) async throws -> Set<UUID> {
    var devices: Set<UUID> = []
    for provider in PushProvider.allCases {
      devices.formUnion(try await store.send(provider, at: now).map(\.device))
    }
    return devices
  }

  @Test("A silent push wakes active devices that follow one of its topics or the feed, and no browser")
  func audience() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport", "weather")
      func register(_ registration: DeviceRegistration, _ topics: [String]?, at now: Date) async throws -> UUID {
        var registration = registration
        registration.topics = topics
        return try await store.register(registration, at: now).id
      }
      let wanted: Set<UUID> = [
        try await register(.apns(1), nil, at: Self.start), try await register(.fcm(1), ["harbour"], at: Self.start),
        try await register(.apns(2), ["sport", "weather"], at: Self.start),
        try await store.registerConfirmed(.webPush(1, .unifiedpush)).id,
      ]
      _ = try await register(.apns(3), ["weather"], at: Self.start)
      _ = try await store.registerConfirmed(.webPush(2, .browser))
      _ = try await store.send(.webpush)
      _ = try await register(.apns(4), nil, at: Self.start - 90 * 86_400)
      try await sql.publish([UUID(1)], topics: ["harbour"])
      try await sql.publish([UUID(2)], topics: ["sport"])
      try await store.wake()
      #expect(try await Self.woken(store, at: Self.start) == wanted)
      let push = try #require(try await store.pushes(limit: 1).first)
      #expect(push.audience == 4 && push.sent == 4 && push.kind == .silent && push.finished == Self.start)
    }
  }

  @Test("A device that has reported the version of the push, or that of its topics, is not woken")
  func reported() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      var follower = DeviceRegistration.apns(1)
      follower.topics = ["a"]
      let devices = [
        try await store.register(follower), try await store.register(.apns(2)), try await store.register(.apns(3)),
        try await store.register(.apns(4)), try await store.register(.apns(5)),
      ]
      try await sql.publish([UUID(1)], topics: ["a"])
      try await sql.publish([UUID(2)], topics: ["b"])
      let epoch = try await store.feedToken().epoch
      let tokens = [
        // The version of the topic, that of the feed, an earlier one, one of another history, and none.
        SyncToken(epoch: epoch, scope: Scope(topics: ["a"]), version: 1),
        SyncToken(epoch: epoch, scope: .feed, version: 2), SyncToken(epoch: epoch, scope: .feed, version: 1),
        SyncToken(epoch: "zzzzzz", scope: .feed, version: 2),
      ]
      for (device, token) in zip(devices, tokens) {
        #expect(try await store.report(device.id, secret: device.secret, DeviceReport(token: token)))
      }
      try await store.wake()
      #expect(try await Self.woken(store, at: Self.start) == Set(devices[2...].map(\.id)))
    }
  }

  @Test("A device that reports the version before its message is sent is not woken either")
  func reportedLate() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      let report = DeviceReport(token: try await store.feedToken())
      #expect(try await store.report(device.id, secret: device.secret, report))
      #expect(try await store.claim().isEmpty)
      #expect(try await store.nextDue(.apns, at: Self.start) == nil)
      // Nothing is under way that the code for another address would follow.
      _ = try await store.updateDevice(device.id, secret: device.secret, .webPush(1), limits: .none, at: Self.start)
      #expect(try await store.nextDue(.webpush, at: Self.start) == 0)
    }
  }

  @Test("A message for a device whose registration has ended since is not sent")
  func expired() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake()
      _ = try await sql.query("UPDATE devices SET expires_at = \(Self.start)")
      #expect(try await store.claim().isEmpty)
      #expect(try await store.nextDue(.apns, at: Self.start) == nil)
    }
  }

  @Test("The devices of an alert are found before those of a silent push that has started before")
  func alertsFirst() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(3)
      try await sql.publish([UUID(1)])
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start))
      _ = try await store.create(
        UUID(2), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start + 10))
      #expect(try await store.fanOut(budget: 3, at: Self.start + 10))
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 3)
      #expect(try await sql.value("SELECT count(*) FROM deliveries") == 0)
    }
  }

  @Test("Batches of 1,000 reach each of many devices once, also those registered with the first and last ids")
  func batches() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2300)
      try await sql.publish([UUID(1)])
      #expect(try await !store.collectOutbox(window: .zero, at: Self.start))
      for expected in [1000, 2000, 2300] {
        #expect(try await store.fanOut(budget: 3, at: Self.start))
        #expect(try await sql.value("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL") == expected)
      }
      #expect(try await !store.fanOut(budget: 3, at: Self.start))
      let push = try #require(try await store.pushes(limit: 1).first)
      #expect(push.audience == 2300 && push.finished == Self.start)
    }
  }

  @Test("Processes that fan out at the same time reach each device once, and lose none")
  func workers() async throws {
    try await withTwoStores { first, second, sql in
      try await sql.makeDevices(4500)
      for number in 1...3 {
        _ = try await first.create(
          UUID(number), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      }
      _ = try await first.collectOutbox(window: .zero, at: Self.start)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in [first, second, first, second] {
          group.addTask {
            // A push that another worker holds is skipped.
            try await eventually("all pushes are fanned out") {
              while try await store.fanOut(budget: 3, at: Self.start) {}
              return try await store.nextFanOut(at: Self.start) == nil
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await sql.value("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL") == 4500)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 3 * 4500)
      let audiences: [Int] = try await sql.query("SELECT audience FROM pushes").map { try $0.decode(0) }
      #expect(audiences == [4500, 4500, 4500, 4500])
    }
  }

  @Test("A device is owed one silent push, however many are made before it is sent")
  func merged() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      for number in 1...5 {
        try await sql.publish([UUID(number)])
        try await store.wake(at: Self.start + Double(number))
        // The next fan-out corrects what one that has met a move of the device has noted.
        if number == 3 { _ = try await sql.query("UPDATE deliveries SET provider = 'fcm'") }
      }
      let messages = try await store.send(at: Self.start + 6)
      #expect(messages.map(\.content.contentID) == [UUID(5)])
      #expect(try await store.claim(at: Self.start + 6).isEmpty)
    }
  }

  @Test("A device gets its budget of silent pushes within an hour, and the rest as one when the hour is over")
  func budget() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      var sent: [Date] = []
      for minute in 0..<130 {
        let now = Self.start + Double(minute) * 60
        try await sql.publish([UUID(minute)])
        try await store.wake(budget: 3, at: now)
        sent += try await store.send(at: now).map { _ in now }
      }
      #expect(sent.map { Int($0.timeIntervalSince(Self.start) / 60) } == [0, 1, 2, 60, 61, 62, 120, 121, 122])
      // Earlier times are forgotten.
      #expect(try await sql.value("SELECT cardinality(sent) FROM deliveries") == 3)
    }
  }

  @Test(
    "Only messages that were accepted use up the budget of a device",
    arguments: [
      .tokenError(reason: "BadDeviceToken"), .invalid(reason: "PayloadTooLarge"), .retry(after: 0, reason: "busy"),
    ] as [PushOutcome.Result])
  func unaccepted(result: PushOutcome.Result) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake(budget: 1)
      #expect(try await store.send(.apns, result).count == 1)
      _ = try await sql.query("UPDATE deliveries SET due_at = NULL")
      _ = try await sql.query("UPDATE devices SET token_error_at = NULL")
      try await sql.publish([UUID(2)])
      try await store.wake(budget: 1, at: Self.start + 1)
      #expect(try await store.nextDue(.apns, at: Self.start + 1) == 0)
    }
  }

  @Test(
    "A push that arrives while another one is sent follows it within the budget",
    arguments: [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2)])
  func replaced(budget: Int, earlier: Int) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      for number in 0..<earlier {
        let now = Self.start - 100 + Double(number)
        try await sql.publish([UUID(10 + number)])
        try await store.wake(budget: budget, at: now)
        #expect(try await store.send(at: now).count == 1)
      }
      try await sql.publish([UUID(1)])
      try await store.wake(budget: budget)
      let message = try #require(try await store.claim().first)
      try await sql.publish([UUID(2)])
      try await store.wake(budget: budget, at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).isEmpty)
      try await store.recordOutcomes([PushOutcome(message: message, result: .sent)], at: Self.start + 2)
      let due = try #require(try await store.nextDue(.apns, at: Self.start + 2))
      // The budget is used up by the message that was under way: an hour begins with the first message of the budget.
      let isUsedUp = earlier + 1 == budget
      let first = budget == 1 ? Self.hour - 2...Self.hour : Self.hour - 102...Self.hour - 102
      #expect(isUsedUp ? first ~= due : due == 0)
      let next = try await store.claim(at: Self.start + 2 + due)
      #expect(next.map(\.content.contentID) == [UUID(2)] && next.map(\.attempts) == [0])
    }
  }

  // MARK: Quiet hours

  /// The time at which a device in Berlin that is quiet from 22:00 to 07:00 gets a push.
  private static func delivery(of time: String) async throws -> String {
    try await NewsDatabase.withStore { store, sql in
      let now = try #require(RFC3339.date(from: time))
      var registration = DeviceRegistration.apns()
      registration.timeZone = "Europe/Berlin"
      registration.quiet = QuietHours(from: 22 * 60, to: 7 * 60)
      try await store.register(registration, at: now)
      for number in 1...3 {
        try await sql.publish([UUID(number)])
        try await store.wake(at: now)
      }
      let wait = try #require(try await store.nextDue(.apns, at: now))
      if wait > 0 { #expect(try await store.claim(at: now + wait - 1).isEmpty) }
      // The pushes have become one.
      #expect(try await store.claim(at: now + wait).count == 1)
      return RFC3339.string(from: now + wait)
    }
  }

  @Test(
    "Silent pushes wait for the end of quiet hours by the local clock, over both changes of it",
    arguments: [
      ("2033-03-26T20:59:59Z", "2033-03-26T20:59:59.000Z"),  // 21:59:59 in Berlin
      ("2033-03-26T21:00:00Z", "2033-03-27T05:00:00.000Z"),  // 22:00 in winter, until 07:00 in summer
      ("2033-03-27T00:59:59Z", "2033-03-27T05:00:00.000Z"),
      ("2033-03-27T01:00:00Z", "2033-03-27T05:00:00.000Z"),
      ("2033-03-27T05:00:00Z", "2033-03-27T05:00:00.000Z"),
      ("2033-10-29T19:59:59Z", "2033-10-29T19:59:59.000Z"),
      ("2033-10-29T20:00:00Z", "2033-10-30T06:00:00.000Z"),  // 22:00 in summer, until 07:00 in winter
      ("2033-10-30T00:30:00Z", "2033-10-30T06:00:00.000Z"),  // 02:30 for the first time
      ("2033-10-30T01:30:00Z", "2033-10-30T06:00:00.000Z"),  // 02:30 for the second time
      ("2033-10-30T05:59:59Z", "2033-10-30T06:00:00.000Z"),
      ("2033-10-30T06:00:00Z", "2033-10-30T06:00:00.000Z"),
    ])
  func quietHours(time: String, delivery: String) async throws {
    #expect(try await Self.delivery(of: time) == delivery)
  }

  @Test("A message that has become due in quiet hours, because its provider was down, waits for their end")
  func lateQuietHours() async throws {
    try await NewsDatabase.withStore { store, sql in
      var registration = DeviceRegistration.apns()
      // From ten minutes after the start, which is 03:33:20, for an hour.
      registration.quiet = QuietHours(from: 3 * 60 + 43, to: 4 * 60 + 43)
      try await store.register(registration)
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try await store.send(.apns, .retry(after: 600, reason: "down")).count == 1)
      #expect(try await store.claim(at: Self.start + 600).isEmpty)
      #expect(try await store.nextDue(.apns, at: Self.start + 600) == 69 * 60 + 40 - 600)
      #expect(try await store.claim(at: Self.start + 69 * 60 + 40).count == 1)
    }
  }

  @Test("A time zone that the database has lost delays nobody")
  func lostZone() async throws {
    try await NewsDatabase.withStore { store, sql in
      var registration = DeviceRegistration.apns(1)
      registration.quiet = QuietHours(from: 0, to: 1439)
      registration.timeZone = "Europe/Berlin"
      let device = try await store.register(registration)
      _ = try await sql.query("UPDATE devices SET time_zone = 'Europe/Atlantis'")
      try await sql.publish([UUID(1)])
      try await store.wake()
      #expect(try await store.claim().map(\.device) == [device.id])
    }
  }
}
