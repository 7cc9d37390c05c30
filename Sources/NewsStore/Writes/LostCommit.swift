import Foundation
import News
import PostgresClient
import Synchronization

/// A group whose answer to COMMIT was lost.
struct LostCommit {
  private static let step: Duration = .milliseconds(100)

  let attempt: WriteAttempt
  let context: WriteGroup.Context

  /// The fate of a transaction.
  private enum Fate: String {
    case running = "in progress"
    case committed, aborted
  }

  /// Finds out what became of the writes.
  func outcomes() async -> [WriteGroup.Outcome] {
    let end = ContinuousClock.now + context.resolutionTime
    guard let transaction = attempt.transaction else { return await repeated(until: end) }
    while ContinuousClock.now < end {
      do {
        switch try await fate(of: transaction) {
        case .committed:
          let outcomes = try await outcomes(of: transaction)
          context.lostCommits.committed.add(1, ordering: .relaxed)
          return outcomes
        case .aborted:
          context.lostCommits.undone.add(1, ordering: .relaxed)
          return without(nil)
        case .running: break
        case nil: return unknown()
        }
      } catch {}  // The database may be about to restart.
      try? await Task.sleep(for: Self.step)
    }
    return unknown()
  }

  private func unknown() -> [WriteGroup.Outcome] {
    context.lostCommits.unknown.add(1, ordering: .relaxed)
    return without(.failure(StoreError.outcomeUnknown))
  }

  /// The outcomes if the transaction had no effect that is known.
  private func without(_ outcome: WriteGroup.Outcome) -> [WriteGroup.Outcome] {
    var outcomes = merged { _ in outcome }
    for index in attempt.alerts { outcomes[index] = outcome }
    return outcomes
  }

  /// - Returns: nil if the database does not know: it has become another server, or has forgotten the transaction.
  private func fate(of transaction: WriteAttempt.Transaction) async throws -> Fate? {
    let status: String?
    do {
      let rows = try await context.database.query("SELECT pg_xact_status(\(transaction.id)::xid8) AS status")
      status = try rows.first?.decode("status", as: String?.self)
    } catch let error as PostgresError where error.sqlState == "22023" {
      // The id is "in the future" (invalid_parameter_value): after a crash, that of a transaction that had logged nothing.
      status = Fate.aborted.rawValue
    }
    // Another server may have given the same id to another transaction. An epoch never returns.
    let epochs = try await context.database.query("SELECT \(query: Database.currentEpoch)")
    guard try epochs.first?.decode(0) == transaction.epoch else { return nil }
    return status.flatMap(Fate.init)
  }

  /// Reads the items that a committed transaction has written.
  private func outcomes(of transaction: WriteAttempt.Transaction) async throws -> [WriteGroup.Outcome] {
    let rows = try await context.database.query(
      """
      SELECT i.xmin = (\(transaction.id)::xid8)::xid AS is_own, \(query: EditorialItem.columns)
      FROM \(query: EditorialItem.tables) WHERE i.id = ANY (\(attempt.decided.map(\.write.id)))
      """)
    var found: [UUID: (isOwn: Bool, item: EditorialItem)] = [:]
    for row in rows {
      let item = try EditorialItem(row: row)
      found[item.item.id] = (try row.decode("is_own"), item)
    }
    return merged { write in
      let now = found[write.id]
      // After a crash, another transaction may have received the id.
      if let now, now.isOwn, write.hasResult(now.item) {
        return .success(WrittenItem(item: now.item, created: write.existing == nil))
      }
      // An entry that was refused is refused again when it runs alone.
      if now?.item.revision == write.existing?.revision { return nil }
      // It was written again meanwhile, by another.
      return .failure(StoreError.outcomeUnknown)
    }
  }

  /// Creates each item again. An item that exists was created by the transaction, because its id was new. If the
  /// transaction is still running, the creation waits for its end.
  private func repeated(until end: ContinuousClock.Instant) async -> [WriteGroup.Outcome] {
    var outcomes = attempt.outcomes
    var (isCommitted, isUnknown) = (false, false)
    for (index, write) in attempt.decided {
      let repetition = ItemWrite(
        id: write.id, bytes: 0, by: write.editor, requestsAlert: write.requestsAlert
      ) { existing in
        existing == nil ? .content(write.content) : .unchanged
      }
      let result = await result(of: repetition, until: end)
      switch result {
      case .success(let written): isCommitted = isCommitted || !written.created
      case .failure(StoreError.outcomeUnknown): isUnknown = true
      case .failure: break
      }
      outcomes[index] = result.map { WrittenItem(item: $0.item, created: true) }
    }
    let lost = context.lostCommits
    if isUnknown {
      lost.unknown.add(1, ordering: .relaxed)
    } else if isCommitted {
      lost.committed.add(1, ordering: .relaxed)
    } else {
      lost.undone.add(1, ordering: .relaxed)
    }
    return outcomes
  }

  /// Runs a write until it has a result.
  private func result(
    of write: ItemWrite, until end: ContinuousClock.Instant
  ) async -> Result<WrittenItem, any Error> {
    while true {
      switch await WriteGroup([write], .waits, in: context).run()[0] {
      case nil, .failure(StoreError.unavailable)?, .failure(StoreError.writesRefused)?:
        guard ContinuousClock.now < end else { return .failure(StoreError.outcomeUnknown) }
        try? await Task.sleep(for: Self.step)
      case let result?: return result
      }
    }
  }

  private func merged(_ outcome: (DecidedWrite) -> WriteGroup.Outcome) -> [WriteGroup.Outcome] {
    attempt.outcomes(with: attempt.decided.map { outcome($0.write) })
  }
}
