import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The maximum number of devices, and the deletion of ended ones.
@Suite struct DeviceRoomTests {
  private static let start = Date.pushStart
  private static let lifetime = 90 * 86_400.0

  /// Registers a device with a limit for all, and one of 2 for pending ones at a host.
  @discardableResult
  private static func register(
    _ registration: DeviceRegistration, total: Int, in store: NewsStore
  ) async throws -> DeviceCredentials {
    let limits = DeviceLimits(total: total, perHost: 2)
    return try await store.registerDevice(registration, limits: limits, at: start).credentials
  }

  @Test("Deleted, replaced and moved devices make room at once")
  func deletions() async throws {
    try await NewsDatabase.withStore { store, _ in
      // The third one replaces the first one at its host.
      for number in 1...3 { try await Self.register(.webPush(number), total: 3, in: store) }
      let device = try await Self.register(.fcm(1), total: 3, in: store)
      await #expect(throws: DeviceError.tooManyDevices) { try await Self.register(.fcm(2), total: 3, in: store) }
      // The pending ones have not returned their codes.
      try await store.purgeDevices(at: Self.start + 3600)
      for number in 2...3 { try await Self.register(.fcm(number), total: 3, in: store) }
      await #expect(throws: DeviceError.tooManyDevices) { try await Self.register(.fcm(4), total: 3, in: store) }
      #expect(try await store.updateDevice(device.id, secret: device.secret, .fcm(2), limits: .none) != nil)
      try await Self.register(.fcm(4), total: 3, in: store)
    }
  }

  @Test("A device that moves to a full host makes room for another one by the device that it replaces")
  func moves() async throws {
    try await NewsDatabase.withStore { store, _ in
      for number in 1...2 { try await Self.register(.webPush(number), total: 4, in: store) }
      let device = try await Self.register(.fcm(1), total: 4, in: store)
      try await Self.register(.fcm(2), total: 4, in: store)
      let limits = DeviceLimits(total: 4, perHost: 2)
      let moved = try await store.updateDevice(
        device.id, secret: device.secret, .webPush(3), limits: limits, at: Self.start)
      #expect(moved != nil)
      try await Self.register(.fcm(3), total: 4, in: store)
    }
  }

  @Test("A known address that registers again takes no room")
  func renewals() async throws {
    try await NewsDatabase.withStore { store, _ in
      for _ in 0..<2 { try await Self.register(.fcm(1), total: 2, in: store) }
      try await Self.register(.fcm(2), total: 2, in: store)
    }
  }

  @Test("Room that another process has made is found within seconds")
  func otherProcess() async throws {
    try await withTwoStores { first, second, _ in
      let device = try await Self.register(.fcm(1), total: 1, in: first)
      for store in [first, second] {
        await #expect(throws: DeviceError.tooManyDevices) { try await Self.register(.fcm(2), total: 1, in: store) }
      }
      #expect(try await second.removeDevice(device.id, secret: device.secret))
      try await eventually("there is room") {
        do {
          try await Self.register(.fcm(2), total: 1, in: first)
          return true
        } catch DeviceError.tooManyDevices {
          return false
        }
      }
    }
  }

  @Test("All devices that have ended are deleted at once, but those that others have locked")
  func manyEnded() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeDevices(2100)
      try await sql.transaction { transaction in
        _ = try await transaction.query("SELECT FROM devices WHERE address = '7' FOR UPDATE")
        try await store.purgeDevices(at: Self.start + Self.lifetime)
        #expect(try await sql.value("SELECT array_agg(address) FROM devices", as: [String].self) == ["7"])
      }
      try await store.purgeDevices(at: Self.start + Self.lifetime)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 0)
    }
  }

  @Test(
    "A deletion of ended devices that fails is in the log, unless the database cannot be used at all",
    arguments: [("22000", true), ("53200", false)])
  func failedDeletion(state: String, isLogged: Bool) async throws {
    try await NewsDatabase.with { url in
      let (log, configuration) = (RecordingLog(), PostgresConfiguration.forBusyMachine(url))
      let store = NewsStore(connection: configuration, pool: .forBusyMachine, logger: log.logger)
      let sql = PostgresPool(configuration: configuration, pool: .forBusyMachine, logger: NewsDatabase.logger)
      try await withResource(sql, release: { await $0.shutdown() }) { sql in
        _ = try await sql.query("CREATE SEQUENCE failures")
        _ = try await sql.query(
          """
          CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            PERFORM nextval('failures');
            RAISE EXCEPTION USING MESSAGE = 'no', ERRCODE = '\(unsafeSQL: state)';
          END $$
          """)
        _ = try await sql.query("CREATE TRIGGER fail BEFORE DELETE ON pushes EXECUTE FUNCTION fail()")
        try await withResource(store, release: { await $0.shutdown() }) { store in
          let running = Task { await store.keepSchedule() }
          let stop: @Sendable (Task<Void, Never>) async -> Void = { running in
            running.cancel()
            await running.value
          }
          func isInLog() -> Bool { log.text.contains("warning old devices were not purged") }
          try await withResource(running, release: stop) { _ in
            try await eventually("the deletion has failed") {
              if isLogged { return isInLog() }
              return try await sql.value("SELECT is_called FROM failures")
            }
          }
          #expect(isInLog() == isLogged)
        }
      }
    }
  }

  @Test("A device has an hour for its code since its last registration")
  func pendingAgain() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.webPush(1))
      try await store.register(.webPush(1), at: Self.start + 100)
      try await store.purgeDevices(at: Self.start + 3699)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1)
      try await store.purgeDevices(at: Self.start + 3700)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 0)
    }
  }

  @Test("A registration with other values replaces all of them")
  func allValues() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      var phone = DeviceRegistration.apns(1)
      (phone.environment, phone.topics, phone.languages, phone.alerts) = (.sandbox, ["harbour"], ["de"], true)
      (phone.timeZone, phone.quiet) = ("Europe/Berlin", QuietHours(from: 60, to: 120))
      var receiver = DeviceRegistration.webPush(1, .unifiedpush, key: 2)
      (receiver.topics, receiver.languages) = (["sport"], ["en"])
      (receiver.timeZone, receiver.quiet) = ("Europe/Vienna", QuietHours(from: 180, to: 240))
      let device = try await store.register(phone)
      for registration in [receiver, .webPush(1, .browser, host: "other.example", key: 3), .fcm(), phone] {
        let updated = try await store.updateDevice(
          device.id, secret: device.secret, registration, limits: .none, at: Self.start)
        #expect(updated != nil)
        let read = try #require(try await store.device(device.id))
        #expect(read.registration == registration && read.isPending == (registration.provider == .webpush))
        let host: String? = try await sql.value("SELECT host FROM devices")
        #expect(host == registration.subscription.flatMap { URL(string: $0.endpoint)?.host() })
      }
      // The same address with other values.
      phone.alerts = false
      (phone.topics, phone.languages, phone.timeZone, phone.quiet) = (nil, nil, nil, nil)
      #expect(try await store.register(phone, at: Self.start + 1).id == device.id)
      #expect(try await store.device(device.id)?.registration == phone)
    }
  }
}
