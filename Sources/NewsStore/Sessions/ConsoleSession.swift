public import Foundation
import PostgresClient

/// A signed-in browser.
///
/// A session has the rights of its key at the time of each look-up. It ends with the key, and with the secret of the key
/// with which it began: by a revocation, by the key's expiry, and at the end of the overlap after a rotation.
public struct ConsoleSession: Sendable {
  /// The time without a use after which a session ends: 12 hours.
  public static let idleTime: Duration = .seconds(12 * 3600)
  /// The maximum age of a session: 30 days.
  public static let lifetime: Duration = .seconds(30 * 86_400)
  /// The maximum number of sessions of a key. A further one ends the session whose last use is the oldest.
  public static let maximumPerKey = 50
  /// The minimum time between two records of a use.
  static let useInterval: Duration = .seconds(60)

  /// The id, with which the session is ended. It opens nothing.
  public let id: UUID
  /// The key, as it was at the time of the read.
  public let key: APIKey
  /// The time of the sign-in.
  public let createdAt: Date
  /// The time of the last use, which is recorded at most once a minute.
  public let lastUsedAt: Date
  /// The time at which the session ends if it is not used again: the earliest of its idle end, its absolute end, and the
  /// end of its key or secret.
  public let expiresAt: Date
}

/// A link that signs a browser in, once.
public struct SignInLink: Sendable {
  /// The time for which a link works: 10 minutes.
  public static let lifetime: Duration = .seconds(600)

  /// The code, 43 characters of base64url. Only its digest is stored, so it cannot be shown again.
  public let code: String
  /// The time at which the link ends.
  public let expiresAt: Date
}

extension ConsoleSession {
  /// Selects sessions `s` of keys `k`, as `init(row:)` reads them. A condition follows.
  static let selection: PostgresQuery = """
    SELECT s.id AS session_id, s.created_at AS session_created, s.used_at AS session_used, \(query: end) AS session_end,
      c.*
    FROM console_sessions AS s JOIN api_keys AS k ON k.id = s.key
      CROSS JOIN LATERAL (SELECT \(query: APIKey.columns) FROM (SELECT k.*) AS api_key) AS c
    """

  /// The time at which a session `s` of a key `k` ends, however often it is used; NULL if its key or secret has ended it.
  private static let end: PostgresQuery = """
    CASE
      WHEN k.revoked_at IS NOT NULL THEN NULL
      WHEN s.key_digest = k.digest THEN least(s.created_at + \(query: interval(lifetime)), k.expires_at)
      WHEN s.key_digest = k.previous_digest
        THEN least(s.created_at + \(query: interval(lifetime)), k.expires_at, k.previous_until)
    END
    """

  /// The condition that a session `s` of a key `k` has not ended; NULL or false otherwise.
  static let isActive: PostgresQuery = """
    (\(query: end) > clock_timestamp() AND s.used_at > clock_timestamp() - \(query: interval(idleTime)))
    """

  /// Returns a time as an interval of SQL.
  static func interval(_ time: Duration) -> PostgresQuery { "make_interval(secs => \(time / .seconds(1)))" }

  /// - Parameter use: The use that has just been recorded; nil for the one in the row.
  init(row: PostgresRow, use: Date? = nil) throws {
    id = try row.decode("session_id")
    key = try APIKey(row: row)
    createdAt = try row.decode("session_created")
    lastUsedAt = try use ?? row.decode("session_used", as: Date.self)
    let end = try row.decode("session_end", as: Date.self)
    expiresAt = min(end, lastUsedAt.addingTimeInterval(Self.idleTime / .seconds(1)))
  }
}
