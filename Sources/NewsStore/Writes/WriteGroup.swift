import Foundation
import News
import PostgresClient
import Synchronization

/// The state of a group before its COMMIT, from which a lost answer to it is resolved.
struct WriteAttempt {
  /// The transaction's id, with the epoch of the server that gave it.
  struct Transaction {
    let id: String
    let epoch: String
  }

  /// The transaction; nil if all writes have new ids, by which they are found.
  let transaction: Transaction?
  /// The outcomes that are known, and the writes to commit with their positions.
  var outcomes: [WriteGroup.Outcome]
  var decided: [(index: Int, write: DecidedWrite)]
}

/// Items that are written in one transaction, each with an outcome of its own.
final class WriteGroup: Sendable {
  typealias Outcome = GroupQueue<ItemWrite, WrittenItem>.Result

  /// The part of a store that groups use.
  struct Context: Sendable {
    let database: Database
    /// The time for which the outcome of a lost COMMIT is looked for.
    let resolutionTime: Duration
    let lostCommits: LostCommits
    /// The sessions of the groups that commit.
    let committing = CommittingSessions()
    /// Called after each COMMIT that has changed the feed, with the changed items that are in it.
    let apply: @Sendable (OwnCommit, [NewsItem]) -> Void
  }

  /// The behaviour of an entry that cannot have its row, its id or a file at once.
  enum Locking: Sendable {
    /// It leaves the group, so that it delays no other entry.
    case skips
    /// It waits, as any transaction does. For a single entry.
    case waits
  }

  /// The settings of a group. It waits for a lock on a new id or a file for 100 ms; beyond that, each entry runs alone.
  private static let groupSettings: PostgresQuery = """
    \(query: settings), set_config('lock_timeout', '100', true)
    """
  /// The planner settings. They leave only look-ups by key, so that a session can keep its plans: otherwise PostgreSQL
  /// plans the statements of each group again, which takes longer than a small one.
  private static let settings: PostgresQuery = """
    SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
      set_config('enable_material', 'off', true)
    """
  /// No entry of the group writes anything.
  private struct NothingToWrite: Error {
    let outcomes: [Outcome]
  }

  private let writes: [ItemWrite]
  private let locking: Locking
  private let context: Context
  private let attempt = Mutex<WriteAttempt?>(nil)

  /// - Parameter writes: Writes of different items.
  init(_ writes: [ItemWrite], _ locking: Locking, in context: Context) {
    self.writes = writes
    self.locking = locking
    self.context = context
  }

  /// Writes and publishes the items.
  ///
  /// - Returns: The outcome of each write, in order; nil for one that is to run alone, because nothing was written.
  func run() async -> [Outcome] {
    do {
      return try await context.database.pool.transaction(retries: locking == .waits ? 3 : 0) { transaction in
        try await self.run(in: transaction)
      }
    } catch let nothing as NothingToWrite {
      return nothing.outcomes
    } catch let error as PostgresError where error.code == .commitOutcomeUnknown {
      guard let attempt = attempt.withLock({ $0 }) else {
        return writes.map { _ in .failure(StoreError.outcomeUnknown) }
      }
      return await LostCommit(attempt, in: context).outcomes()
    } catch let error as PostgresError where error.code == .server && locking == .skips {
      // One of them may be the cause.
      return writes.map { _ in nil }
    } catch {
      return writes.map { _ in .failure(Database.translated(error)) }
    }
  }

  private func run(in transaction: PostgresTransaction) async throws -> [Outcome] {
    attempt.withLock { $0 = nil }
    let attempt = decided(createsOnly ? Found() : try await begin(in: transaction))
    // A rollback waits for no disk.
    guard !attempt.decided.isEmpty else { throw NothingToWrite(outcomes: attempt.outcomes) }
    self.attempt.withLock { $0 = attempt }
    var outcomes = attempt.outcomes
    context.committing.insert(transaction.serverProcess)
    defer { context.committing.remove(transaction.serverProcess) }
    let written = try await commit(attempt.decided.map(\.write), in: transaction)
    for ((index, _), outcome) in zip(attempt.decided, written) { outcomes[index] = outcome }
    return outcomes
  }

  // MARK: Before the write

  /// The items before the write.
  private struct Found {
    var transaction: WriteAttempt.Transaction?
    var items: [UUID: EditorialItem] = [:]
    var locked: Set<UUID> = []
  }

  /// Whether there is nothing to look for before the write, because all ids are new. An entry that waits for a lock does
  /// look: its id may be new no more, after an attempt whose outcome is unknown.
  private var createsOnly: Bool { locking == .skips && writes.allSatisfy(\.isNewID) }

