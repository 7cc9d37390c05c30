public import Foundation
import Synchronization

/// A transaction, valid inside the body that receives it.
///
///     func move(_ id: UUID, to topic: String, pool: PostgresPool) async throws {
///       try await pool.transaction { transaction in
///         _ = try await transaction.query("UPDATE items SET topic = \(topic) WHERE id = \(id)")
///         _ = try await transaction.query("INSERT INTO moves (item) VALUES (\(id))")
///       }
///     }
public struct PostgresTransaction: Sendable {
  let connection: PostgresConnection
  let state: TransactionState

  /// The id of the server process that runs the transaction.
  ///
  /// A notification names the process that has sent it. Behind a pooler, this is an id of the pooler's.
  public var serverProcess: Int32 { connection.serverProcess.load(ordering: .relaxed) }

  /// Runs a statement. BEGIN is sent together with the first one.
  ///
  /// - Throws: `PostgresError`
  public func query(_ query: PostgresQuery) async throws -> PostgresRows {
    try state.checkOpen()
    return try await connection.firstResult(StatementBatch(.pipeline([query]), transaction: state))
  }

  /// Runs statements in one round trip. The first error skips the rest and is thrown.
  ///
  /// - Returns: The rows of each statement, in order.
  /// - Throws: `PostgresError`
  public func pipeline(_ queries: [PostgresQuery]) async throws -> [PostgresRows] {
    try state.checkOpen()
    return queries.isEmpty ? [] : try await connection.perform(StatementBatch(.pipeline(queries), transaction: state))
  }

  /// Loads rows with `COPY … FROM STDIN`, as `PostgresConnection.copyIn` does. After an error the transaction can only
  /// be rolled back.
  ///
  /// - Returns: The number of rows loaded.
  /// - Throws: `PostgresError`, or an error of the sequence.
  @discardableResult
  public func copyIn<Chunks: AsyncSequence>(_ query: PostgresQuery, rows: Chunks) async throws -> Int
  where Chunks.Element: ContiguousBytes {
    try state.checkOpen()
    try await connection.begin(state)
    return try await connection.copyIn(query, rows: rows)
  }

  /// Loads rows with `COPY … FROM STDIN` from a synchronous sequence of chunks.
  ///
  /// - Returns: The number of rows loaded.
  /// - Throws: `PostgresError`
  @discardableResult
  public func copyIn<Chunks: Sequence>(_ query: PostgresQuery, rows: Chunks) async throws -> Int
  where Chunks.Element: ContiguousBytes {
    try state.checkOpen()
    try await connection.begin(state)
    return try await connection.copyIn(query, rows: rows)
  }

  /// Runs a last statement and COMMIT in one round trip, which ends the transaction. Neither is cancelled with the
  /// task.
  ///
  /// - Returns: The rows of the statement.
  /// - Throws: `PostgresError`; with `.commitOutcomeUnknown` if the connection was lost before the answer to COMMIT.
  public func commit(after query: PostgresQuery) async throws -> PostgresRows {
    guard let rows = try await commit(after: [query]).first else {
      throw PostgresError(.protocolViolation, "the server returned no result")
    }
    return rows
  }

  /// Runs the last statements and COMMIT in one round trip, which ends the transaction. The first error skips the rest
  /// and is thrown. None of them is cancelled with the task.
  ///
  /// - Returns: The rows of each statement, in order.
  /// - Throws: `PostgresError`; with `.commitOutcomeUnknown` if the connection was lost before the answer to COMMIT.
  public func commit(after queries: [PostgresQuery]) async throws -> [PostgresRows] {
    try state.end()
    do {
      return try await connection.commit(queries, of: state)
    } catch let error as PostgresError {
      state.recordFailure(error)
      throw error
    }
  }

  /// Commits after the body, unless the transaction has ended already or nothing was sent.
  ///
  /// - Throws: The error of this COMMIT, or of an earlier one in the body.
  func finish() async throws {
    switch state.current {
    case .ended(let failure?): throw failure
    case .ended: return
    case .open:
      try state.end()
      if state.hasBegun.load(ordering: .acquiring) { _ = try await connection.commit([], of: state) }
    }
  }
}

/// The progress of a transaction.
final class TransactionState: Sendable {
  enum Phase {
    case open
    case ended(PostgresError?)
  }

  /// Whether BEGIN has been sent. Written on the connection's executor only.
  let hasBegun = Atomic<Bool>(false)
  private let phase = Mutex(Phase.open)

  /// Checks that the transaction is open.
  ///
  /// - Throws: `.transactionEnded`
  func checkOpen() throws {
    guard case .open = phase.withLock({ $0 }) else { throw Self.ended }
  }

  /// Ends the transaction, so that no other caller can use it.
  ///
  /// - Throws: `.transactionEnded` if it has ended already.
  func end() throws {
    try phase.withLock {
      guard case .open = $0 else { throw Self.ended }
      $0 = .ended(nil)
    }
  }

  func recordFailure(_ error: PostgresError) {
    phase.withLock { $0 = .ended(error) }
  }

  var current: Phase { phase.withLock { $0 } }

  private static let ended = PostgresError(.transactionEnded, "the transaction has ended already")
}

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
