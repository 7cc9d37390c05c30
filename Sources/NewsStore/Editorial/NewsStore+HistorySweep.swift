import Foundation
import PostgresClient

/// The rule by which the writes in the history of an item are kept: the young ones, and the newest ones. The newest write
/// of an item is always kept.
///
///     let retention = HistoryRetention(age: .seconds(365 * 86_400), count: 50)
public struct HistoryRetention: Sendable, Equatable {
  /// The age up to which writes are kept; nil if no write is kept for its age.
  public var age: Duration?
  /// The number of newest writes of each item that are kept, 1 or more.
  public var count: Int

  /// Creates a rule.
  public init(age: Duration? = nil, count: Int = 1) {
    (self.age, self.count) = (age, count)
  }
}

extension NewsStore {
  /// The number of items that a step looks at, and of writes that it removes at most.
  private static let sweptItems = 500
  private static let sweptWrites = 500
  /// The key of an advisory lock, which the process that removes writes holds during a step.
  private static let sweepLock = 7_161_720_914_263

  /// Removes the writes from the history that a rule does not keep.
  ///
  /// A write is removed only if it is older than all kept ones of its item. The kept ones still have all old and new
  /// values, because these are computed from later writes, and the item can be restored to each of them.
  ///
  /// The work is done in small transactions. It ends early if another process does the same.
  ///
  /// - Returns: The number of removed writes.
  /// - Throws: `StoreError.unavailable`.
  @discardableResult
  public func sweepHistory(keeping retention: HistoryRetention) async throws -> Int {
    var total = 0
    var last = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    while true {
      let step = try await database.transaction { [last] transaction -> (removed: Int, last: UUID?)? in
        let locked = try await transaction.query("SELECT pg_try_advisory_xact_lock(\(Self.sweepLock)) AS is_free")
        guard try locked.first?.decode("is_free") == true else { return nil }
        let rows = try await transaction.query(Self.sweep(after: last, keeping: retention))
        return try rows.first.map { (try $0.decode("removed"), try $0.decode("last")) }
      }
      guard let step else { return total }
      total += step.removed
      if step.removed < Self.sweptWrites {
        guard let next = step.last else { return total }
        last = next
      }
    }
  }

  /// Removes writes of the items after one in the order of their ids, and selects their number and the last item, which is
  /// NULL after all items.
  private static func sweep(after last: UUID, keeping retention: HistoryRetention) -> PostgresQuery {
    // The clock is read once. Without an age, no write is young enough.
    let seconds = retention.age.map { $0 / .seconds(1) }
    return """
      WITH moment AS MATERIALIZED (
        SELECT coalesce(clock_timestamp() - make_interval(secs => \(seconds)), 'infinity') AS young
      ), batch AS MATERIALIZED (
        SELECT i.id FROM items AS i WHERE i.id > \(last) ORDER BY i.id LIMIT \(sweptItems)
      ), kept AS MATERIALIZED (
        SELECT b.id, coalesce(y.revision, n.revision) AS revision
        FROM batch AS b CROSS JOIN LATERAL (
          SELECT h.revision FROM item_history AS h WHERE h.item = b.id
            ORDER BY h.revision DESC OFFSET \(retention.count - 1) LIMIT 1
        ) AS n LEFT JOIN LATERAL (
          SELECT h.revision FROM item_history AS h, moment AS m
            WHERE h.item = b.id AND h.revision < n.revision AND h.at >= m.young ORDER BY h.revision LIMIT 1
        ) AS y ON true
      ), removed AS (
        DELETE FROM item_history WHERE number = ANY (ARRAY(
          SELECT h.number FROM kept AS k JOIN item_history AS h ON h.item = k.id AND h.revision < k.revision
            ORDER BY h.item, h.revision LIMIT \(sweptWrites) FOR UPDATE OF h SKIP LOCKED
        )) RETURNING number
      )
      SELECT (SELECT count(*) FROM removed) AS removed, (SELECT b.id FROM batch AS b ORDER BY b.id DESC LIMIT 1) AS last
      """
  }
}
