import Foundation
import News
import PostgresClient

extension NewsStore {
  /// The maximum number of writes in a batch, which is that of `publish()`.
  package static let largestBatch = 1000

  /// Writes different items in one transaction, and waits until this process responds from its result.
  ///
  /// - Parameters:
  ///   - writes: The writes of at most `largestBatch` different items.
  ///   - isAtomic: Whether nothing is written if one of them is refused.
  ///   - maximum: The maximum size of the stored items that the writes change, in bytes of JSON. All of them are in memory
  ///     several times at once.
  ///   - once: The request, if it may be repeated.
  /// - Returns: The outcome of each write, in order. It is nil for a write of an atomic batch that was not made because
  ///   another one was refused.
  /// - Throws: `StoreError.batchTooLarge`; `unavailable`, `outcomeUnknown`, if they concern all writes; with `once` also `AnsweredBefore`,
  ///   `requestInProgress`, `idempotencyKeyReused`, `answerErased`.
  package func writeBatch(
    _ writes: [ItemWrite], isAtomic: Bool, storedBytes maximum: Int = 32 << 20,
    once: RepeatableWrite<[Result<WrittenItem, any Error>?]>? = nil
  ) async throws -> [Result<WrittenItem, any Error>?] {
    guard !writes.isEmpty else {
      try await requireUnanswered(once?.request)
      return []
    }
    let outcomes = try await DatabaseTime.measuring {
      if let once { return try await writeOnce(writes, isAtomic: isAtomic, storedBytes: maximum, once) }
      return isAtomic ? try await writeTogetherOrNone(writes, maximum) : await writeEach(writes, maximum)
    }
    let failures = outcomes.compactMap { if case .failure(let error as StoreError)? = $0 { error } else { nil } }
    if failures.count == writes.count, let error = failures.first, error.concernsAll { throw error }
    let version = outcomes.compactMap { try? $0?.get().item.item.version }.max()
    if let version { try await waitForState(version) }
    return outcomes
  }

  private func writeEach(_ writes: [ItemWrite], _ maximum: Int) async -> [Result<WrittenItem, any Error>?] {
    var outcomes = await WriteGroup(writes, .skips, storedBytes: maximum, in: writeContext).run()
    for (index, write) in writes.enumerated() where outcomes[index] == nil {
      outcomes[index] = await WriteGroup.runAlone(write, in: writeContext)
    }
    return outcomes
  }

  /// Writes items in one transaction with the answer to their request.
  func writeOnce(
    _ writes: [ItemWrite], isAtomic: Bool, storedBytes maximum: Int? = nil,
    _ once: RepeatableWrite<[Result<WrittenItem, any Error>?]>
  ) async throws -> [Result<WrittenItem, any Error>?] {
    try await self.once(once.request) {
      for _ in 0..<WriteGroup.attempts {
        let group = WriteGroup(
          writes, .waits, isAtomic: isAtomic, storedBytes: maximum, once: once, in: writeContext)
        let outcomes = try await group.runOnce()
        // In a refused atomic group, the entries that were not refused have none.
        if outcomes.contains(where: { $0 != nil }) { return outcomes }
      }
      throw StoreError.unavailable
    }
  }

  private func writeTogetherOrNone(
    _ writes: [ItemWrite], _ maximum: Int
  ) async throws -> [Result<WrittenItem, any Error>?] {
    for _ in 0..<WriteGroup.attempts {
      let group = WriteGroup(writes, .waits, isAtomic: true, storedBytes: maximum, in: writeContext)
      let outcomes = await group.run()
      for case .failure(let error as StoreError)? in outcomes where error.concernsAll { throw error }
      if outcomes.allSatisfy({ $0 != nil }) || outcomes.contains(where: WriteGroup.isRefused) {
        return outcomes
      }
    }
    throw StoreError.unavailable
  }
}

extension StoreError {
  /// Whether the error is the database's or that of the batch, and not that of a write.
  fileprivate var concernsAll: Bool {
    switch self {
    case .batchTooLarge, .unavailable, .writesRefused, .outcomeUnknown, .statementCancelled, .unsafeDurability: true
    default: false
    }
  }
}
