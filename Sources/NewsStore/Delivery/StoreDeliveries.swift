public import Foundation
public import News
import PostgresClient
import Synchronization

/// The deliveries of this process since its start, and those of all processes as they were read last.
public struct StoreDeliveries: Sendable, Equatable {
  /// A kind of registered devices.
  public struct Devices: Sendable, Hashable {
    /// The push service.
    public var provider: PushProvider
    /// Whether the devices have not returned the code of their first push.
    public var isPending: Bool

    /// Creates a key.
    public init(provider: PushProvider, isPending: Bool) {
      self.provider = provider
      self.isPending = isPending
    }
  }

  /// An outcome of messages.
  public struct Outcome: Sendable, Hashable {
    /// The push service.
    public var provider: PushProvider
    /// `sent`, `gone`, `tokenError`, `retry` or `invalid`.
    public var result: String

    /// Creates a key.
    public init(provider: PushProvider, result: String) {
      self.provider = provider
      self.result = result
    }
  }

  /// The number of devices by kind.
  public var devices: [Devices: Int] = [:]
  /// The number of devices by push service whose address was refused within the last day.
  public var refusedDevices: [PushProvider: Int] = [:]
  /// The number of messages that devices are owed, by push service.
  public var owed: [PushProvider: Int] = [:]
  /// The time for which the oldest message is overdue, by push service in seconds; 0 if none is. A message that has failed is
  /// overdue since its first failure.
  public var overdueSeconds: [PushProvider: Double] = [:]
  /// The number of changes in the outbox, as rows.
  public var outboxRows = 0
  /// The age of the oldest row in the outbox, in seconds; 0 without any.
  public var outboxSeconds = 0.0
  /// The push services that are paused.
  public var paused: [PushProvider] = []
  /// The push services that refuse the keys of the server.
  public var refusing: [PushProvider] = []
  /// The number of outcomes that this process has recorded.
  public var outcomes: [Outcome: Int] = [:]

  /// Creates counts of zero.
  public init() {}
}

extension StoreDeliveries {
  mutating func add(_ outcomes: [PushOutcome]) {
    for outcome in outcomes {
      self.outcomes[.init(provider: outcome.message.target.provider, result: outcome.result.name), default: 0] += 1
    }
  }
}

extension NewsStore {
  /// The deliveries of this process, and those of all as of the last `countDeliveries()`.
  public func deliveryCounts() -> StoreDeliveries { deliveries.withLock { $0 } }

  /// Counts devices and messages for `deliveryCounts()`. It reads all devices, so it is called at most every few seconds.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func countDeliveries(at now: Date? = nil) async throws {
    let answers = try await deliveryDatabase.snapshot([
      """
      WITH \(query: Self.clock(now))
      SELECT d.provider, d.state = 'pending' AS is_pending, count(*) AS devices,
        count(*) FILTER (WHERE d.token_error_at > c.now - interval '1 day') AS refused
      FROM devices AS d, clock AS c GROUP BY d.provider, d.state
      """,
      """
      WITH \(query: Self.clock(now)), owed AS (
        SELECT o.provider, coalesce(o.failing_since, o.due_at) AS due_at FROM deliveries AS o WHERE o.due_at IS NOT NULL
        UNION ALL SELECT a.provider, coalesce(a.failing_since, a.due_at) FROM alert_deliveries AS a
      )
      SELECT o.provider, count(*) AS owed,
        coalesce(extract(epoch FROM max(c.now - o.due_at) FILTER (WHERE o.due_at < c.now)), 0)::double precision AS overdue
      FROM owed AS o, clock AS c GROUP BY o.provider
      """,
      """
      WITH \(query: Self.clock(now))
      SELECT (SELECT count(*) FROM outbox) AS rows, ARRAY(
          SELECT p.provider FROM push_providers AS p WHERE p.paused_until > c.now ORDER BY p.provider) AS paused,
        ARRAY(SELECT p.provider FROM push_providers AS p WHERE p.refusal IS NOT NULL ORDER BY p.provider) AS refusing,
        coalesce(extract(epoch FROM greatest(
          c.now - (SELECT o.at FROM outbox AS o ORDER BY o.number LIMIT 1), interval '0'))
          , 0)::double precision AS age
      FROM clock AS c
      """,
    ])
    var counts = StoreDeliveries()
    for row in answers[0] {
      let provider: PushProvider = try row.value("provider")
      counts.devices[.init(provider: provider, isPending: try row.decode("is_pending"))] = try row.decode("devices")
      counts.refusedDevices[provider, default: 0] += try row.decode("refused", as: Int.self)
    }
    for row in answers[1] {
      let provider: PushProvider = try row.value("provider")
      counts.owed[provider] = try row.decode("owed")
      counts.overdueSeconds[provider] = try row.decode("overdue")
    }
    if let row = answers[2].first {
      counts.outboxRows = try row.decode("rows")
      counts.outboxSeconds = try row.decode("age")
      counts.paused = try row.decode("paused", as: [String].self).compactMap(PushProvider.init(rawValue:))
      counts.refusing = try row.decode("refusing", as: [String].self).compactMap(PushProvider.init(rawValue:))
    }
    deliveries.withLock { [counts] deliveries in
      let outcomes = deliveries.outcomes
      deliveries = counts
      deliveries.outcomes = outcomes
    }
  }
}
