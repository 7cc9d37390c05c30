public import Foundation
public import News
import PostgresClient

/// The state of a push service, which all processes share.
public struct ProviderState: Sendable, Equatable {
  /// The push service.
  public let provider: PushProvider
  /// The end of the pause; nil if it is not paused. Once it has passed, a few messages are sent as a trial.
  public let pausedUntil: Date?
  /// The reason for the pause.
  public let reason: String?
  /// The number of pauses since the service has worked.
  public let pauses: Int
  /// The last answer that refused the keys of the server, or the messages of all devices so far; nil if the service has
  /// accepted a message since.
  public let refusal: Refusal?
  /// The time of the last pause, resumption or refusal.
  public let changedAt: Date

  /// An answer that refused the keys of the server.
  public struct Refusal: Sendable, Equatable {
    /// The reason, for operators. It names no device.
    public let reason: String
    /// The time of the answer.
    public let at: Date
  }
}

extension NewsStore {
  /// Pauses a push service in all processes. Messages under way are not affected.
  ///
  /// - Parameters:
  ///   - seconds: The duration.
  ///   - reason: The reason, for operators. It names no device.
  ///   - now: The current time; nil for that of the database.
  public func pauseProvider(
    _ provider: PushProvider, for seconds: Double, reason: String, at now: Date? = nil
  ) async throws {
    _ = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      INSERT INTO push_providers AS p (provider, paused_until, reason, pauses, changed_at)
      SELECT \(provider.rawValue), c.now + make_interval(secs => \(seconds)), \(reason), 1, c.now FROM clock AS c
      ON CONFLICT (provider) DO UPDATE SET paused_until = excluded.paused_until, reason = excluded.reason,
        pauses = p.pauses + 1, changed_at = excluded.changed_at
      """)
  }

  /// Ends the pauses of a push service, because it works.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func resumeProvider(_ provider: PushProvider, at now: Date? = nil) async throws {
    _ = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      UPDATE push_providers AS p SET paused_until = NULL, reason = NULL, pauses = 0, changed_at = c.now
      FROM clock AS c WHERE p.provider = \(provider.rawValue) AND p.paused_until IS NOT NULL
      """)
  }

  /// Notes that a push service refuses messages.
  ///
  /// - Parameters:
  ///   - reason: The reason, for operators. It names no device.
  ///   - isProven: Whether the service has accepted messages to the refused address before. Otherwise the refusal counts only
  ///     if the service has accepted none to any device.
  ///   - now: The current time; nil for that of the database.
  /// - Returns: Whether the refusal counts.
  public func noteRefusal(
    by provider: PushProvider, reason: String, isProven: Bool, at now: Date? = nil
  ) async throws -> Bool {
    let rows = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      INSERT INTO push_providers AS p (provider, refusal, refused_at, changed_at)
      SELECT \(provider.rawValue), \(reason), c.now, c.now FROM clock AS c
      WHERE \(isProven) OR NOT EXISTS (
        SELECT FROM devices AS d WHERE d.provider = \(provider.rawValue) AND d.accepted AND d.state = 'active')
      ON CONFLICT (provider) DO UPDATE SET refusal = excluded.refusal, refused_at = excluded.refused_at,
        changed_at = excluded.changed_at
      RETURNING p.provider
      """)
    return !rows.isEmpty
  }

  /// Notes that a push service accepts messages.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func endRefusal(by provider: PushProvider, at now: Date? = nil) async throws {
    _ = try await deliveryDatabase.query(
      """
      WITH \(query: Self.clock(now))
      UPDATE push_providers AS p SET refusal = NULL, refused_at = NULL, changed_at = c.now
      FROM clock AS c WHERE p.provider = \(provider.rawValue) AND p.refusal IS NOT NULL
      """)
  }

  /// Reads the states of the push services that were ever paused or have refused messages, in the order of `PushProvider`.
  public func providerStates() async throws -> [ProviderState] {
    let states = try await deliveryDatabase.query("SELECT * FROM push_providers").map { row in
      ProviderState(
        provider: try row.value("provider"), pausedUntil: try row.decode("paused_until"),
        reason: try row.decode("reason"), pauses: try row.decode("pauses"),
        refusal: try ProviderState.Refusal(row: row),
        changedAt: try row.decode("changed_at"))
    }
    return PushProvider.allCases.compactMap { provider in states.first { $0.provider == provider } }
  }
}

extension ProviderState.Refusal {
  fileprivate init?(row: PostgresRow) throws {
    guard let reason = try row.decode("refusal", as: String?.self) else { return nil }
    self.init(reason: reason, at: try row.decode("refused_at"))
  }
}
