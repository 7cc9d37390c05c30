import Synchronization

/// The batches of the pool's transactions and snapshots.
extension PostgresConnection {
  static let beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

  /// Runs queries in one snapshot and one round trip. After an error the session is left in a failed transaction.
  nonisolated func snapshot(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    let begin = PostgresQuery(unsafeSQL: Self.beginSnapshot)
    let results = try await perform(StatementBatch(.pipeline([begin] + queries + ["COMMIT"])))
    return Array(results.dropFirst().dropLast())
  }

  /// Sends BEGIN by itself, for a first statement that cannot bring it along.
  nonisolated func begin(_ transaction: TransactionState) async throws {
    if transaction.hasBegun.load(ordering: .acquiring) { return }
    _ = try await perform(StatementBatch(.pipeline([]), transaction: transaction))
  }

  /// Runs the queries and COMMIT. Neither is cancelled with the task. If they take `shieldedTimeoutMargin` longer than
  /// `statementTimeout`, the connection is closed and the outcome is unknown.
  nonisolated func commit(_ queries: [PostgresQuery], of transaction: TransactionState) async throws -> [PostgresRows] {
    try await perform(StatementBatch(.pipeline(queries), transaction: transaction, commits: true))
  }
}
