import CLibPQ
public import Foundation
import Synchronization

/// COPY FROM STDIN (PostgreSQL 15, 34.10.1).
extension PostgresConnection {
  /// Loads rows with a statement `COPY … FROM STDIN`.
  ///
  /// The statement has no parameters. The concatenated chunks are the data, in the format that the statement names. A
  /// chunk need not end where a row ends.
  ///
  /// An error of the server, an error of the sequence, or the cancellation of the task undoes the whole COPY and leaves
  /// the connection usable. `statementTimeout` applies to waits for the server only.
  ///
  /// - Returns: The number of rows loaded.
  /// - Throws: `PostgresError`, or an error of the sequence.
  @discardableResult
  public nonisolated func copyIn<Chunks: AsyncSequence>(_ query: PostgresQuery, rows: Chunks) async throws -> Int
  where Chunks.Element: ContiguousBytes {
    let batch = StatementBatch(.simple(query.sql, copies: true))
    return try await copyIn(batch) { sender in
      for try await chunk in rows {
        try await sender.send(chunk)
      }
    }
  }

  /// Loads rows with a statement `COPY … FROM STDIN` from a synchronous sequence of chunks.
  ///
  /// - Returns: The number of rows loaded.
  /// - Throws: `PostgresError`
  @discardableResult
  public nonisolated func copyIn<Chunks: Sequence>(_ query: PostgresQuery, rows: Chunks) async throws -> Int
  where Chunks.Element: ContiguousBytes {
    let batch = StatementBatch(.simple(query.sql, copies: true))
    return try await copyIn(batch) { sender in
      for chunk in rows {
        try await sender.send(chunk)
      }
    }
  }

  /// Runs a COPY without the server's `statement_timeout`, which would apply to the COPY as a whole, however slowly the
  /// caller's data arrives.
  private nonisolated func copyIn(
    _ batch: StatementBatch, _ feed: (inout CopySender) async throws -> Void
  ) async throws -> Int {
    let limit = configuration.preparesStatements ? Self.nanoseconds(configuration.statementTimeout) : 0
    if limit > 0 { _ = try await query("SET statement_timeout = 0") }
    do {
      let count = try await copyWithoutServerTimeout(batch, feed)
      if limit > 0 { try await restoreStatementTimeout() }
      return count
    } catch {
      // Inside a transaction, the rollback restores the setting.
      if limit > 0, activity.load(ordering: .acquiring) == .idle { try? await restoreStatementTimeout() }
      throw error
    }
  }

  private nonisolated func restoreStatementTimeout() async throws {
    let milliseconds = (Self.nanoseconds(configuration.statementTimeout) + Self.serverTimeoutMargin) / 1_000_000
    let query = PostgresQuery(unsafeSQL: "SET statement_timeout = \(milliseconds)")
    _ = try await firstResult(StatementBatch(.pipeline([query]), isShielded: true))
  }

  private nonisolated func copyWithoutServerTimeout(
    _ batch: StatementBatch, _ feed: (inout CopySender) async throws -> Void
  ) async throws -> Int {
    _ = try await perform(batch)
    var sender = CopySender(connection: self, batch: batch)
    do {
      try await feed(&sender)
      try await sender.flush()
      if Task.isCancelled { throw PostgresError.cancelled }
    } catch {
      await abortCopy(batch)
      throw error is CancellationError ? PostgresError.cancelled : error
    }
    return try await finishCopy(batch, error: nil).last?.affected ?? 0
  }

  /// Ends a failed COPY and reads the server's answer, even if the task is cancelled.
  private nonisolated func abortCopy(_ batch: StatementBatch) async {
    await Task { _ = try? await finishCopy(batch, error: "the data ended with an error") }.value
  }

  func startCopying(_ batch: StatementBatch, on pointer: OpaquePointer) {
    guard case .simple(_, copies: true) = batch.kind else {
      // The caller did not request COPY. The data is refused, and the server answers with an error.
      PQputCopyEnd(pointer, "no data was expected")
      return flush()
    }
    batch.isCopying = true
    batch.deadline = .max
    complete(batch, with: .success([]))
  }

  /// Sends a piece of data and returns once the socket has accepted it.
  nonisolated func sendCopyData(_ bytes: [UInt8], of batch: StatementBatch) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        onQueue { $0.sendCopyData(bytes, of: batch, continuation) }
      }
    } onCancel: {
      onQueue { $0.cancelCopy(batch) }
    }
  }

  private func sendCopyData(
    _ bytes: [UInt8], of batch: StatementBatch, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    guard current === batch, batch.isCopying, let pointer = handle?.pointer else {
      return continuation.resume(throwing: closedConnectionError)
    }
    let isTaken = bytes.withUnsafeBytes {
      PQputCopyData(pointer, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count)) == 1
    }
    guard isTaken else {
      continuation.resume(throwing: PostgresError(.connectionLost, connection: pointer))
      return close(with: PostgresError(.connectionLost, connection: pointer))
    }
    let limit = Self.nanoseconds(configuration.statementTimeout)
    flushWaiter = continuation
    flush()
    if flushWaiter != nil, limit > 0 { setDeadline(of: batch, after: limit) } else { batch.deadline = .max }
  }

  /// Cancels a COPY whose data the server does not accept, perhaps because it waits for a lock.
  private func cancelCopy(_ batch: StatementBatch) {
    if flushWaiter != nil { cancel(batch, reason: .cancelled) }
  }

  private nonisolated func finishCopy(_ batch: StatementBatch, error: String?) async throws -> [PostgresRows] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        onQueue { $0.endCopy(batch, error: error, continuation) }
      }
    } onCancel: {
      batch.isCancelled = true
      onQueue { $0.cancel(batch, reason: .cancelled) }
    }
  }

  private func endCopy(_ batch: StatementBatch, error: String?, _ continuation: StatementBatch.Continuation) {
    batch.continuation = continuation
    guard current === batch, batch.isCopying, let pointer = handle?.pointer else {
      return complete(batch, with: .failure(closedConnectionError))
    }
    batch.isCopying = false
    let limit = Self.nanoseconds(configuration.statementTimeout)
    if limit > 0, batch.cancelReason == nil { setDeadline(of: batch, after: limit) }
    guard PQputCopyEnd(pointer, error) == 1 else {
      return close(with: PostgresError(.connectionLost, connection: pointer))
    }
    flush()
    if batch.isCancelled { cancel(batch, reason: .cancelled) }
    if !isClosed { drain(pointer) }
  }
}

/// Collects chunks into pieces that are large enough to send.
struct CopySender {
  private static let pieceSize = 64 * 1024

  let connection: PostgresConnection
  let batch: StatementBatch
  private var buffer: [UInt8] = []

  init(connection: PostgresConnection, batch: StatementBatch) {
    self.connection = connection
    self.batch = batch
  }

  mutating func send(_ chunk: some ContiguousBytes) async throws {
    chunk.withUnsafeBytes { buffer.append(contentsOf: $0) }
    if buffer.count >= Self.pieceSize { try await flush() }
  }

  mutating func flush() async throws {
    if Task.isCancelled { throw PostgresError.cancelled }
    if buffer.isEmpty { return }
    let piece = buffer
    buffer = []
    buffer.reserveCapacity(Self.pieceSize + Self.pieceSize / 4)
    try await connection.sendCopyData(piece, of: batch)
  }
}
