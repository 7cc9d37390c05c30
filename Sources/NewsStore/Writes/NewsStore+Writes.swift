import PostgresClient
import Synchronization

extension GroupQueue<ItemWrite, WrittenItem> {
  /// Creates the queue of the writes to a database.
  ///
  /// - Parameter pool: The limits of the database's connections, whose waits are also those of the queue.
  static func writes(
    to database: Database, _ pool: PostgresPoolConfiguration, _ lostCommits: LostCommits
  ) -> GroupQueue {
    var limits = Limits()
    limits.alone = max(1, min(limits.alone, pool.size / 2))
    limits.waiting = pool.maximumWaiters
    limits.wait = pool.acquireTimeout
    let time = pool.acquireTimeout
    return GroupQueue(limits: limits) { writes in
      await WriteGroup(writes, .skips, database: database, resolutionTime: time, lostCommits: lostCommits).run()
    } runAlone: { write in
      // Another writer may create the item after it was looked for; the next attempt finds it.
      for _ in 0..<3 {
        let outcomes = await WriteGroup(
          [write], .waits, database: database, resolutionTime: time, lostCommits: lostCommits
        ).run()
        if let outcome = outcomes[0] { return try outcome.get() }
      }
      throw StoreError.unavailable
    }
  }
}

/// The numbers of lost answers to COMMIT, by what became of the transaction.
final class LostCommits: Sendable {
  let committed = Atomic(0)
  let undone = Atomic(0)
  let unknown = Atomic(0)
}

/// The writes of items since the start.
public struct StoreWrites: Sendable {
  /// The transactions of groups.
  public let groups: Int
  /// The writes in groups.
  public let grouped: Int
  /// The writes that have left their groups, because they would have had to wait, or an error has ended the group.
  public let alone: Int
  /// The writes that wait now.
  public let waiting: Int
  /// The sum of the waits until groups began.
  public let waited: Duration
  /// The lost answers to COMMIT whose transactions turned out to be committed, to be undone, or remained unknown.
  public let lostCommits: (committed: Int, undone: Int, unknown: Int)
}

extension NewsStore {
  /// The writes of items since the start.
  public var writes: StoreWrites {
    let counts = itemWrites.counts
    return StoreWrites(
      groups: counts.groups, grouped: counts.entries, alone: counts.left, waiting: itemWrites.waiting,
      waited: counts.waited,
      lostCommits: (
        lostCommits.committed.load(ordering: .relaxed), lostCommits.undone.load(ordering: .relaxed),
        lostCommits.unknown.load(ordering: .relaxed)
      ))
  }

  /// Writes different items as one group.
  ///
  /// - Returns: The outcome of each write; nil for one that has left the group.
  package func writeTogether(_ writes: [ItemWrite]) async -> [GroupQueue<ItemWrite, WrittenItem>.Result] {
    await WriteGroup(
      writes, .skips, database: database, resolutionTime: .seconds(60), lostCommits: lostCommits
    ).run()
  }
}
