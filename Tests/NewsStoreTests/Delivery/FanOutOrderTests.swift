import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// The order of fan-outs, and what they note for whom.
@Suite struct FanOutOrderTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(state: .published, date: .newYear, text: "The ferry is back.")

  /// The items of the alerts that devices are owed, in the order in which the alerts were made.
  private static func owedAlerts(_ sql: PostgresPool) async throws -> [UUID] {
    try await sql.query(
      "SELECT p.item FROM alert_deliveries AS a JOIN pushes AS p ON p.id = a.push ORDER BY p.starts_at"
    ).map { try $0.decode(0) }
  }

  @Test("The alert that has waited longest is fanned out first, and the time of the next push is known")
  func oldestFirst() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      #expect(try await store.nextFanOut(at: Self.start) == nil)
      for number in 1...3 {
        _ = try await store.create(UUID(number), Self.content, requestsAlert: true)
        // The silent push starts an hour later.
        _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start + Double(number) * 10)
      }
      #expect(try await store.nextFanOut(at: Self.start) == 10)
      #expect(try await store.nextFanOut(at: Self.start + 30) == 0)
      for number in 1...3 {
        #expect(try await store.fanOut(budget: 3, at: Self.start + 30))
        #expect(try await Self.owedAlerts(sql) == (1...number).map { UUID($0) })
      }
      #expect(try await !store.fanOut(budget: 3, at: Self.start + 30))
      #expect(try await store.nextFanOut(at: Self.start + 30) == 3580)
    }
  }

  @Test("A push whose devices another process looks for does not keep others waiting")
  func held() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      for number in 1...2 {
        _ = try await store.create(UUID(number), Self.content, requestsAlert: true)
        _ = try await store.collectOutbox(window: .seconds(3600), at: Self.start + Double(number))
      }
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM pushes WHERE kind = 'alert' AND item = \(UUID(1)) FOR UPDATE")
        #expect(try await store.fanOut(budget: 3, at: Self.start + 10))
        #expect(try await Self.owedAlerts(sql) == [UUID(2)])
        #expect(try await !store.fanOut(budget: 3, at: Self.start + 10))
      }
      #expect(try await store.fanOut(budget: 3, at: Self.start + 10))
      #expect(try await Self.owedAlerts(sql) == [UUID(1), UUID(2)])
    }
  }

  @Test("A device that follows several topics is woken until it has the newest version of all of them")
  func severalTopics() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("a", "b")
      var follower = DeviceRegistration.apns()
      follower.topics = ["a", "b"]
      let device = try await store.register(follower)
      try await sql.publish([UUID(1)], topics: ["a"])
      try await sql.publish([UUID(2)], topics: ["b"])
      let epoch = try await store.feedToken().epoch
      func report(_ version: Int) async throws {
        let token = SyncToken(epoch: epoch, scope: Scope(topics: ["a", "b"]), version: version)
        #expect(try await store.report(device.id, secret: device.secret, DeviceReport(token: token)))
      }
      try await report(1)
      try await store.wake()
      #expect(try await store.send().map(\.device) == [device.id])
      try await sql.publish([UUID(3)], topics: ["a"])
      try await report(3)
      try await store.wake(at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).isEmpty)
    }
  }

  @Test("The version of a push of an earlier epoch says nothing about a report of the present one")
  func earlierEpoch() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      try await sql.publish([UUID(1)])
      _ = try await store.collectOutbox(window: .seconds(1), at: Self.start)
      let epoch = try await store.cutEpoch()
      try await sql.publish([UUID(2)])
      let report = DeviceReport(token: SyncToken(epoch: epoch, scope: .feed, version: 1))
      #expect(try await store.report(device.id, secret: device.secret, report))
      #expect(try await store.fanOut(budget: 3, at: Self.start + 1))
      #expect(try await store.pushes(limit: 9).map(\.audience) == [1])
    }
  }

  @Test("A push that a change of a later epoch has joined does not wake a device that has reported this change")
  func laterEpoch() async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.apns())
      try await sql.publish([UUID(1)])
      _ = try await store.collectOutbox(window: .seconds(1), at: Self.start)
      let epoch = try await store.cutEpoch()
      try await sql.publish([UUID(2)])
      _ = try await store.collectOutbox(window: .seconds(1), at: Self.start)
      let report = DeviceReport(token: SyncToken(epoch: epoch, scope: .feed, version: 2))
      #expect(try await store.report(device.id, secret: device.secret, report))
      // The next change belongs to another push.
      try await sql.publish([UUID(3)])
      #expect(try await store.fanOut(budget: 3, at: Self.start + 1))
      #expect(try await store.pushes(limit: 9).map(\.audience) == [0])
    }
  }

  @Test("Alerts that meet quiet hours are counted over all batches, for the devices that want them alone")
  func quietCounts() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1500)
      // The pushes start at 03:33 UTC.
      _ = try await sql.query(
        "UPDATE devices SET quiet_from = 0, quiet_to = 600, alerts = address NOT IN ('1', '2', '3')")
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      let pushes = try await store.pushes(limit: 9)
      let alert = try #require(pushes.first { $0.kind == .alert })
      #expect(alert.audience == 1497 && alert.dropped == 1497)
      #expect(try await store.alert(of: UUID(1))?.isUnused == true)
      // A silent message waits for the end of quiet hours instead.
      let silent = try #require(pushes.first { $0.kind == .silent })
      #expect(silent.audience == 1500 && silent.dropped == 0)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 0)
    }
  }

  @Test(
    "A message waits for the end of quiet hours and of the hour of the budget, whichever is later",
    arguments: [(240, 3600.0), (600, 23_200.0)])
  func quietBudget(end: Int, due: Double) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.apns())
      try await sql.publish([UUID(1)])
      try await store.wake(budget: 1)
      #expect(try await store.send().count == 1)
      _ = try await sql.query("UPDATE devices SET quiet_from = 0, quiet_to = \(end)")
      try await sql.publish([UUID(2)])
      try await store.wake(budget: 1, at: Self.start + 1)
      #expect(try await store.nextDue(.apns, at: Self.start) == due)
    }
  }

  @Test("A retraction after an alert wakes the devices of its topics at once, an expiry waits like other changes")
  func takenDown() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      var (reader, other) = (DeviceRegistration.apns(1), DeviceRegistration.apns(2))
      (reader.topics, other.topics) = (["harbour"], ["sport"])
      let device = try await store.register(reader)
      try await store.register(other)
      var content = Self.content
      content.topics = ["harbour"]
      for number in 1...2 { _ = try await store.create(UUID(number), content, requestsAlert: true) }
      try await store.wake(window: .seconds(600))
      // The third one expires before its alert is made.
      _ = try await store.create(UUID(3), content, requestsAlert: true)
      for id in [UUID(1), UUID(3)] {
        try await sql.publish([id], after: "UPDATE items SET state = 'expired' WHERE id = \(id)")
      }
      try await store.wake(window: .seconds(600), at: Self.start + 1)
      #expect(try await store.alert(of: UUID(1))?.state == .cancelled)
      #expect(try await store.alert(of: UUID(2))?.state == .released)
      let cancelled = try await store.pushes(limit: 9).filter { $0.cancelled != nil }
      #expect(cancelled.map(\.item) == [UUID(1)])
      let third = try #require(try await store.alert(of: UUID(3)))
      #expect(third.state == .cancelled && third.push == nil)
      #expect(try await store.claim(at: Self.start + 1).isEmpty)
      try await store.retract(UUID(2), reason: nil, if: .exists)
      try await store.wake(window: .seconds(600), at: Self.start + 2)
      #expect(try await store.claim(at: Self.start + 2).map(\.device) == [device.id])
    }
  }
}
