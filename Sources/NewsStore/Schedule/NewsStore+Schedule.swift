import Foundation
import Logging
import PostgresClient
import Synchronization

/// The publications and expiries by schedule since the start.
public struct StoreSchedule: Sendable {
  /// The number of items that this process has published or ended.
  public let changed: Int
  /// The number of scheduled items that cannot be published, because a topic of theirs does not exist.
  public let stuck: Int
  /// The time since the schedule was last found to be applied; nil before that.
  public let age: Duration?
}

/// The counters of the schedule.
struct ScheduleCounts {
  var changed = 0
  var stuck = 0
  /// The time at which the schedule was last found to be applied.
  var last: ContinuousClock.Instant?
}

extension NewsStore {
  /// The maximum number of publications, and of expiries, in a transaction. Other publishers wait for it.
  private static let scheduleChunk: Int32 = 100
  /// The maximum wait before the schedule is read again, which bounds the delay of an item that was scheduled meanwhile.
  private static let scheduleInterval: Duration = .milliseconds(500)
  /// The timeout for the lock of a row, so that a row held by others delays the remaining items only briefly.
  private static let scheduleLockTimeout: Duration = .milliseconds(500)

  /// The publications and expiries by schedule since the start.
  public var schedule: StoreSchedule {
    let state = scheduleCounts.withLock { $0 }
    return StoreSchedule(
      changed: state.changed, stuck: state.stuck, age: state.last.map { $0.duration(to: .now) })
  }

  /// Publishes scheduled items and ends those that expire, as soon as their times have come, until the task is cancelled.
  ///
  /// All processes do so with a connection of their own each. The database decides which of them acts, and whether a time
  /// has come. They also delete answers to repeated requests that have become too old, sessions that have ended, and devices that
  /// have not renewed their registrations: at the start, and then every minute.
  public func keepSchedule() async {
    var isFailing = false
    var nextPurge = ContinuousClock.now
    while !Task.isCancelled {
      var wait = Self.scheduleInterval
      do {
        wait = min(wait, try await applySchedule())
        isFailing = false
      } catch let error as PostgresError where error.code == .server {
        if !isFailing { logger.error("the schedule cannot be applied", metadata: ["error": "\(error)"]) }
        isFailing = true
      } catch {
        // The database cannot be reached, which the log of its connections says.
      }
      if ContinuousClock.now >= nextPurge {
        nextPurge = .now + Self.answerPurgeInterval
        await purge("answers") { try await purgeAnswers() }
        await purge("sessions") { try await purgeSessions() }
        await purge("devices") { try await purgeDevices() }
      }
      try? await Task.sleep(for: wait)
    }
  }

  /// Runs a purge, and logs its error.
  private func purge(_ subject: String, _ body: () async throws -> Void) async {
    do {
      try await body()
    } catch let error as StoreError where error.isOutage {
      // The log of the connections says so.
    } catch {
      logger.warning("old \(subject) were not purged", metadata: ["error": "\(String(reflecting: error))"])
    }
  }

  /// Applies the schedule once.
  ///
  /// - Returns: The time until the next item is due, 0 or more.
  /// - Throws: `StoreError.unavailable`, `outcomeUnknown`; `PostgresError` if none of the items that are due can be changed.
  package func applySchedule() async throws -> Duration {
    do {
      return try await applySchedule(to: nil)
    } catch let error as PostgresError where error.code == .server {
      return try await applyScheduleSingly(after: error)
    }
  }

  /// Changes each item that is due by itself, because one of them makes the statement fail.
  private func applyScheduleSingly(after failure: PostgresError) async throws -> Duration {
    let due = try await scheduleDatabase.query(
      """
      (SELECT i.id FROM items AS i WHERE i.state = 'scheduled' AND i.publish_at <= clock_timestamp()
        ORDER BY i.publish_at LIMIT \(Self.scheduleChunk))
      UNION ALL
      (SELECT i.id FROM items AS i WHERE i.state = 'published' AND i.expire_at <= clock_timestamp()
        ORDER BY i.expire_at LIMIT \(Self.scheduleChunk))
      """)
    var hasSucceeded = false
    for row in due {
      let id: UUID = try row.decode("id")
      do {
        _ = try await applySchedule(to: id)
        hasSucceeded = true
      } catch let error as PostgresError where error.code == .server {
        logger.debug("an item is left for later", metadata: ["item": "\(id)", "error": "\(error)"])
      }
    }
    guard hasSucceeded else { throw failure }
    return Self.scheduleInterval
  }

  private func applySchedule(to only: UUID?) async throws -> Duration {
    let items: [UUID]? = only.map { [$0] }
    let timeout = String(Int(Self.scheduleLockTimeout / .milliseconds(1)))
    let answers = try await scheduleDatabase.transaction { transaction in
      try await transaction.commit(after: [
        "SELECT set_config('lock_timeout', \(timeout), true)",
        """
        SELECT s.changed, s.stuck,
          -- greatest() ignores NULL: without this condition, an empty schedule would be due at once, for ever.
          CASE WHEN s.next_due IS NOT NULL
            THEN greatest(extract(epoch FROM s.next_due - clock_timestamp()), 0)::double precision END AS wait
        FROM apply_schedule(\(Self.scheduleChunk), \(items)) AS s
        """,
      ])
    }
    guard let row = answers[1].first else { throw StoreFault("the schedule has no answer") }
    let changed: Int = try row.decode("changed")
    let stuck: Int = try row.decode("stuck")
    scheduleCounts.withLock { state in
      state.changed += changed
      state.stuck = stuck
      state.last = .now
    }
    // There may be more.
    if changed >= Int(Self.scheduleChunk) { return .zero }
    return try row.decode("wait", as: Double?.self).map { .seconds($0) } ?? Self.scheduleInterval
  }
}
