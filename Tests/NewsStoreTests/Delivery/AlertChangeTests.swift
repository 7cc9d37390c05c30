import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Alerts whose items, devices or requests change before they are sent.
@Suite struct AlertChangeTests {
  private static let start = Date.pushStart
  private static let content = ItemContent(
    state: .published, date: .newYear, text: "The ferry is back.", title: "Ferry")

  /// A change of a device after the fan-out of an alert.
  enum DeviceChange: CaseIterable, Sendable {
    case none, alertsOff, quietHours, expiry, pending
  }

  @Test(
    "An alert that waits is dropped if its device does not want it any more, has quiet hours, or is active no more",
    arguments: DeviceChange.allCases)
  func judgedAgain(change: DeviceChange) async throws {
    try await NewsDatabase.withStore { store, sql in
      var wanted = DeviceRegistration.apns()
      wanted.alerts = true
      let device = try await store.register(wanted)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake()
      switch change {
      case .none: break
      case .alertsOff: wanted.alerts = false
      case .quietHours: wanted.quiet = QuietHours(from: 0, to: 1439)
      case .expiry: _ = try await sql.query("UPDATE devices SET expires_at = \(Self.start)")
      case .pending: _ = try await sql.query("UPDATE devices SET state = 'pending'")
      }
      if change != .expiry, change != .pending {
        _ = try await store.updateDevice(device.id, secret: device.secret, wanted, limits: .none, at: Self.start)
      }
      let isSent = change == .none
      #expect(try await store.claim().count { $0.kind == .alert } == (isSent ? 1 : 0))
      let push = try #require(try await store.pushes(limit: 9).first { $0.kind == .alert })
      #expect(push.audience == 1 && push.dropped == (isSent ? 0 : 1))
    }
  }

  @Test("A retraction of an item that had no alert waits for the window like any change")
  func quietRetraction() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content)
      try await store.wake()
      try await store.retract(UUID(1), reason: nil, if: .exists)
      try await store.wake(window: .seconds(60), at: Self.start + 1)
      #expect(try await sql.pushKinds() == ["silent", "silent"])
    }
  }

  @Test("An alert for an item that is published already wakes no device without one")
  func alertOnly() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content)
      try await store.wake()
      #expect(try await store.requestAlert(item: UUID(1)).isNew)
      try await store.wake(at: Self.start + 1)
      #expect(try await sql.pushKinds().sorted() == ["alert", "silent"])
    }
  }

  @Test("A request whose item is retracted before its alert is made is cancelled")
  func retractedEarly() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.retract(UUID(1), reason: nil, if: .exists)
      try await store.wake()
      #expect(try await store.alert(of: UUID(1))?.state == .cancelled)
      #expect(try await sql.value("SELECT count(*) FROM pushes WHERE kind = 'alert'") == 0)
    }
  }

  @Test("An alert for an item that is withdrawn to a draft is cancelled, and its devices are woken at once")
  func withdrawn() async throws {
    try await NewsDatabase.withStore { store, _ in
      var wanted = DeviceRegistration.apns()
      wanted.alerts = true
      let device = try await store.register(wanted)
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake(window: .seconds(600))
      _ = try await store.write(UUID(1), if: .exists, StateChange(state: .draft)) { _ in Self.content }
      try await store.wake(window: .seconds(600), at: Self.start + 1)
      #expect(try await store.alert(of: UUID(1))?.state == .cancelled)
      let messages = try await store.claim(at: Self.start + 1)
      #expect(messages.map(\.kind) == [.silent] && messages.map(\.device) == [device.id])
    }
  }

  @Test("An alert that was cancelled before any device got it is used up")
  func cancelledUnused() async throws {
    try await NewsDatabase.withStore { store, _ in
      try await store.registerListener()
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      _ = try await store.collectOutbox(window: .zero, at: Self.start)
      try await store.retract(UUID(1), reason: nil, if: .exists)
      try await store.wake(at: Self.start + 1)
      let cancelled = try #require(try await store.alert(of: UUID(1)))
      #expect(cancelled.state == .cancelled && !cancelled.isUnused)
    }
  }

  @Test("A retraction wakes a device that has reported an earlier version, and none that has reported its own")
  func reportedRetraction() async throws {
    try await NewsDatabase.withStore { store, _ in
      let devices = try await [store.register(.apns(1)), store.register(.apns(2))]
      func report(_ device: DeviceCredentials) async throws {
        let report = DeviceReport(token: try await store.feedToken())
        #expect(try await store.report(device.id, secret: device.secret, report))
      }
      _ = try await store.create(UUID(1), Self.content, requestsAlert: true)
      try await store.wake(window: .seconds(600))
      for device in devices { try await report(device) }
      try await store.retract(UUID(1), reason: nil, if: .exists)
      try await report(devices[1])
      try await store.wake(window: .seconds(600), at: Self.start + 1)
      #expect(try await store.claim(at: Self.start + 1).map(\.device) == [devices[0].id])
    }
  }

  @Test("A request during a retraction waits for it, and is refused then")
  func retractedMeanwhile() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.create(UUID(1), Self.content)
      let request = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE items SET state = 'retracted' WHERE id = \(UUID(1))")
        try await transaction.publish([UUID(1)])
        let request = Task { try await store.requestAlert(item: UUID(1)) }
        try await eventually("it waits for the item") {
          try await sql.value(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 1
        }
        return request
      }
      await #expect(throws: StoreError.retracted(reason: .retracted, detail: nil)) { try await request.value }
      #expect(try await store.alert(of: UUID(1)) == nil)
    }
  }

  @Test("An item without a language concerns the devices of all languages")
  func noLanguage() async throws {
    try await NewsDatabase.withStore { store, _ in
      var wanted = DeviceRegistration.apns()
      (wanted.alerts, wanted.languages) = (true, ["de"])
      try await store.register(wanted)
      _ = try await store.create(UUID(1), Self.content)
      #expect(try await store.alertAudience(of: UUID(1), at: Self.start).devices == 1)
    }
  }

  @Test("An alert without a title has the beginning of its text as the title, which is as short")
  func untitled() async throws {
    try await NewsDatabase.withStore { store, _ in
      let text = String(repeating: "ferry ", count: 60)
      _ = try await store.create(UUID(1), ItemContent(state: .published, date: .newYear, text: text))
      let alert = try #require(try await store.alertContent(of: UUID(1)))
      #expect(alert == PushAlert(title: String(text.prefix(200)), body: ""))
      // Blanks are no title, and none surround one.
      for (number, title) in [(2, " \n"), (3, "\n Ferry ")] {
        _ = try await store.create(
          UUID(number), ItemContent(state: .published, date: .newYear, text: " back ", title: title))
      }
      #expect(try await store.alertContent(of: UUID(2)) == PushAlert(title: "back", body: ""))
      #expect(try await store.alertContent(of: UUID(3)) == PushAlert(title: "Ferry", body: "back"))
    }
  }
}
