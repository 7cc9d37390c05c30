import Foundation
import News
import NewsStore
import PostgresClient
import TestSupport
import Testing

/// Alerts that nobody gets.
@Suite struct UnusedAlertTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(state: .published, date: .newYear, text: "The ferry is back.")

  @Test("A refused write requests no alert for the item that exists")
  func refusedWrite() async throws {
    try await NewsDatabase.withStore { store, sql in
      let content = ItemContent(state: .published, date: .newYear, text: "x")
      _ = try await store.create(UUID(1), content)
      await #expect(throws: StoreError.self) {
        try await store.create(UUID(1), ItemContent(state: .draft, date: .newYear, text: "y"), requestsAlert: true)
      }
      await #expect(throws: StoreError.self) {
        try await store.write(UUID(1), if: .exists, requestsAlert: true) { _ in
          ItemContent(state: .published, date: .newYear, text: "y", topics: ["unknown"])
        }
      }
      #expect(try await sql.value("SELECT count(*) FROM item_alerts") == 0)
    }
  }

  @Test("An alert that no device gets is not used up, also if all are in their quiet hours")
  func unused() async throws {
    try await NewsDatabase.withStore { store, sql in
      // The pushes start at 03:33 UTC.
      try await store.registerListener(1, quiet: QuietHours(from: 0, to: 600))
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'alert'") == 1)
      #expect(try await store.alert(of: UUID(1))?.isUnused == true)
      // At present the device sleeps too, so that a repetition has no effect.
      _ = try await sql.query(
        """
        UPDATE devices SET quiet_from = (n.minute + 1080) % 1440, quiet_to = (n.minute + 360) % 1440
        FROM (SELECT extract(epoch FROM clock_timestamp())::bigint / 60 % 1440 AS minute) AS n
        """)
      #expect(try await !store.requestAlert(item: UUID(1)).isNew)
      _ = try await sql.query("UPDATE devices SET alerts = false")
      // A repetition has no effect as long as there is nobody to alert.
      #expect(try await store.requestAlert(item: UUID(1)).state == .released)
      try await store.registerListener(2)
      #expect(try await store.requestAlert(item: UUID(1)).isNew)
      try await store.wake(at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).count { $0.content.alert != nil } == 1)
      let made = try #require(try await store.alert(of: UUID(1)))
      #expect(made.state == .released && !made.isUnused)
      #expect(try await store.requestAlert(item: UUID(1)) == made)
    }
  }

  @Test("Breaking news that reached nobody is repeated for a device in its quiet hours, in the name of the last editor")
  func breaking() async throws {
    try await NewsDatabase.withStore { store, sql in
      var content = Self.content
      content.breaking = true
      _ = try await store.create(UUID(1), content, by: .key("a"), requestsAlert: true)
      try await store.wake()
      #expect(try await store.alert(of: UUID(1))?.isUnused == true)
      try await store.registerListener(1, quiet: QuietHours(from: 0, to: 1439))
      let request = try await store.requestAlert(item: UUID(1), by: .key("b"))
      #expect(request.isNew && request.state == .waiting && request.push == nil)
      #expect(try await sql.value("SELECT editor FROM item_alerts") == "key:b")
      try await store.wake(at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).count { $0.kind == .alert } == 1)
    }
  }

  @Test("An alert whose devices are not found yet is not repeated")
  func underWay() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      while try await store.collectOutbox(window: .zero, at: Self.start) {}
      let made = try #require(try await store.alert(of: UUID(1)))
      #expect(made.state == .released && !made.isUnused)
      #expect(try await store.requestAlert(item: UUID(1)) == made)
      try await store.wake(at: Self.start + 1)
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'alert'") == 1)
    }
  }

  @Test("An alert whose only device is in an earlier batch than the last one is used up")
  func firstBatch() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(1001)
      _ = try await sql.query("UPDATE devices SET alerts = id = (SELECT min(id::text)::uuid FROM devices)")
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 1)
      #expect(try await store.alert(of: UUID(1))?.isUnused == false)
    }
  }

  @Test("An alert that reached nobody is not repeated for devices of other topics or languages")
  func otherTopics() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      var listener = DeviceRegistration.apns()
      (listener.alerts, listener.topics) = (true, ["sport"])
      try await store.register(listener)
      for (number, topic) in [(1, "harbour"), (2, "sport")] {
        var content = Self.content
        (content.topics, content.language) = ([topic], "en")
        _ = try await store.create(UUID(number), content, requestsAlert: true)
      }
      try await store.wake()
      #expect(try await store.alert(of: UUID(2))?.isUnused == false)
      #expect(try await store.alert(of: UUID(1))?.isUnused == true)
      #expect(try await !store.requestAlert(item: UUID(1)).isNew)
      var reader = DeviceRegistration.apns(1)
      (reader.alerts, reader.topics, reader.languages) = (true, ["harbour"], ["de"])
      try await store.register(reader)
      #expect(try await !store.requestAlert(item: UUID(1)).isNew)
    }
  }
}
