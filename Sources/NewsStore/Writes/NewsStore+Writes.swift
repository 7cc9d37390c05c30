import PostgresClient
import Synchronization

extension WriteGroup {
  /// The maximum number of attempts. Another writer may create an item after it was looked for; the next attempt finds it.
  static let attempts = 3

  /// Runs an entry that has left its group.
  static func runAlone(_ write: ItemWrite, in context: Context) async -> Result<WrittenItem, any Error> {
    for _ in 0..<attempts {
      if let outcome = await WriteGroup([write], .waits, in: context).run()[0] { return outcome }
    }
    return .failure(StoreError.unavailable)
  }
}

extension GroupQueue<ItemWrite, WrittenItem> {
  /// Creates the queue of the writes to a database.
  ///
  /// - Parameter pool: The limits of the database's connections, whose waits are also those of the queue.
  static func writes(in context: WriteGroup.Context, _ pool: PostgresPoolConfiguration) -> GroupQueue {
    var limits = Limits()
    limits.alone = max(1, min(limits.alone, pool.size / 2))
    limits.waiting = pool.maximumWaiters
    limits.wait = pool.acquireTimeout
    return GroupQueue(limits: limits) { writes in
      await WriteGroup(writes, .skips, in: context).run()
    } runAlone: { write in
      try await WriteGroup.runAlone(write, in: context).get()
    }
  }
}

/// The numbers of lost answers to COMMIT, by what became of the transaction.
final class LostCommits: Sendable {
  let committed = Atomic(0)
  let undone = Atomic(0)
  let unknown = Atomic(0)
}

/// The database sessions in which this process commits.
final class CommittingSessions: Sendable {
  private let processes = Mutex<Set<Int32>>([])

  func insert(_ process: Int32) { processes.withLock { _ = $0.insert(process) } }
  func remove(_ process: Int32) { processes.withLock { _ = $0.remove(process) } }
  func contains(_ process: Int32) -> Bool { processes.withLock { $0.contains(process) } }
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
    let (counts, lost) = (itemWrites.counts, writeContext.lostCommits)
    return StoreWrites(
      groups: counts.groups, grouped: counts.entries, alone: counts.left, waiting: itemWrites.waiting,
      waited: counts.waited,
      lostCommits: (
        lost.committed.load(ordering: .relaxed), lost.undone.load(ordering: .relaxed),
        lost.unknown.load(ordering: .relaxed)
      ))
  }

  /// Writes different items as one group.
  ///
  /// - Returns: The outcome of each write; nil for one that has left the group.
  package func writeTogether(_ writes: [ItemWrite]) async -> [GroupQueue<ItemWrite, WrittenItem>.Result] {
    await WriteGroup(writes, .skips, in: writeContext).run()
  }
}
