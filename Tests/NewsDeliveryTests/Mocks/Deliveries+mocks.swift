import Foundation
import News
import NewsDelivery
import NewsStore
import PostgresClient
import PushMocks
import TestKit
import TestSupport

/// A sender that has fewer messages under way at a time.
private struct NarrowSender: PushSender {
  let base: any PushSender
  let width: Int

  var provider: PushProvider { base.provider }
  var sharesFailures: Bool { base.sharesFailures }

  func send(_ message: PushMessage) async -> PushAnswer { await base.send(message) }

  func shutdown() async { await base.shutdown() }
}

extension Deliveries {
  /// The maximum number of messages that a sender has under way: 300, as in a server, or a quarter.
  static let width = rounds(300)

  /// Registers active devices of each of the three push services, which have received messages before.
  ///
  /// - Parameter count: The number of devices of each service.
  func register(_ count: Int, at mocks: PushMocks) async throws {
    let shared = mocks.webPush.sharedSubscription("")
    let rows: [(PushProvider, DeviceKind, PostgresQuery)] = [
      (.apns, .app, "encode(sha256(n::text::bytea), 'hex')"), (.fcm, .app, "'device:' || n"),
      (.webpush, .unifiedpush, "\(shared.endpoint) || n"),
    ]
    for (provider, kind, address) in rows {
      let isWebPush = provider == .webpush
      _ = try await sql.query(
        """
        INSERT INTO devices (id, secret_digest, provider, kind, address, address_digest, host, p256dh, auth, app,
          environment, alerts, state, accepted, created_at, registered_at, expires_at)
        SELECT gen_random_uuid(), sha256('x'), \(provider.rawValue), \(kind.rawValue), \(query: address),
          sha256((\(provider.rawValue) || n)::bytea), \(isWebPush ? "127.0.0.1" : nil)::text,
          \(isWebPush ? Data(shared.p256dh) : nil)::bytea, \(isWebPush ? Data(shared.auth) : nil)::bytea,
          \(provider == .apns ? "example.news" : nil)::text, \(provider == .apns ? "production" : nil)::text,
          false, 'active', true, \(now), \(now), \(now) + interval '90 days'
        FROM generate_series(1, \(count)) AS g (n)
        """)
    }
  }

  /// Runs the body while services deliver to the mocks, as that many processes do. The window is zero.
  ///
  /// - Parameters:
  ///   - fcmTimeout: The timeout of a request to FCM. A busy machine needs longer than a short one for responses, and then
  ///     the messages are sent again.
  ///   - budget: The maximum number of silent pushes to a device within an hour.
  func withServices(
    _ count: Int = 1, to mocks: PushMocks, fcmTimeout: Duration = PushMocks.longTimeout, budget: Int = 3,
    _ body: () async throws -> Void
  ) async throws {
    var limits = DeliveryService.Limits()
    limits.window = .zero
    limits.budget = budget
    var running: [Task<Void, Never>] = []
    for _ in 0..<count {
      let senders: [any PushSender] = [
        try mocks.apnsSender(), try mocks.fcmSender(timeout: fcmTimeout), try mocks.webPushSender(),
      ]
      let service = DeliveryService(
        store: store, senders: senders.map { NarrowSender(base: $0, width: min($0.width, Self.width)) },
        limits: limits, logger: NewsDatabase.logger, clock: { now })
      running.append(Task { await service.run() })
    }
    try await withResource(
      running,
      release: { running in
        for task in running { task.cancel() }
        for task in running { await task.value }
      }, { _ in try await body() })
  }

  /// The state of a push service; nil if it was never paused.
  func state(_ provider: PushProvider) async throws -> ProviderState? {
    try await store.providerStates().first { $0.provider == provider }
  }

  /// Waits until a condition is true, for at most five minutes: a debug build needs long for thousands of messages on a
  /// busy machine.
  func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<4 {
      do { return try await eventually(what, condition) } catch let error as CancellationError { throw error } catch {}
    }
    try await eventually(what, condition)
  }

  /// Waits until a push service is paused and no message to it is under way.
  func waitForPause(_ provider: PushProvider) async throws {
    try await wait("\(provider) is paused") { try await state(provider)?.pausedUntil != nil }
    try await wait("no message to \(provider) is claimed") {
      try await count(
        "SELECT count(*) FROM deliveries WHERE lease IS NOT NULL AND provider = \(provider.rawValue)") == 0
    }
  }

  /// Waits until nothing is owed.
  ///
  /// - Parameter step: The time in seconds by which the clock is advanced whenever no message is under way, so that the
  ///   waits after failures end.
  func waitForAll(step: Double = 0) async throws {
    for _ in 0..<4000 {
      let isAtRest = try await isAtRest()
      let owed = try await owed()
      if owed == 0 { return }
      if isAtRest { advance(step) }
      try await Task.sleep(for: .milliseconds(50))
    }
    try await wait("nothing is owed") { try await owed() == 0 }
  }

  /// Waits until no message is under way.
  func waitForRest() async throws { try await wait("no message is under way") { try await isAtRest() } }

  /// Whether no message is claimed or being claimed. A clock that is advanced in between would end the claims.
  private func isAtRest() async throws -> Bool {
    let statements = try await count(
      """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()
      """)
    guard statements == 0 else { return false }
    return try await count(
      """
      SELECT (SELECT count(*) FROM deliveries WHERE lease IS NOT NULL)
        + (SELECT count(*) FROM alert_deliveries WHERE lease IS NOT NULL) AS count
      """) == 0
  }
}