  /// Locks the items, and reads them.
  private func begin(in transaction: PostgresTransaction) async throws -> Found {
    let ids = writes.map(\.id)
    let skipping: PostgresQuery = locking == .skips ? "SKIP LOCKED" : ""
    // Several statements: the lock may have to wait for a row, and the log is to be read after that wait.
    let answers = try await transaction.pipeline([
      locking == .skips ? Self.groupSettings : Self.settings,
      "SELECT i.id FROM items AS i WHERE i.id = ANY (\(ids)) ORDER BY i.id FOR NO KEY UPDATE \(query: skipping)",
      "SELECT \(query: EditorialItem.columns) FROM \(query: EditorialItem.tables) WHERE i.id = ANY (\(ids))",
      "SELECT pg_current_xact_id()::text AS transaction, \(query: Database.currentEpoch) AS epoch",
    ])
    guard let row = answers[3].first else { throw StoreFault("a transaction has no id") }
    let items = try answers[2].map(EditorialItem.init(row:))
    return Found(
      transaction: .init(id: try row.decode("transaction"), epoch: try row.decode("epoch")),
      items: Dictionary(uniqueKeysWithValues: items.map { ($0.item.id, $0) }),
      locked: Set(try answers[1].map { try $0.decode(0, as: UUID.self) }))
  }

  /// Decides what each entry writes.
  private func decided(_ found: Found) -> WriteAttempt {
    var attempt = WriteAttempt(
      transaction: found.transaction, outcomes: writes.map { _ in nil }, decided: [])
    for (index, write) in writes.enumerated() {
      let item = found.items[write.id]
      // Another transaction holds the item, or has created it just now.
      if item != nil, !found.locked.contains(write.id) { continue }
      do {
        switch (try write.decide(item), item) {
        case (.content(let content), _):
          attempt.decided.append((index, DecidedWrite(write, item, content: content)))
        case (.retraction(let reason), let item?):
          attempt.decided.append((index, DecidedWrite(write, retracting: item, reason: reason)))
        case (.unchanged, let item?): attempt.outcomes[index] = .success(WrittenItem(item: item, created: false))
        case (_, nil): throw StoreFault("a write without an item creates none")
        }
      } catch {
        attempt.outcomes[index] = .failure(error)
      }
    }
    return attempt
  }

  // MARK: The write

  /// Writes and publishes in one round trip with the COMMIT.
  private func commit(_ decided: [DecidedWrite], in transaction: PostgresTransaction) async throws -> [Outcome] {
    let requiresFiles = decided.contains { !$0.requiredFiles.isEmpty }
    // New ids wait for nobody.
    let limitsLocks = locking == .skips && (!createsOnly || requiresFiles)
    var statements = createsOnly ? [limitsLocks ? Self.groupSettings : Self.settings] : []
    if requiresFiles { statements.append(decided.fileLock) }
    let writing = statements.count
    statements.append(createsOnly ? decided.creation : decided.statement)
    // The wait for the counter is not limited: it is that of a queue.
    if limitsLocks { statements.append("SET LOCAL lock_timeout TO DEFAULT") }
    statements.append(createsOnly ? decided.firstPublication : decided.publication)
    let scopes = Set(decided.flatMap { $0.content.topics + ($0.existing?.item.topics ?? []) }).union([""])
    statements += OwnCommit.queries(items: decided.map(\.id), scopes: scopes)
    let answers = try await transaction.commit(after: statements)
    var published: [UUID: DecidedWrite.Publication] = [:]
    let publication = answers.count - 3
    for row in answers[publication] {
      published[try row.decode("item")] = .init(version: try row.decode("version"), date: try row.decode("updated"))
    }
    let outcomes =
      createsOnly
      ? try creationOutcomes(of: decided, answers[writing], published)
      : try outcomes(of: decided, answers[writing], published)
    if let commit = try OwnCommit(scopes: answers[publication + 1], changes: answers[publication + 2]) {
      let written = outcomes.compactMap { try? $0?.get().item }
      context.apply(commit, written.filter { $0.state == .published }.map(\.item))
    }
    return outcomes
  }

  /// An entry that was not created runs alone, which finds the reason.
  private func creationOutcomes(
    of decided: [DecidedWrite], _ rows: PostgresRows, _ published: [UUID: DecidedWrite.Publication]
  ) throws -> [Outcome] {
    var created: [UUID: DecidedWrite.Row] = [:]
    for row in rows { created[try row.decode("id")] = try DecidedWrite.Row(row) }
    return decided.map { write in created[write.id].map { .success(write.result($0, published[write.id])) } }
  }

  private func outcomes(
    of decided: [DecidedWrite], _ rows: PostgresRows, _ published: [UUID: DecidedWrite.Publication]
  ) throws -> [Outcome] {
    try zip(decided, rows).map { write, row in
      let topics: [String] = try row.decode("unknown_topics")
      guard topics.isEmpty else { return .failure(StoreError.unknownTopics(topics)) }
      let files: [UUID] = try row.decode("unknown_files")
      guard files.isEmpty else { return .failure(StoreError.unknownMedia(files)) }
      // Another writer has created the item since it was looked for.
      guard try row.decode("revision", as: Int?.self) != nil else { return nil }
      return .success(write.result(try DecidedWrite.Row(row), published[write.id]))
    }
  }
}
