import Synchronization

/// Exchanges that the pool's transactions and snapshots consist of.
extension PostgresConnection {
  static let beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

  /// Runs queries in one snapshot and one round trip. After an error the session is left in a failed transaction.
  nonisolated func snapshot(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    let begin = PostgresQuery(unsafeSQL: Self.beginSnapshot)
    let results = try await perform(Exchange(.pipeline([begin] + queries + ["COMMIT"])))
    return Array(results.dropFirst().dropLast())
  }

  /// BEGIN by itself, where the first statement cannot bring it along.
  nonisolated func begin(_ transaction: TransactionState) async throws {
    if transaction.hasBegun.load(ordering: .acquiring) { return }
    _ = try await perform(Exchange(.pipeline([]), transaction: transaction))
  }

  /// Runs COMMIT, which is neither cancelled nor timed out while there is hope for an answer.
  nonisolated func commit(_ queries: [PostgresQuery], of transaction: TransactionState) async throws -> [PostgresRows] {
    try await perform(Exchange(.pipeline(queries), transaction: transaction, commits: true))
  }
}
