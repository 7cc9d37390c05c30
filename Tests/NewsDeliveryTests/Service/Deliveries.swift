import Foundation
import Logging
import News
import NewsDelivery
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// A sender whose answers a test gives. It stands for a push service, not for the database.
final class ScriptedSender: PushSender {
  let provider: PushProvider
  let width: Int
  let sharesFailures: Bool

  private let answer: @Sendable (PushMessage) async -> PushAnswer
  private let state = Mutex((messages: [PushMessage](), isShutDown: false))

  init(
    _ provider: PushProvider = .fcm, width: Int = 8, sharesFailures: Bool = true,
    answer: @escaping @Sendable (PushMessage) async -> PushAnswer = { _ in PushAnswer(.sent) }
  ) {
    self.provider = provider
    self.width = width
    self.sharesFailures = sharesFailures
    self.answer = answer
  }

  /// The messages so far, in the order of their start.
  var messages: [PushMessage] { state.withLock { $0.messages } }

  var devices: [UUID] { messages.map(\.device) }

  var isShutDown: Bool { state.withLock { $0.isShutDown } }

  func send(_ message: PushMessage) async -> PushAnswer {
    state.withLock { $0.messages.append(message) }
    return await answer(message)
  }

  func shutdown() async { state.withLock { $0.isShutDown = true } }
}

/// Ids that a test adds and removes while others ask for them.
final class UUIDs: Sendable {
  private let ids = Mutex<Set<UUID>>([])

  func contains(_ id: UUID) -> Bool { ids.withLock { $0.contains(id) } }

  func insert(_ others: Set<UUID>) { ids.withLock { $0.formUnion(others) } }

  func removeAll() { ids.withLock { $0 = [] } }
}

/// A point at which tasks wait until a test opens it.
final class Barrier: Sendable {
  private let state = Mutex((isOpen: false, waiters: [CheckedContinuation<Void, Never>]()))

  /// The number of tasks that wait.
  var waiting: Int { state.withLock { $0.waiters.count } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isOpen = true
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// A store with devices, and services over it.
struct Deliveries: Sendable {
  let store: NewsStore
  let sql: PostgresPool
  /// The time of the database in the eyes of the services, as an offset in seconds.
  private let offset: Offset

  private final class Offset: Sendable {
    let seconds = Mutex(0.0)
  }

  var now: Date { Date() + offset.seconds.withLock { $0 } }

  static func with(_ body: @Sendable (Deliveries) async throws -> Void) async throws {
    try await NewsDatabase.withStore { store, sql in
      try await body(Deliveries(store: store, sql: sql, offset: Offset()))
    }
  }

  func advance(_ seconds: Double) { offset.seconds.withLock { $0 += seconds } }

  /// Registers devices for the feed.
  ///
  /// - Returns: Their ids.
  @discardableResult
  func register(_ count: Int, _ provider: PushProvider = .fcm) async throws -> Set<UUID> {
    var ids: Set<UUID> = []
    for _ in 0..<count {
      let token = UUID().uuidString.lowercased().filter { $0 != "-" }
      let registration = DeviceRegistration(
        provider: provider, token: token + token, app: provider == .apns ? "example.news" : nil)
      let limits = DeviceLimits(total: 1_000_000, perHost: 1_000_000)
      ids.insert(try await store.registerDevice(registration, limits: limits, at: now).credentials.id)
    }
    return ids
  }

  /// Notes that all devices have received messages before.
  func proveDevices() async throws { _ = try await sql.query("UPDATE devices SET accepted = true") }

  /// Publishes an item.
  ///
  /// - Returns: Its id.
  @discardableResult
  func publish() async throws -> UUID {
    let id = UUID()
    try await sql.transaction { transaction in
      _ = try await transaction.query(
        "INSERT INTO items (id, state, date, text) VALUES (\(id), 'published', '2026-01-01T00:00:00Z', 'x')")
      _ = try await transaction.query("SELECT FROM publish(\([id]))")
    }
    return id
  }

  /// Runs the body while a service delivers.
  func withService(
    _ senders: [ScriptedSender], window: Duration = .zero, budget: Int = 3, reportRate: Double = 0,
    publicURL: String? = nil, latestStart: Duration? = nil, countTime: Duration? = nil,
    logger: Logger = NewsDatabase.logger, _ body: @Sendable () async throws -> Void
  ) async throws {
    var limits = DeliveryService.Limits()
    limits.window = window
    limits.budget = budget
    limits.reportRate = reportRate
    let service = DeliveryService(
      store: store, senders: senders, limits: limits, publicURL: publicURL, latestStart: latestStart,
      countTime: countTime, logger: logger, clock: { now })
    try await whileRunning({ await service.run() }, body)
    #expect(senders.allSatisfy { $0.isShutDown })
  }

  /// The numbers of outcomes that this process has recorded, by name.
  func outcomes(_ provider: PushProvider) -> [String: Int] {
    let outcomes = store.deliveryCounts().outcomes.filter { $0.key.provider == provider }
    return Dictionary(uniqueKeysWithValues: outcomes.map { ($0.key.result, $0.value) })
  }

  func count(_ query: PostgresQuery) async throws -> Int {
    try #require(try await sql.query(query).first).decode("count")
  }

  /// The number of messages that services have claimed.
  func claimed() async throws -> Int { try await count("SELECT count(*) FROM deliveries WHERE lease IS NOT NULL") }

  /// The number of messages that devices are owed.
  func owed() async throws -> Int { try await count("SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL") }
}
