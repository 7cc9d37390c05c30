import Foundation
import News
import PostgresClient
import Synchronization

/// Items that are written in one transaction, each with an outcome of its own.
final class WriteGroup: Sendable {
  typealias Outcome = GroupQueue<ItemWrite, WrittenItem>.Result

  /// The behaviour of an entry that cannot have its row, its id or a file at once.
  enum Locking: Sendable {
    /// It leaves the group, so that it delays no other entry.
    case skips
    /// It waits, as any transaction does. For a single entry.
    case waits
  }

  /// The state before the COMMIT, from which a lost answer to it is resolved.
  private struct Attempt {
    /// The transaction's id, with the epoch of the server that gave it.
    let transaction: String
    let epoch: String
    /// The outcomes that are known, and the writes to commit with their positions.
    var outcomes: [Outcome]
    var decided: [(index: Int, write: DecidedWrite)]
  }

  /// The settings of a group. It waits for a lock on a new id or a file for 100 ms; beyond that, each entry runs alone.
  private static let groupSettings: PostgresQuery = """
    \(query: settings), set_config('lock_timeout', '100', true)
    """
  /// The planner settings, which leave only look-ups by primary key: a session keeps its plans, and one that was made
  /// while the tables were small would later read them in full.
  private static let settings: PostgresQuery = """
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true)
    """
  /// No entry of the group writes anything.
  private struct NothingToWrite: Error {
    let outcomes: [Outcome]
  }

  private static let resolutionStep: Duration = .milliseconds(100)

  private let writes: [ItemWrite]
  private let locking: Locking
  private let database: Database
  /// The time for which the outcome of a lost COMMIT is looked for.
  private let resolutionTime: Duration
  private let lostCommits: LostCommits
  private let attempt = Mutex<Attempt?>(nil)

  /// - Parameter writes: Writes of different items.
  init(
    _ writes: [ItemWrite], _ locking: Locking, database: Database, resolutionTime: Duration, lostCommits: LostCommits
  ) {
    self.writes = writes
    self.locking = locking
    self.database = database
    self.resolutionTime = resolutionTime
    self.lostCommits = lostCommits
  }

  /// Writes and publishes the items.
  ///
  /// - Returns: The outcome of each write, in order; nil for one that is to run alone, because nothing was written.
  func run() async -> [Outcome] {
    do {
      return try await database.pool.transaction(retries: locking == .waits ? 3 : 0) { transaction in
        try await self.run(in: transaction)
      }
    } catch let nothing as NothingToWrite {
      return nothing.outcomes
    } catch let error as PostgresError where error.code == .commitOutcomeUnknown {
      return await resolve()
    } catch let error as PostgresError where error.code == .server && locking == .skips {
      // One of them may be the cause.
      return writes.map { _ in nil }
    } catch {
      return writes.map { _ in .failure(Database.translated(error)) }
    }
  }

  private func run(in transaction: PostgresTransaction) async throws -> [Outcome] {
    attempt.withLock { $0 = nil }
    let attempt = decided(try await begin(in: transaction))
    // A rollback waits for no disk.
    guard !attempt.decided.isEmpty else { throw NothingToWrite(outcomes: attempt.outcomes) }
    self.attempt.withLock { $0 = attempt }
    var outcomes = attempt.outcomes
    let written = try await commit(attempt.decided.map(\.write), in: transaction)
    for ((index, _), outcome) in zip(attempt.decided, written) { outcomes[index] = outcome }
    return outcomes
  }

  // MARK: Before the write

  /// The items before the write.
  private struct Found {
    let transaction: String
    let epoch: String
    let items: [UUID: EditorialItem]
    let locked: Set<UUID>
  }

  /// Locks the items, and reads them.
  private func begin(in transaction: PostgresTransaction) async throws -> Found {
    let ids = writes.map(\.id)
    let skipping: PostgresQuery = locking == .skips ? "SKIP LOCKED" : ""
    // Several statements: the lock may have to wait for a row, and the log is to be read after that wait.
    let answers = try await transaction.pipeline([
      locking == .skips ? Self.groupSettings : Self.settings,
      "SELECT i.id FROM items AS i WHERE i.id = ANY (\(ids)) ORDER BY i.id FOR NO KEY UPDATE \(query: skipping)",
      "SELECT \(query: EditorialItem.columns) FROM \(query: EditorialItem.tables) WHERE i.id = ANY (\(ids))",
      """
      SELECT pg_current_xact_id()::text AS transaction,
        (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) AS epoch
      """,
    ])
    guard let row = answers[3].first else { throw StoreFault("a transaction has no id") }
    let items = try answers[2].map(EditorialItem.init(row:))
    return Found(
      transaction: try row.decode("transaction"), epoch: try row.decode("epoch"),
      items: Dictionary(uniqueKeysWithValues: items.map { ($0.item.id, $0) }),
      locked: Set(try answers[1].map { try $0.decode(0, as: UUID.self) }))
  }

