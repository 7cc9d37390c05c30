import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The registration of devices.
@Suite struct DeviceTests {
  private static let start = Date.pushStart
  private static let lifetime = 90 * 86_400.0

  @Test("A registration is stored as it was sent, in order, for 90 days")
  func registration() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour", "sport")
      var wanted = DeviceRegistration.apns(7)
      wanted.environment = .sandbox
      wanted.topics = ["sport", "harbour", "sport"]
      wanted.languages = ["EN", "de-AT"]
      wanted.alerts = true
      wanted.timeZone = "Europe/Berlin"
      wanted.quiet = QuietHours(from: 1320, to: 420)
      let (credentials, isNew) = try await store.registerDevice(wanted, limits: .none, at: Self.start)
      #expect(isNew && credentials.secret.utf8.count == 43 && credentials.expires == Self.start + Self.lifetime)
      let device = try #require(try await store.device(credentials.id))
      wanted.topics = ["harbour", "sport"]
      wanted.languages = ["de-at", "en"]
      #expect(device.registration == wanted && !device.isPending)
      #expect(device.createdAt == Self.start && device.registeredAt == Self.start)
      #expect(device.lastReport == nil && device.tokenError == nil)
      let stored: Int = try await sql.value(
        "SELECT count(*) FROM devices WHERE secret_digest = sha256(\(credentials.secret)::bytea)")
      #expect(stored == 1)
    }
  }

  @Test("A known address keeps its id, gets a new secret, and voids the old one")
  func knownAddress() async throws {
    try await NewsDatabase.withStore { store, sql in
      let first = try await store.register(.fcm())
      let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
      #expect(try await store.report(first.id, secret: first.secret, report, at: Self.start))
      var wanted = DeviceRegistration.fcm()
      wanted.alerts = true
      let (second, isNew) = try await store.registerDevice(wanted, limits: .none, at: Self.start + 100)
      #expect(!isNew && second.id == first.id && second.secret != first.secret)
      #expect(second.expires == Self.start + 100 + Self.lifetime)
      let device = try #require(try await store.device(first.id))
      // The app may have been installed again, with nothing in its store.
      #expect(device.registration.alerts && device.lastReport == nil && device.createdAt == Self.start)
      #expect(try await !store.removeDevice(first.id, secret: first.secret))
      #expect(try await store.removeDevice(first.id, secret: second.secret))
      #expect(try await sql.value("SELECT count(*) FROM devices") == 0)
    }
  }

  @Test("Equal tokens of two apps, or of two environments, are two addresses")
  func apps() async throws {
    try await NewsDatabase.withStore { store, sql in
      var other = DeviceRegistration.apns()
      let first = try await store.register(other)
      other.app = "example.other"
      try await store.register(other)
      other.environment = .sandbox
      try await store.register(other)
      other.environment = .production
      other.app = "example.reader"
      // The environment of a registration without one.
      #expect(try await store.register(other).id == first.id)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 3)
    }
  }

  @Test("A device token is one address in capital and small letters")
  func capitals() async throws {
    try await NewsDatabase.withStore { store, _ in
      var registration = DeviceRegistration.apns(0xABC)
      let first = try await store.register(registration)
      registration.token = registration.token?.uppercased()
      #expect(try await store.register(registration).id == first.id)
    }
  }

  @Test("What a device is owed follows it to another push service")
  func otherService() async throws {
    try await NewsDatabase.withStore { store, _ in
      var wanted = DeviceRegistration.apns()
      wanted.alerts = true
      let device = try await store.register(wanted)
      try await store.registerListener(9)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      wanted = .fcm()
      wanted.alerts = true
      _ = try await store.updateDevice(device.id, secret: device.secret, wanted, limits: .none, at: Self.start)
      let others = try await store.claim(.apns)
      #expect(others.map(\.kind) == [.alert, .silent] && others.allSatisfy { $0.device != device.id })
      #expect(try await store.claim(.fcm).map(\.kind) == [.alert, .silent])
    }
  }

  @Test("A new address that has not returned a code gets nothing that its device was owed")
  func otherAddress() async throws {
    try await NewsDatabase.withStore { store, sql in
      var wanted = DeviceRegistration.webPush(1)
      wanted.alerts = true
      let device = try await store.registerConfirmed(wanted)
      try await store.registerListener(9)
      _ = try await store.create(
        UUID(1), ItemContent(state: .published, date: .newYear, text: "x"), requestsAlert: true)
      try await store.wake()
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 2)
      wanted = .webPush(2)
      wanted.alerts = true
      _ = try await store.updateDevice(device.id, secret: device.secret, wanted, limits: .none, at: Self.start)
      #expect(try await sql.value("SELECT count(*) FROM alert_deliveries") == 1)
      let messages = try await store.claim(.webpush, at: Self.start + 7200)
      #expect(messages.count == 1 && messages.first?.content.code != nil)
    }
  }

  @Test(
    "A request whose secret is replaced meanwhile, by another process, has no effect",
    arguments: ["update", "removal", "confirmation", "report"])
  func replacedSecret(request: String) async throws {
    try await NewsDatabase.withStore { store, sql in
      let device = try await store.register(.webPush(1))
      let code = try #require(try await store.claim(.webpush).first?.content.code)
      let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
      let answer = try await sql.transaction { transaction in
        _ = try await transaction.query("UPDATE devices SET secret_digest = sha256('other')")
        let answer = Task {
          switch request {
          case "update":
            try await store.updateDevice(device.id, secret: device.secret, .webPush(2), limits: .none) != nil
          case "removal": try await store.removeDevice(device.id, secret: device.secret)
          case "confirmation": try await store.confirmDevice(device.id, secret: device.secret, code: code) == true
          default: try await store.report(device.id, secret: device.secret, report)
          }
        }
        try await eventually("it waits for the device") {
          try await sql.value(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 1
        }
        return answer
      }
      #expect(try await !answer.value)
      let read = try #require(try await store.device(device.id))
      #expect(read.isPending && read.lastReport == nil)
      #expect(read.registration.subscription?.endpoint == DeviceRegistration.webPush(1).subscription?.endpoint)
    }
  }

  @Test("All spellings of one endpoint are one device, and those of another one are not")
  func spellings() async throws {
    try await NewsDatabase.withStore { store, sql in
      func register(_ endpoint: String) async throws -> UUID {
        var registration = DeviceRegistration.webPush()
        registration.subscription?.endpoint = endpoint
        return try await store.register(registration).id
      }
      let first = try await register("https://push.example/a~b/c%2Fd?x=%C3%A4")
      for spelling in [
        "https://push.example:443/a~b/c%2Fd?x=%C3%A4", "https://push.example:/a~b/c%2Fd?x=%C3%A4",
        "HTTPS://Push.EXAMPLE/a~b/c%2Fd?x=%C3%A4", "https://push.example./a~b/c%2Fd?x=%C3%A4",
        "https://push.example/%61%7Eb/c%2fd?x=%c3%A4", "https://push.example/./z/../a~b/c%2Fd?x=%C3%A4",
      ] {
        #expect(try await register(spelling) == first, "\(spelling)")
      }
      #expect(try await register("https://push.example") == register("https://push.example:443/"))
      let others = try await [
        register("https://push.example/A~b/c%2Fd?x=%C3%A4"), register("https://push.example/a~b/c/d?x=%C3%A4"),
        register("https://push.example:8443/a~b/c%2Fd?x=%C3%A4"), register("https://push.example/a~b/c%2Fd?x=%25C3%A4"),
        register("https://push.example/a~b/c%2Fd?x=%C3%A4&"), register("https://push.example/a~b//c%2Fd?x=%C3%A4"),
      ]
      #expect(Set(others).count == others.count && !others.contains(first))
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE host <> 'push.example'") == 0)
      #expect(
        try await sql.value("SELECT count(*) FROM devices WHERE address = 'https://push.example/a~b/c%2Fd?x=%C3%A4'")
          == 1)
    }
  }

  @Test("An update renews a registration, and needs the secret")
  func update() async throws {
    try await NewsDatabase.withStore { store, _ in
      let device = try await store.register(.apns())
      let secret = String(device.secret.reversed())
      let report = DeviceReport(token: SyncToken(epoch: "k3x9qa", scope: .feed, version: 3))
      #expect(try await store.report(device.id, secret: device.secret, report, at: Self.start))
      for (id, secret) in [(device.id, secret), (UUID(), device.secret), (device.id, ""), (device.id, "\0")] {
        #expect(try await store.updateDevice(id, secret: secret, .apns(), limits: .none) == nil)
        #expect(try await !store.removeDevice(id, secret: secret))
        #expect(try await !store.report(id, secret: secret, report))
      }
      var wanted = DeviceRegistration.apns(1)
      wanted.alerts = true
      let renewed = try await store.updateDevice(
        device.id, secret: device.secret, wanted, limits: .none, at: Self.start + 50)
      #expect(
        renewed
          == DeviceCredentials(id: device.id, secret: device.secret, expires: Self.start + 50 + Self.lifetime))
      let read = try #require(try await store.device(device.id))
      #expect(
        read.registration.token == wanted.token && read.registration.alerts && read.registeredAt == Self.start + 50)
      // The store of the app is the same.
      #expect(read.lastReport?.version == 3)
    }
  }

  @Test("An update to the address of another device replaces that one")
  func takenAddress() async throws {
    try await NewsDatabase.withStore { store, sql in
      let (old, new) = (try await store.register(.apns(1)), try await store.register(.apns(2)))
      #expect(try await store.updateDevice(new.id, secret: new.secret, .apns(1), limits: .none) != nil)
      #expect(try await store.device(old.id) == nil)
      #expect(try await store.device(new.id)?.registration.token == DeviceRegistration.apns(1).token)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1)
    }
  }

  @Test("Registrations and updates of one address at the same time leave one device with it")
  func concurrentAddress() async throws {
    try await withTwoStores { first, second, sql in
      let devices = try await [first.register(.fcm(1)), second.register(.fcm(2))]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          let store = number.isMultiple(of: 2) ? first : second
          group.addTask { try await store.register(.fcm(3)) }
          let device = devices[number % 2]
          group.addTask {
            _ = try await store.updateDevice(device.id, secret: device.secret, .fcm(3), limits: .none)
          }
        }
        try await group.waitForAll()
      }
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE address = 'token-3'") == 1)
    }
  }

  @Test("Too many devices are refused; known addresses are not")
  func limits() async throws {
    try await NewsDatabase.withStore { store, _ in
      let limits = DeviceLimits(total: 2, perHost: 2)
      func register(_ registration: DeviceRegistration) async throws -> DeviceCredentials {
        try await store.registerDevice(registration, limits: limits, at: Self.start).credentials
      }
      _ = try await register(.webPush(1))
      let last = try await register(.fcm(1))
      await #expect(throws: DeviceError.tooManyDevices) { try await register(.fcm(2)) }
      _ = try await register(.fcm(1))
      #expect(try await !store.removeDevice(last.id, secret: last.secret))
    }
  }

  @Test("A removed device makes room for another one")
  func room() async throws {
    try await NewsDatabase.withStore { store, _ in
      let limits = DeviceLimits(total: 1, perHost: 1)
      let device = try await store.registerDevice(.fcm(1), limits: limits).credentials
      await #expect(throws: DeviceError.tooManyDevices) { try await store.registerDevice(.fcm(2), limits: limits) }
      #expect(try await store.removeDevice(device.id, secret: device.secret))
      #expect(try await store.registerDevice(.fcm(2), limits: limits).isNew)
    }
  }

  @Test("Expired devices, and those that have not returned their code within an hour, are deleted")
  func purge() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await store.register(.fcm(1))
      try await store.register(.fcm(2), at: Self.start + 10)
      try await store.register(.webPush(1))
      try await store.purgeDevices(at: Self.start + 3599)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 3)
      try await store.purgeDevices(at: Self.start + 3600)
      #expect(try await sql.value("SELECT count(*) FROM devices WHERE provider = 'fcm'") == 2)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 2)
      #expect(try await sql.value("SELECT count(*) FROM deliveries") == 0)
      try await store.purgeDevices(at: Self.start + Self.lifetime)
      #expect(try await sql.value("SELECT count(*) FROM devices") == 1)
    }
  }

  // MARK: Rules

  private static func changed(_ change: (inout DeviceRegistration) -> Void) -> DeviceRegistration {
    var registration = DeviceRegistration.apns()
    change(&registration)
    return registration
  }

  private static let invalid: [(field: String, DeviceRegistration)] = [
    ("kind", changed { $0.kind = .browser }),
    ("token", changed { $0.token = nil }),
    ("token", changed { $0.token = "xyz" }),
    ("token", changed { $0.token?.removeLast() }),
    ("app", changed { $0.app = nil }),
    ("app", changed { $0.app = "a/b" }),
    ("subscription", changed { $0.subscription = DeviceRegistration.webPush().subscription }),
    ("topics", changed { $0.topics = [] }),
    ("topics", changed { $0.topics = ["Sport"] }),
    ("languages", changed { $0.languages = [] }),
    ("languages", changed { $0.languages = ["de_AT"] }),
    ("quiet", changed { $0.quiet = QuietHours(from: 60, to: 60) }),
    ("quiet", changed { $0.quiet = QuietHours(from: 60, to: 1440) }),
    ("timeZone", changed { $0.timeZone = "Europe/Atlantis" }),
    ("timeZone", changed { $0.timeZone = "XYZ+3" }),
    ("timeZone", changed { $0.timeZone = "posix/Europe/Berlin" }),
    ("timeZone", changed { $0.timeZone = "posixrules" }),
    ("timeZone", changed { $0.timeZone = "localtime" }),
    ("timeZone", changed { $0.timeZone = "Factory" }),
    ("timeZone", changed { $0.timeZone = "europe/berlin" }),
    (
      "environment",
      {
        var fcm = DeviceRegistration.fcm()
        fcm.environment = .sandbox
        return fcm
      }()
    ),
    ("token", DeviceRegistration(provider: .fcm, token: "a b")),
    ("app", DeviceRegistration(provider: .fcm, token: "a", app: "example.reader")),
    ("kind", DeviceRegistration.webPush(0, .app)),
    ("subscription", DeviceRegistration(provider: .webpush, kind: .browser)),
    ("subscription.endpoint", DeviceRegistration.webPush(host: "user@push.example")),
    ("subscription.endpoint", DeviceRegistration.webPush(host: "")),
    ("subscription.endpoint", DeviceRegistration.webPush(host: "push.example:99999")),
    ("subscription.endpoint", DeviceRegistration.webPush(host: "push.example:18446744073709551616")),
    (
      "subscription.endpoint",
      DeviceRegistration(
        provider: .webpush, kind: .browser,
        subscription: WebPushSubscription(
          endpoint: "http://push.example/a", keys: DeviceRegistration.webPush().subscription!.keys))
    ),
    (
      "subscription.keys.p256dh",
      DeviceRegistration(
        provider: .webpush, kind: .browser,
        subscription: WebPushSubscription(
          endpoint: "https://push.example/a",
          keys: .init(p256dh: "AAAA", auth: DeviceRegistration.webPush().subscription!.keys.auth)))
    ),
    (
      // It has the form of a point, but is not on the curve.
      "subscription.keys.p256dh",
      DeviceRegistration(
        provider: .webpush, kind: .browser,
        subscription: WebPushSubscription(
          endpoint: "https://push.example/a",
          keys: .init(
            p256dh: String(base64URL: [4] + [UInt8](repeating: 1, count: 64)),
            auth: DeviceRegistration.webPush().subscription!.keys.auth)))
    ),
    (
      "subscription.keys.auth",
      DeviceRegistration(
        provider: .webpush, kind: .browser,
        subscription: WebPushSubscription(
          endpoint: "https://push.example/a",
          keys: .init(p256dh: DeviceRegistration.webPush().subscription!.keys.p256dh, auth: "AAAA")))
    ),
  ]

  @Test("A registration that violates a rule is refused with the field, and nothing is stored")
  func rules() async throws {
    try await NewsDatabase.withStore { store, sql in
      for (field, registration) in Self.invalid {
        do {
          _ = try await store.register(registration)
          Issue.record("\(field) was accepted")
        } catch StoreError.invalidFields(let errors) {
          #expect(errors.map(\.field) == [field])
        }
      }
      #expect(try await sql.value("SELECT count(*) FROM devices") == 0)
    }
  }

  @Test("Topics that do not exist are named")
  func unknownTopics() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("harbour")
      await #expect(throws: StoreError.unknownTopics(["sport", "weather"])) {
        try await store.register(Self.changed { $0.topics = ["weather", "harbour", "sport"] })
      }
    }
  }
}
