import BackgroundWork
public import Foundation
import PostgresClient

/// The feeds of this installation that are announced to a hub.
public struct AnnouncedFeeds: Sendable {
  /// The address of the hub.
  public var hub: String
  /// The address of the installation, without a trailing slash.
  public var base: String
  /// The names of the feed in its formats, such as `feed.atom`. The feeds of a topic are under `/topics/SLUG/`.
  public var names: [String]

  /// Creates a description.
  public init(hub: String, base: String, names: [String]) {
    self.hub = hub
    self.base = base
    self.names = names
  }
}

/// A feed that has changed since it was announced.
public struct ChangedFeed: Sendable {
  /// The address.
  public let url: String
  /// The number of refusals since the last success.
  public let failures: Int
  let version: Int
  let announced: Int
}

/// The right of a process to announce feeds to a hub until a time.
public struct AnnouncementLease: Sendable {
  /// The feeds to announce. Those that were refused before are the last ones.
  public let feeds: [ChangedFeed]
  /// The number of failures of the hub since the last success.
  public let failures: Int
  let hub: String
  let token: UUID
}

extension NewsStore {
  /// The maximum number of feeds of a lease.
  public static let maximumAnnouncements = 200
  /// The duration of a lease in seconds. It is extended by each announcement.
  private static let announcementTime: Double = 180
  /// The number of refusals after which a feed is announced again only when it changes.
  private static let maximumRefusals = 5
  /// The age in seconds up to which changes are announced to a hub that is new.
  private static let recentTime: Double = 3600

  /// Takes the feeds that have changed since they were announced, unless another process announces them now.
  ///
  /// - Parameter now: The time in place of that of the database, for tests.
  /// - Returns: The lease, or nil and the time in seconds until feeds can be announced, 0 or more; nil for both if no feed
  ///   has changed.
  public func leaseAnnouncements(
    _ feeds: AnnouncedFeeds, at now: Date? = nil
  ) async throws -> (lease: AnnouncementLease?, wait: Double?) {
    let answer = try await database.transaction { transaction in
      try await Self.addHub(feeds, in: transaction, at: now)
      return try await Self.lease(feeds, in: transaction, at: now)
    }
    hubActivity.noteAnnouncementFailures(answer.failures)
    return (answer.lease, answer.wait)
  }

  private struct LeaseAnswer: Sendable {
    var lease: AnnouncementLease?
    var wait: Double?
    var failures: Int
  }

  private static func lease(
    _ feeds: AnnouncedFeeds, in transaction: PostgresTransaction, at now: Date?
  ) async throws -> LeaseAnswer {
    let token = UUID()
    let queue = LeasedQueue.announcements
    let chosen = queue.chosen(
      where: "h.hub = \(feeds.hub) AND EXISTS (\(query: changedFeeds(feeds)))", limit: 1)
    let leased = try await transaction.query(
      queue.lease(token, for: announcementTime, chosen, returning: "h.failures", at: now))
    guard let row = leased.first else { return try await waiting(feeds, in: transaction, at: now) }
    let failures: Int = try row.decode("failures")
    let changed = try await transaction.query(
      "\(query: changedFeeds(feeds)) ORDER BY failures, f.scope, f.url LIMIT \(maximumAnnouncements)")
    let found = try changed.map { row in
      ChangedFeed(
        url: try row.decode("url"), failures: try row.decode("failures"), version: try row.decode("version"),
        announced: try row.decode("announced"))
    }
    let lease = AnnouncementLease(feeds: found, failures: failures, hub: feeds.hub, token: token)
    return LeaseAnswer(lease: lease, wait: nil, failures: failures)
  }

  /// Reads when feeds can be announced that cannot be now.
  private static func waiting(
    _ feeds: AnnouncedFeeds, in transaction: PostgresTransaction, at now: Date?
  ) async throws -> LeaseAnswer {
    let rows = try await transaction.query(
      """
      WITH \(query: clock(now))
      SELECT h.failures, CASE WHEN EXISTS (\(query: changedFeeds(feeds)))
        THEN extract(epoch FROM greatest(h.next_request, h.leased_until) - c.now)::double precision END AS wait
      FROM announcing_hubs AS h, clock AS c WHERE h.hub = \(feeds.hub)
      """)
    guard let row = rows.first else { return LeaseAnswer(lease: nil, wait: nil, failures: 0) }
    let wait: Double? = try row.decode("wait")
    return LeaseAnswer(lease: nil, wait: wait.map { max(0, $0) }, failures: try row.decode("failures"))
  }