  /// Decides what each entry writes.
  private func decided(_ found: Found) -> Attempt {
    var attempt = Attempt(
      transaction: found.transaction, epoch: found.epoch, outcomes: writes.map { _ in nil }, decided: [])
    for (index, write) in writes.enumerated() {
      let item = found.items[write.id]
      // Another transaction holds the item, or has created it just now.
      if item != nil, !found.locked.contains(write.id) { continue }
      do {
        switch (try write.decide(item), item) {
        case (.content(let content), _):
          attempt.decided.append((index, DecidedWrite(write.id, item, content: content)))
        case (.retraction(let reason), let item?):
          attempt.decided.append((index, DecidedWrite(retracting: item, reason: reason)))
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
    var statements = [try decided.statement()]
    if decided.contains(where: { !$0.requiredFiles.isEmpty }) { statements.insert(decided.fileLock, at: 0) }
    let writing = statements.count - 1
    // The wait for the counter is not limited: it is that of a queue.
    if locking == .skips { statements.append("SET LOCAL lock_timeout TO DEFAULT") }
    let answers = try await transaction.commit(after: statements + [decided.publication])
    var published: [UUID: DecidedWrite.Publication] = [:]
    for row in answers[answers.count - 1] {
      published[try row.decode("item")] = .init(version: try row.decode("version"), date: try row.decode("updated"))
    }
    return try zip(decided, answers[writing]).map { write, row in
      let topics: [String] = try row.decode("unknown_topics")
      guard topics.isEmpty else { return .failure(StoreError.unknownTopics(topics)) }
      let files: [UUID] = try row.decode("unknown_files")
      guard files.isEmpty else { return .failure(StoreError.unknownMedia(files)) }
      // Another writer has created the item since it was looked for.
      guard let revision: Int = try row.decode("revision") else { return nil }
      return .success(write.result(revision: revision, created: try row.decode("created_at"), published[write.id]))
    }
  }

  // MARK: A lost answer to COMMIT

  /// The fate of a transaction.
  private enum Fate: String {
    case running = "in progress"
    case committed, aborted
  }

  /// Asks the database what became of the transaction.
  private func resolve() async -> [Outcome] {
    guard let attempt = attempt.withLock({ $0 }) else { return writes.map { _ in .failure(StoreError.outcomeUnknown) } }
    let end = ContinuousClock.now + resolutionTime
    while ContinuousClock.now < end {
      do {
        switch try await fate(of: attempt) {
        case .committed:
          let outcomes = try await committedOutcomes(of: attempt)
          lostCommits.committed.add(1, ordering: .relaxed)
          return outcomes
        case .aborted:
          lostCommits.undone.add(1, ordering: .relaxed)
          return merged(attempt) { _ in nil }
        case .running: break
        case nil: return unknown(attempt)
        }
      } catch {}  // The database may be about to restart.
      try? await Task.sleep(for: Self.resolutionStep)
    }
    return unknown(attempt)
  }

  private func unknown(_ attempt: Attempt) -> [Outcome] {
    lostCommits.unknown.add(1, ordering: .relaxed)
    return merged(attempt) { _ in .failure(StoreError.outcomeUnknown) }
  }

  /// - Returns: nil if the database does not know: it has become another server, or has forgotten the transaction.
  private func fate(of attempt: Attempt) async throws -> Fate? {
    let rows = try await database.query(
      """
      SELECT (SELECT e.id FROM epochs AS e ORDER BY e.number DESC LIMIT 1) AS epoch,
        pg_xact_status(\(attempt.transaction)::xid8) AS status
      """)
    // Another server may have given the same id to another transaction.
    guard let row = rows.first, try row.decode("epoch") == attempt.epoch else { return nil }
    return try row.decode("status", as: String?.self).flatMap(Fate.init)
  }

  /// Reads the items that a committed transaction has written.
  private func committedOutcomes(of attempt: Attempt) async throws -> [Outcome] {
    let rows = try await database.query(
      """
      SELECT i.xmin = (\(attempt.transaction)::xid8)::xid AS is_own, \(query: EditorialItem.columns)
      FROM \(query: EditorialItem.tables) WHERE i.id = ANY (\(attempt.decided.map(\.write.id)))
      """)
    var found: [UUID: (isOwn: Bool, item: EditorialItem)] = [:]
    for row in rows {
      let item = try EditorialItem(row: row)
      found[item.item.id] = (try row.decode("is_own"), item)
    }
    return merged(attempt) { write in
      let now = found[write.id]
      if let now, now.isOwn { return .success(WrittenItem(item: now.item, created: write.existing == nil)) }
      // An entry that was refused is refused again when it runs alone.
      if now?.item.revision == write.existing?.revision { return nil }
      // It was written again meanwhile, by another.
      return .failure(StoreError.outcomeUnknown)
    }
  }

  private func merged(_ attempt: Attempt, _ outcome: (DecidedWrite) -> Outcome) -> [Outcome] {
    var outcomes = attempt.outcomes
    for (index, write) in attempt.decided { outcomes[index] = outcome(write) }
    return outcomes
  }
}
