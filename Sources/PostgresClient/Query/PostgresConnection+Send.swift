import CLibPQ
import Dispatch
import Synchronization

/// Writes batches to libpq's buffer, and the buffer to the socket.
extension PostgresConnection {
  /// Writes a batch to libpq's buffer.
  ///
  /// - Returns: False if libpq refuses it, which happens for a broken connection only.
  func send(_ batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    switch batch.kind {
    case .simple(let text, _):
      guard PQexitPipelineMode(pointer) == 1 else { return false }
      batch.isSent = true
      return PQsendQuery(pointer, text) == 1
    case .pipeline(let queries):
      guard PQenterPipelineMode(pointer) == 1 else { return false }
      batch.isSent = true
      return sendPipeline(queries, of: batch, on: pointer) && PQpipelineSync(pointer) == 1
    }
  }

  private func sendPipeline(_ queries: [PostgresQuery], of batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    // In a failed transaction the server rejects everything but its end, DEALLOCATE included.
    let prepares = configuration.preparesStatements && PQtransactionStatus(pointer) != PQTRANS_INERROR
    if let transaction = batch.transaction, !transaction.hasBegun.load(ordering: .relaxed) {
      transaction.hasBegun.store(true, ordering: .relaxed)
      batch.steps.append(.begin)
      guard sendUnprepared("BEGIN ISOLATION LEVEL READ COMMITTED", on: pointer) else { return false }
    }
    for query in queries {
      guard
        prepares && !query.isTransactionControl
          ? sendPrepared(query, of: batch, on: pointer)
          : sendUnprepared(query, on: pointer)
      else { return false }
      batch.steps.append(.query)
    }
    if batch.commits {
      batch.steps.append(.commit)
      guard sendUnprepared("COMMIT", on: pointer) else { return false }
    }
    return true
  }

  private func sendUnprepared(_ query: PostgresQuery, on pointer: OpaquePointer) -> Bool {
    query.withParameters { values, lengths, formats in
      PQsendQueryParams(
        pointer, query.sql, Int32(query.types.count), query.types, values, lengths, formats, 1) == 1
    }
  }

  /// Sends a query as a prepared statement. A new one is prepared in the same round trip.
  private func sendPrepared(_ query: PostgresQuery, of batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    let key = StatementCache.Key(sql: query.sql, types: query.types)
    let name: String
    if let known = statements.name(for: key) {
      name = known
    } else {
      name = statements.insert(key)
      for evicted in statements.takeEvicted() {
        batch.steps.append(.deallocate(evicted))
        guard sendUnprepared(PostgresQuery(unsafeSQL: "DEALLOCATE \(evicted)"), on: pointer) else { return false }
      }
      batch.steps.append(.prepare(key))
      guard PQsendPrepare(pointer, name, query.sql, Int32(query.types.count), query.types) == 1 else { return false }
    }
    return query.withParameters { values, lengths, formats in
      PQsendQueryPrepared(pointer, name, Int32(query.types.count), values, lengths, formats, 1) == 1
    }
  }

  /// Writes as much as the socket accepts, and the rest once it is writable (PostgreSQL 15, 34.4, `PQflush`).
  func flush() {
    guard let pointer = handle?.pointer, !isClosed else { return }
    switch PQflush(pointer) {
    case 0:
      writeWatch = nil
      flushWaiter.take()?.resume()
    case 1:
      writeWatch = handle?.watchOnce(for: .writable, queueHandler { $0.flush() })
    default:
      // The server's last error message may still be unread.
      _ = EncryptedInput.consume(pointer)
      closeWithSessionEndError(pointer)
    }
  }
}

extension PostgresQuery {
  /// Whether the query is a transaction command. It is not worth preparing, and must work in a failed transaction too.
  fileprivate var isTransactionControl: Bool {
    sql == "ROLLBACK" || sql == "COMMIT" || sql == PostgresConnection.beginSnapshot
  }
}
