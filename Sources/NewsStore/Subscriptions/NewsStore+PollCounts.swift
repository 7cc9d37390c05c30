public import Foundation
import PostgresClient
import Synchronization

/// The polls of feeds by this process since its start, and the state of all subscriptions.
public struct StorePolls: Sendable, Equatable {
  /// The number of polls that found new or changed entries.
  public var changed = 0
  /// The number of polls that found none.
  public var unchanged = 0
  /// The number of polls that failed.
  public var failed = 0
  /// The number of entries that became new items.
  public var inserted = 0
  /// The number of entries that changed an item.
  public var updated = 0
  /// The subscriptions as they were read last.
  public var subscriptions = SubscriptionCounts()
}

/// The number of subscriptions by the success of their polls.
public struct SubscriptionCounts: Sendable, Equatable {
  /// The feeds that are polled and have not failed repeatedly.
  public var working = 0
  /// The feeds whose last polls have failed, three or more.
  public var failing = 0
  /// The feeds that are not polled.
  public var paused = 0
  /// The time for which the most delayed poll is overdue, in seconds.
  public var overdueSeconds = 0.0
}

extension StorePolls {
  mutating func add(_ outcome: PollOutcome, hasFailed: Bool) {
    let entries = outcome.entries
    if hasFailed {
      failed += 1
    } else if entries.inserted + entries.updated > 0 {
      changed += 1
    } else {
      unchanged += 1
    }
    inserted += entries.inserted
    updated += entries.updated
  }
}

extension NewsStore {
  /// The polls of this process, and the subscriptions as of the last `countSubscriptions()`.
  public var polls: StorePolls { pollCounts.withLock { $0 } }

  /// Counts the subscriptions for `polls`.
  ///
  /// - Parameter now: The current time; nil for that of the database.
  public func countSubscriptions(at now: Date? = nil) async throws {
    let rows = try await database.query(
      """
      WITH clock AS (SELECT coalesce(\(now)::timestamptz, clock_timestamp()) AS now)
      SELECT count(*) FILTER (WHERE s.paused) AS paused,
        count(*) FILTER (WHERE NOT s.paused AND s.failures >= 3) AS failing,
        count(*) FILTER (WHERE NOT s.paused AND s.failures < 3) AS working,
        coalesce(extract(epoch FROM max(c.now - s.next_poll) FILTER (
          WHERE NOT s.paused AND s.next_poll < c.now AND (s.leased_until IS NULL OR s.leased_until < c.now)
        )), 0)::double precision AS overdue
      FROM subscriptions AS s, clock AS c
      """)
    guard let row = rows.first else { return }
    let counts = SubscriptionCounts(
      working: try row.decode("working"), failing: try row.decode("failing"), paused: try row.decode("paused"),
      overdueSeconds: try row.decode("overdue"))
    pollCounts.withLock { $0.subscriptions = counts }
  }
}
