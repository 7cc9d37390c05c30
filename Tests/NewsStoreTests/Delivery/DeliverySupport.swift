import Crypto
import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport

extension Date {
  /// The time at which deliveries begin in tests: 2033-05-18 03:33:20 UTC.
  static let pushStart = Date(timeIntervalSince1970: 2_000_000_000)
}

extension DeviceLimits {
  static let none = DeviceLimits(total: 1_000_000, perHost: 1_000_000)
}

extension DeviceRegistration {
  /// The registration of an app on an Apple device with a token of its own.
  static func apns(_ number: Int = 0) -> DeviceRegistration {
    let digits = String(number, radix: 16)
    let token = String(repeating: "0", count: 64 - digits.count) + digits
    return DeviceRegistration(provider: .apns, token: token, app: "example.reader")
  }

  static func fcm(_ number: Int = 0) -> DeviceRegistration {
    DeviceRegistration(provider: .fcm, token: "token-\(number)")
  }

  static func webPush(
    _ number: Int = 0, _ kind: DeviceKind = .browser, host: String = "push.example", key: UInt8 = 1
  ) -> DeviceRegistration {
    DeviceRegistration(
      provider: .webpush, kind: kind,
      subscription: WebPushSubscription(
        endpoint: "https://\(host)/\(number)",
        keys: .init(
          p256dh: String(base64URL: point(key)), auth: String(base64URL: [UInt8](repeating: key, count: 16)))))
  }

  /// The public key that belongs to a private key of 32 equal bytes, as an uncompressed point.
  static func point(_ byte: UInt8) -> [UInt8] {
    let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: byte, count: 32))
    return key.map { Array($0.publicKey.x963Representation) } ?? []
  }
}

extension NewsStore {
  /// Registers a device without limits.
  @discardableResult
  func register(_ registration: DeviceRegistration, at now: Date = .pushStart) async throws -> DeviceCredentials {
    try await registerDevice(registration, limits: .none, at: now).credentials
  }

  /// Registers a device of APNs that wants alerts.
  func registerListener(_ number: Int = 0, quiet: QuietHours? = nil) async throws {
    var registration = DeviceRegistration.apns(number)
    (registration.alerts, registration.quiet) = (true, quiet)
    try await register(registration)
  }

  /// Registers a device of Web Push, and returns its code.
  func registerConfirmed(
    _ registration: DeviceRegistration, at now: Date = .pushStart
  ) async throws -> DeviceCredentials {
    let device = try await register(registration, at: now)
    let messages = try await claim(.webpush, at: now)
    guard let message = messages.first(where: { $0.device == device.id }), let code = message.content.code else {
      throw Unexpected(description: "the device got no code")
    }
    try await recordOutcomes([PushOutcome(message: message, result: .sent)], at: now)
    guard try await confirmDevice(device.id, secret: device.secret, code: code) == true else {
      throw Unexpected(description: "the code was refused")
    }
    return device
  }

  /// Reads the outbox, and fans out all pushes that have started.
  func wake(window: Duration = .zero, budget: Int = 3, at now: Date = .pushStart) async throws {
    while try await collectOutbox(window: window, at: now) {}
    while try await fanOut(budget: budget, at: now) {}
  }

  func claim(
    _ provider: PushProvider = .apns, limit: Int = 1000, lease: Duration = .seconds(60), at now: Date = .pushStart
  ) async throws -> [PushMessage] {
    try await leaseMessages(provider, limit: limit, for: lease, reportRate: 0, at: now)
  }

  /// Claims all messages of a provider that are due, and records an outcome for each.
  @discardableResult
  func send(
    _ provider: PushProvider = .apns, _ result: PushOutcome.Result = .sent, at now: Date = .pushStart
  ) async throws -> [PushMessage] {
    let messages = try await claim(provider, at: now)
    try await recordOutcomes(messages.map { PushOutcome(message: $0, result: result) }, at: now)
    return messages
  }

  /// The current token of the feed.
  func feedToken() async throws -> SyncToken {
    let version = try await snapshot().feedVersion
    return SyncToken(epoch: version.epoch, scope: .feed, version: version.version)
  }
}

extension PostgresPool {
  /// Registers many active devices of APNs with plain SQL, with random ids.
  func makeDevices(_ count: Int, topics: [String]? = nil, at now: Date = .pushStart) async throws {
    _ = try await query(
      """
      INSERT INTO devices (id, secret_digest, provider, kind, address, address_digest, app, environment, topics, alerts,
        state, created_at, registered_at, expires_at)
      SELECT gen_random_uuid(), sha256('x'), 'apns', 'app', n::text, sha256(n::text::bytea), 'a', 'production', \(topics),
        true, 'active', \(now), \(now), \(now) + interval '90 days'
      FROM generate_series(1, \(count)) AS g (n)
      """)
  }

  /// Returns the rows of the outbox, each as its kinds.
  func outboxKinds() async throws -> [[String]] {
    try await query("SELECT kinds FROM outbox ORDER BY number").map { try $0.decode(0) }
  }

  /// Returns the pushes, each as its kind and topics.
  func pushKinds() async throws -> [String] {
    try await query(
      "SELECT array_to_string(kind || scopes, ' ') FROM pushes ORDER BY created_at, kind, version"
    ).map { try $0.decode(0) }
  }
}

/// Runs the body with two stores on one database, as two processes have them.
func withTwoStores(
  _ body: @Sendable (_ first: NewsStore, _ second: NewsStore, _ sql: PostgresPool) async throws -> Void
) async throws {
  try await NewsDatabase.with { url in
    let connection = PostgresConfiguration.forBusyMachine(url)
    let first = NewsStore(connection: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
    let second = NewsStore(connection: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
    let sql = PostgresPool(configuration: connection, pool: .forBusyMachine, logger: NewsDatabase.logger)
    try await withResource(first, release: { await $0.shutdown() }) { first in
      try await withResource(second, release: { await $0.shutdown() }) { second in
        try await withResource(sql, release: { await $0.shutdown() }) { try await body(first, second, $0) }
      }
    }
  }
}
