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
    let exchange = Exchange(.simple(query.sql, copies: true))
    return try await copyIn(exchange) { sender in
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
    let exchange = Exchange(.simple(query.sql, copies: true))
    return try await copyIn(exchange) { sender in
      for chunk in rows {
        try await sender.send(chunk)
      }
    }
  }

  /// Runs a COPY without the server's `statement_timeout`, which would apply to the COPY as a whole, however slowly the
  /// caller's data arrives.
  private nonisolated func copyIn(
    _ exchange: Exchange, _ feed: (inout CopySender) async throws -> Void
  ) async throws -> Int {
    let limit = configuration.preparesStatements ? Self.nanoseconds(configuration.statementTimeout) : 0
    if limit > 0 { _ = try await query("SET statement_timeout = 0") }
    do {
      let count = try await copyUnlimited(exchange, feed)
      if limit > 0 { try await restoreStatementTimeout() }
      return count
    } catch {
      // Inside a transaction, the rollback restores the setting.
      if limit > 0, activity.load(ordering: .acquiring) == .idle { try? await restoreStatementTimeout() }
      throw error
    }
  }

  private nonisolated func restoreStatementTimeout() async throws {
    let milliseconds = (Self.nanoseconds(configuration.statementTimeout) + Self.backstop) / 1_000_000
    let query = PostgresQuery(unsafeSQL: "SET statement_timeout = \(milliseconds)")
    _ = try await single(Exchange(.pipeline([query]), isShielded: true))
  }

  private nonisolated func copyUnlimited(
    _ exchange: Exchange, _ feed: (inout CopySender) async throws -> Void
  ) async throws -> Int {
    _ = try await perform(exchange)
    var sender = CopySender(connection: self, exchange: exchange)
    do {
      try await feed(&sender)
      try await sender.flush()
      if Task.isCancelled { throw PostgresError.cancelled }
    } catch {
      await abort(exchange)
      throw error is CancellationError ? PostgresError.cancelled : error
    }
    return try await finishCopy(exchange, error: nil).last?.affected ?? 0
  }

  /// Ends a failed COPY and reads the server's answer, even if the task is cancelled.
  private nonisolated func abort(_ exchange: Exchange) async {
    await Task { _ = try? await finishCopy(exchange, error: "the data ended with an error") }.value
  }

  func startCopying(_ exchange: Exchange, on pointer: OpaquePointer) {
    guard case .simple(_, copies: true) = exchange.kind else {
      // The caller did not request COPY. The data is refused, and the server answers with an error.
      PQputCopyEnd(pointer, "no data was expected")
      return flush()
    }
    exchange.isCopying = true
    exchange.deadline = .max
    complete(exchange, with: .success([]))
  }

  /// Sends a piece of data and returns once the socket has accepted it.
  nonisolated func put(_ bytes: [UInt8], of exchange: Exchange) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        onQueue { $0.put(bytes, of: exchange, continuation) }
      }
    } onCancel: {
      onQueue { $0.interruptCopy(exchange) }
    }
  }

  private func put(
    _ bytes: [UInt8], of exchange: Exchange, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    guard current === exchange, exchange.isCopying, let pointer = handle?.pointer else {
      return continuation.resume(throwing: hasEndedError)
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
    if flushWaiter != nil, limit > 0 { arm(exchange, after: limit) } else { exchange.deadline = .max }
  }

  /// Cancels a COPY whose data the server does not accept, perhaps because it waits for a lock.
  private func interruptCopy(_ exchange: Exchange) {
    if flushWaiter != nil { interrupt(exchange, because: .cancelled) }
  }

  private nonisolated func finishCopy(_ exchange: Exchange, error: String?) async throws -> [PostgresRows] {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        onQueue { $0.endCopy(exchange, error: error, continuation) }
      }
    } onCancel: {
      exchange.isCancelled = true
      onQueue { $0.interrupt(exchange, because: .cancelled) }
    }
  }

  private func endCopy(_ exchange: Exchange, error: String?, _ continuation: Exchange.Continuation) {
    exchange.continuation = continuation
    guard current === exchange, exchange.isCopying, let pointer = handle?.pointer else {
      return complete(exchange, with: .failure(hasEndedError))
    }
    exchange.isCopying = false
    let limit = Self.nanoseconds(configuration.statementTimeout)
    if limit > 0, exchange.interruption == nil { arm(exchange, after: limit) }
    guard PQputCopyEnd(pointer, error) == 1 else {
      return close(with: PostgresError(.connectionLost, connection: pointer))
    }
    flush()
    if exchange.isCancelled { interrupt(exchange, because: .cancelled) }
    if !isClosed { drain(pointer) }
  }
}

/// Collects chunks into pieces that are large enough to send.
struct CopySender {
  private static let size = 64 * 1024

  let connection: PostgresConnection
  let exchange: Exchange
  private var buffer: [UInt8] = []

  init(connection: PostgresConnection, exchange: Exchange) {
    self.connection = connection
    self.exchange = exchange
  }

  mutating func send(_ chunk: some ContiguousBytes) async throws {
    chunk.withUnsafeBytes { buffer.append(contentsOf: $0) }
    if buffer.count >= Self.size { try await flush() }
  }

  mutating func flush() async throws {
    if Task.isCancelled { throw PostgresError.cancelled }
    if buffer.isEmpty { return }
    let piece = buffer
    buffer = []
    buffer.reserveCapacity(Self.size + Self.size / 4)
    try await connection.put(piece, of: exchange)
  }
}
