import Foundation
import News
import PostgresClient
import Synchronization

/// A group whose answer to COMMIT was lost.
struct LostCommit {
  private static let step: Duration = .milliseconds(100)

  private let attempt: WriteAttempt
  private let context: WriteGroup.Context

  init(_ attempt: WriteAttempt, in context: WriteGroup.Context) {
    self.attempt = attempt
    self.context = context
  }

  /// The fate of a transaction.
  private enum Fate: String {
    case running = "in progress"
    case committed, aborted
  }

  /// Asks the database what became of the transaction.
  func outcomes() async -> [WriteGroup.Outcome] {
    let end = ContinuousClock.now + context.resolutionTime
    while ContinuousClock.now < end {
      do {
        switch try await fate() {
        case .committed:
          let outcomes = try await committedOutcomes()
          context.lostCommits.committed.add(1, ordering: .relaxed)
          return outcomes
        case .aborted:
          context.lostCommits.undone.add(1, ordering: .relaxed)
          return merged { _ in nil }
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
    return merged { _ in .failure(StoreError.outcomeUnknown) }
  }

  /// - Returns: nil if the database does not know: it has become another server, or has forgotten the transaction.
  private func fate() async throws -> Fate? {
    let status: String?
    do {
      let rows = try await context.database.query("SELECT pg_xact_status(\(attempt.transaction)::xid8) AS status")
      status = try rows.first?.decode("status", as: String?.self)
    } catch let error as PostgresError where error.sqlState == "22023" {
      // The id is "in the future" (invalid_parameter_value): after a crash, that of a transaction that had logged nothing.
      status = Fate.aborted.rawValue
    }
    // Another server may have given the same id to another transaction. An epoch never returns.
    let epochs = try await context.database.query("SELECT \(query: Database.currentEpoch)")
    guard try epochs.first?.decode(0) == attempt.epoch else { return nil }
    return status.flatMap(Fate.init)
  }

  /// Reads the items that a committed transaction has written.
  private func committedOutcomes() async throws -> [WriteGroup.Outcome] {
    let rows = try await context.database.query(
      """
      SELECT i.xmin = (\(attempt.transaction)::xid8)::xid AS is_own, \(query: EditorialItem.columns)
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

  private func merged(_ outcome: (DecidedWrite) -> WriteGroup.Outcome) -> [WriteGroup.Outcome] {
    var outcomes = attempt.outcomes
    for (index, write) in attempt.decided { outcomes[index] = outcome(write) }
    return outcomes
  }
}