  /// Adds a hub. Changes from before the last hour are not announced to a new hub.
  private static func addHub(
    _ feeds: AnnouncedFeeds, in transaction: PostgresTransaction, at now: Date?
  ) async throws {
    let added = try await transaction.query(
      """
      WITH \(query: clock(now))
      INSERT INTO announcing_hubs (hub, next_request) SELECT \(feeds.hub), c.now FROM clock AS c
      ON CONFLICT DO NOTHING RETURNING hub
      """)
    if added.isEmpty { return }
    _ = try await transaction.query(
      """
      WITH \(query: clock(now))
      INSERT INTO announcements (hub, url, version)
      SELECT \(feeds.hub), f.url, f.version FROM (\(query: addresses(feeds))) AS f, clock AS c
      WHERE f.changed_at < c.now - make_interval(secs => \(recentTime))
      """)
  }

  /// Selects the addresses of all feeds that ever had an item, with the versions of their scopes.
  private static func addresses(_ feeds: AnnouncedFeeds) -> PostgresQuery {
    """
    SELECT s.scope, s.version, s.changed_at,
      \(feeds.base) || CASE WHEN s.scope = '' THEN '' ELSE '/topics/' || s.scope END || '/' || n.name AS url
    FROM scopes AS s CROSS JOIN unnest(\(feeds.names)) AS n (name)
    WHERE s.version > 0 AND (s.scope = '' OR EXISTS (SELECT 1 FROM topics AS t WHERE t.slug = s.scope))
    """
  }

  /// Selects the feeds whose current version was not announced.
  private static func changedFeeds(_ feeds: AnnouncedFeeds) -> PostgresQuery {
    """
    SELECT f.url, f.version, coalesce(a.version, 0) AS announced, coalesce(a.failures, 0) AS failures
    FROM (\(query: addresses(feeds))) AS f
      LEFT JOIN announcements AS a ON a.hub = \(feeds.hub) AND a.url = f.url
    WHERE a.version IS DISTINCT FROM f.version
    """
  }

  /// Records that a feed was announced, or that the hub has refused it. After five refusals, it is announced again only
  /// when it changes.
  ///
  /// - Parameter now: The time in place of that of the database, for tests.
  /// - Returns: Whether the lease is still valid. If it is not, the process must stop.
  public func noteAnnouncement(
    of feed: ChangedFeed, isAccepted: Bool, _ lease: AnnouncementLease, at now: Date? = nil
  ) async throws -> Bool {
    let held = LeasedQueue.announcements.extension(
      of: lease.hub, leasedBy: lease.token, by: Self.announcementTime, at: now)
    let isDone = isAccepted || feed.failures + 1 >= Self.maximumRefusals
    let rows = try await database.query(
      """
      WITH held AS (\(query: held))
      INSERT INTO announcements AS a (hub, url, version, failures)
      SELECT h.hub, \(feed.url), \(isDone ? feed.version : feed.announced), \(isDone ? 0 : feed.failures + 1)
      FROM held AS h
      ON CONFLICT (hub, url) DO UPDATE SET version = excluded.version, failures = excluded.failures
      RETURNING a.url
      """)
    return !rows.isEmpty
  }

  /// Ends a lease.
  ///
  /// - Parameters:
  ///   - hasFailed: Whether the hub was unreachable or has refused a feed.
  ///   - wait: The time until feeds may be announced again, in seconds.
  ///   - now: The time in place of that of the database, for tests.
  public func finishAnnouncements(
    _ lease: AnnouncementLease, hasFailed: Bool, wait: Double, at now: Date? = nil
  ) async throws {
    let failures = hasFailed ? lease.failures + 1 : 0
    hubActivity.noteAnnouncementFailures(failures)
    let queue = LeasedQueue.announcements
    let assignments: PostgresQuery = """
      \(query: queue.freeing), failures = \(failures), next_request = c.now + make_interval(secs => \(wait))
      """
    _ = try await database.query(queue.change(lease.hub, leasedBy: lease.token, setting: assignments, at: now))
  }

  /// Gives a lease back without an outcome, as at a shutdown.
  public func releaseAnnouncements(_ lease: AnnouncementLease) async throws {
    let queue = LeasedQueue.announcements
    _ = try await database.query(queue.change(lease.hub, leasedBy: lease.token, setting: queue.freeing, at: nil))
  }
}
