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
  /// The positions of writes that change nothing, and request an alert.
  var alerts: [Int] = []

  /// Returns all outcomes, in the order of the entries.
  ///
  /// - Parameter written: The outcomes of `decided`.
  func outcomes(with written: [WriteGroup.Outcome]) -> [WriteGroup.Outcome] {
    var outcomes = outcomes
    for ((index, _), outcome) in zip(decided, written) { outcomes[index] = outcome }
    return outcomes
  }
}

/// Items that are written in one transaction, each with an outcome of its own, or all or none of them.
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
    /// It waits, as any transaction does. For a single entry, or an atomic group.
    case waits
  }

  /// The planner settings. They leave only look-ups by key, so that a session can keep its plans: otherwise PostgreSQL
  /// plans the statements of each group again, which takes longer than a small one.
  private static let settings: PostgresQuery = """
    SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
      set_config('enable_material', 'off', true)
    """
  /// The planner settings of a large group, whose statements are planned for the number of its entries. The kept plan
  /// would compare each of them with all others.
  private static let largeGroupSettings: PostgresQuery = """
    SELECT set_config('plan_cache_mode', 'force_custom_plan', true)
    """
  /// The number of entries up to which plans are kept.
  private static let largestWithKeptPlans = 64
  /// The end of a group that writes nothing.
  private struct WithoutEffect: Error {
    let outcomes: [Outcome]
  }

  private let writes: [ItemWrite]
  private let locking: Locking
  private let isAtomic: Bool
  private let maximumStoredBytes: Int?
  private let once: RepeatableWrite<[Outcome]>?
  private let context: Context
  private let attempt = Mutex<WriteAttempt?>(nil)

  /// - Parameters:
  ///   - writes: Writes of different items, at most 1,000.
  ///   - isAtomic: Whether nothing is written if an entry is refused. Such a group waits for locks.
  ///   - maximumStoredBytes: The maximum size of the stored items, in bytes of JSON; nil for no limit, for a group that
  ///     has few entries.
  ///   - once: The request of the group, whose answer is stored if an entry was not refused; nil if it has none of its
  ///     own. Such a group waits for locks.
  init(
    _ writes: [ItemWrite], _ locking: Locking, isAtomic: Bool = false, storedBytes maximumStoredBytes: Int? = nil,
    once: RepeatableWrite<[Outcome]>? = nil, in context: Context
  ) {
    self.writes = writes
    self.locking = locking
    self.isAtomic = isAtomic
    self.maximumStoredBytes = maximumStoredBytes
    self.once = once
    self.context = context
  }

  /// Writes and publishes the items.
  ///
  /// - Returns: The outcome of each write, in order; nil for one that is to run alone, because nothing was written. An
  ///   atomic group has either no refused entry, or only refused entries and nil.
  func run() async -> [Outcome] {
    do {
      return try await context.database.pool.transaction(retries: locking == .waits ? 3 : 0) { transaction in
        try await self.run(in: transaction)
      }
    } catch let end as WithoutEffect {
      return end.outcomes
    } catch let error as PostgresError where error.code == .commitOutcomeUnknown {
      context.database.writes.record(error)
      guard let attempt = attempt.withLock({ $0 }) else {
        return writes.map { _ in .failure(StoreError.outcomeUnknown) }
      }
      return await LostCommit(attempt: attempt, context: context).outcomes()
    } catch let error as PostgresError where error.code == .server && locking == .skips {
      // One of them may be the cause.
      return writes.map { _ in nil }
    } catch {
      return writes.map { _ in .failure(context.database.translated(error)) }
    }
  }

  /// Writes and publishes the items of a request that may be repeated.
  ///
  /// - Returns: The outcome of each write, in order; nil for all if the group is to run again, because nothing was written.
  /// - Throws: `AnsweredBefore`, `StoreError.requestInProgress`, `idempotencyKeyReused`, `answerErased`,
  ///   `outcomeUnknown`, `unavailable`, which concern all writes.
  func runOnce() async throws -> [Outcome] {
    do {
      return try await context.database.transaction { try await self.run(in: $0) }
    } catch let end as WithoutEffect {
      return end.outcomes
    }
  }

  private func run(in transaction: PostgresTransaction) async throws -> [Outcome] {
    attempt.withLock { $0 = nil }
    try await once?.request.claim(in: transaction)
    let attempt = try await decided(createsOnly ? Found() : try await begin(in: transaction))
    if isAtomic { try requireAll(attempt.outcomes, and: attempt.decided.count) }
    // A rollback waits for no disk.
    guard !attempt.decided.isEmpty || !attempt.alerts.isEmpty || once != nil else {
      throw WithoutEffect(outcomes: attempt.outcomes)
    }
    self.attempt.withLock { $0 = attempt }
    context.committing.insert(transaction.serverProcess)
    defer { context.committing.remove(transaction.serverProcess) }
    let outcomes = attempt.outcomes(with: try await commit(attempt, in: transaction))
    context.database.writes.recordWrite()
    return outcomes
  }

  /// Ends an atomic group in which an entry is refused or has to be tried again.
  ///
  /// - Parameter undecided: The number of outcomes that are not known yet.
  private func requireAll(_ outcomes: [Outcome], and undecided: Int = 0) throws {
    let known = outcomes.count { $0 != nil && !Self.isRefused($0) }
    guard known + undecided == outcomes.count else {
      throw WithoutEffect(outcomes: outcomes.map { Self.isRefused($0) ? $0 : nil })
    }
  }

  static func isRefused(_ outcome: Outcome) -> Bool {
    if case .failure? = outcome { true } else { false }
  }

  // MARK: Before the write

  /// The items before the write.
  private struct Found: Sendable {
    var transaction: WriteAttempt.Transaction?
    var items: [UUID: EditorialItem] = [:]
    var locked: Set<UUID> = []
  }

  /// The size of the group, as it counts for `ComputePool`: 64 KiB take a few milliseconds.
  private var computedBytes: Int { writes.reduce(0) { $0 + $1.bytes } / 8 }

  /// The owner of the group's work on `ComputePool`: the author of all entries, or nobody if there are several.
  private var owner: String {
    guard let author = writes.first?.editor, writes.allSatisfy({ $0.editor == author }) else { return "" }
    return author.name ?? author.kind
  }

  /// Whether there is nothing to look for before the write, because all ids are new. An entry that waits for a lock does
  /// look: its id may be new no more, after an attempt whose outcome is unknown.
  private var createsOnly: Bool { locking == .skips && writes.allSatisfy(\.isNewID) }

  /// The settings of the transaction.
  ///
  /// - Parameter limitingLocks: Whether it waits for a lock on a new id or a file for 100 ms only; beyond that, each entry
  ///   runs alone.
  private func settings(limitingLocks: Bool) -> PostgresQuery {
    let planning = writes.count <= Self.largestWithKeptPlans ? Self.settings : Self.largeGroupSettings
    return limitingLocks ? "\(query: planning), set_config('lock_timeout', '100', true)" : planning
  }

  /// Locks the items, and reads them.
  private func begin(in transaction: PostgresTransaction) async throws -> Found {
    let ids = writes.map(\.id)
    let skipping: PostgresQuery = locking == .skips ? "SKIP LOCKED" : ""
    // Several statements: the lock may have to wait for a row, and the log is to be read after that wait.
    let beginning: [PostgresQuery] = [
      settings(limitingLocks: locking == .skips),
      "SELECT i.id FROM items AS i WHERE i.id = ANY (\(ids)) ORDER BY i.id FOR NO KEY UPDATE \(query: skipping)",
    ]
    let reading: [PostgresQuery] = [
      "SELECT \(query: EditorialItem.columns) FROM \(query: EditorialItem.tables) WHERE i.id = ANY (\(ids))",
      "SELECT pg_current_xact_id()::text AS transaction, \(query: Database.currentEpoch) AS epoch",
    ]
    let answers: [PostgresRows]
    if let maximumStoredBytes {
      // Locked items do not grow, so that they are weighed before any of them is read.
      let weight: PostgresQuery =
        "SELECT coalesce(sum(i.size + json_size(i.html)), 0)::bigint FROM items AS i WHERE i.id = ANY (\(ids))"
      let locked = try await transaction.pipeline(beginning + [weight])
      guard try locked[2].first?.decode(0, as: Int.self) ?? 0 <= maximumStoredBytes else {
        throw StoreError.batchTooLarge(maximumBytes: maximumStoredBytes)
      }
      answers = locked.prefix(2) + (try await transaction.pipeline(reading))
    } else {
      answers = try await transaction.pipeline(beginning + reading)
    }
    guard let row = answers[3].first else { throw StoreFault("a transaction has no id") }
    let bytes = answers[2].reduce(0) { $0 + $1.byteCount }
    let items = try await ComputePool.shared.slices(.transaction, for: owner, bytes: bytes / 8, Array(answers[2])) {
      try EditorialItem(row: $0)
    }
    return Found(
      transaction: .init(id: try row.decode("transaction"), epoch: try row.decode("epoch")),
      items: Dictionary(uniqueKeysWithValues: items.map { ($0.item.id, $0) }),
      locked: Set(try answers[1].map { try $0.decode(0, as: UUID.self) }))
  }

  /// Decides what each entry writes.
  ///
  /// - Throws: The errors of `ComputePool.run`.
  private func decided(_ found: Found) async throws -> WriteAttempt {
    var attempt = WriteAttempt(
      transaction: found.transaction, outcomes: writes.map { _ in nil }, decided: [])
    let bytes = found.items.values.reduce(computedBytes) { $0 + ItemContent($1).approximateBytes / 8 }
    let decisions = try await ComputePool.shared.slices(.transaction, for: owner, bytes: bytes, writes) { write in
      let item = found.items[write.id]
      // Another transaction holds the item, or has created it just now.
      if item != nil, !found.locked.contains(write.id) { return Result<ItemWrite.Decision, any Error>?.none }
      return Result { try write.decide(item) }
    }
    for (index, (write, decision)) in zip(writes, decisions).enumerated() {
      let item = found.items[write.id]
      do {
        guard let decision = try decision?.get() else { continue }
        switch (decision, item) {
        case (.content(let content), _):
          attempt.decided.append((index, DecidedWrite(write, item, content: content)))
        case (.retraction(let reason), let item?):
          attempt.decided.append((index, DecidedWrite(write, retracting: item, reason: reason)))
        case (.unchanged, let item?):
          attempt.outcomes[index] = .success(WrittenItem(item: item, created: false))
          if write.requestsAlert { attempt.alerts.append(index) }
        case (_, nil): throw StoreFault("a write without an item creates none")
        }
      } catch {
        attempt.outcomes[index] = .failure(error)
      }
    }
    return attempt
  }

  // MARK: The write

  /// Writes and publishes in one round trip with the COMMIT. An atomic group, and one with a request of its own, take
  /// another one before, to see whether all entries are written, and to store the answer.
  private func commit(_ attempt: WriteAttempt, in transaction: PostgresTransaction) async throws -> [Outcome] {
    let decided = attempt.decided.map(\.write)
    if decided.isEmpty {
      let publication = once.map { [$0.request.publication] } ?? []
      let storage = try await storage(of: attempt.outcomes)
      _ = try await transaction.commit(after: alertRequests(attempt) + storage + publication)
      return attempt.outcomes
    }
    let requiresFiles = decided.contains { !$0.requiredFiles.isEmpty }
    // New ids wait for nobody.
    let limitsLocks = locking == .skips && (!createsOnly || requiresFiles)
    var statements = createsOnly ? [settings(limitingLocks: limitsLocks)] : []
    if requiresFiles { statements.append(decided.fileLock) }
    let writing = statements.count
    statements.append(try await statement(writing: decided))
    statements += alertRequests(attempt)
    var answers: [PostgresRows] = []
    if isAtomic || once != nil {
      answers = try await transaction.pipeline(statements)
      statements = []
      let outcomes = attempt.outcomes(with: try outcomes(of: decided, answers[writing], [:]))
      if isAtomic { try requireAll(outcomes) }
      statements += try await storage(of: outcomes)
    }
    // The wait for the counter is not limited: it is that of a queue.
    if limitsLocks { statements.append("SET LOCAL lock_timeout TO DEFAULT") }
    let publication = answers.count + statements.count
    statements.append(createsOnly ? decided.firstPublication : decided.publication)
    let scopes = Set(decided.flatMap { $0.content.topics + ($0.existing?.item.topics ?? []) }).union([""])
    statements += OwnCommit.queries(items: decided.map(\.id), scopes: scopes)
    if let once { statements.append(once.request.publication) }
    answers += try await transaction.commit(after: statements)
    var published: [UUID: DecidedWrite.Publication] = [:]
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

  /// Returns the statement that writes the entries. It contains all of their texts, of which a megabyte takes some
  /// milliseconds.
  private func statement(writing decided: [DecidedWrite]) async throws -> PostgresQuery {
    let bytes = decided.reduce(0) { $0 + $1.content.approximateBytes }
    return try await ComputePool.shared.run(.transaction, for: owner, bytes: bytes / 64) { [createsOnly] in
      createsOnly ? decided.creation : decided.statement
    }
  }

  /// Returns the statement that notes requests for alerts, after that of the writes; none if there are no requests.
  private func alertRequests(_ attempt: WriteAttempt) -> [PostgresQuery] {
    let unchanged = attempt.alerts.map { (item: writes[$0].id, editor: writes[$0].editor, isUnchanged: true) }
    let written = attempt.decided.filter(\.write.requestsAlert).map {
      (item: $0.write.id, editor: $0.write.editor, isUnchanged: false)
    }
    return unchanged.isEmpty && written.isEmpty ? [] : [NewsStore.alertRequests(unchanged + written)]
  }

  /// Returns the statements that store the answer to the request of the group.
  ///
  /// - Throws: `WithoutEffect` if there is nothing to answer: an entry has to be tried again, or all are refused.
  private func storage(of outcomes: [Outcome]) async throws -> [PostgresQuery] {
    guard let once else { return [] }
    if outcomes.contains(where: { $0 == nil }) { throw WithoutEffect(outcomes: outcomes.map { _ in nil }) }
    if outcomes.allSatisfy(Self.isRefused) { throw WithoutEffect(outcomes: outcomes) }
    let bytes = outcomes.reduce(computedBytes) { $0 + ($1?.writtenBytes ?? 0) / 8 }
    return try await ComputePool.shared.run(.transaction, for: owner, bytes: bytes) {
      [try once.request.insertion(of: try once.answer(outcomes))]
    }
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
