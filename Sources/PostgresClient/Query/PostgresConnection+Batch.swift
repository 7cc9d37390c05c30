import CLibPQ
import Dispatch
import Synchronization

/// Runs batches one after the other.
extension PostgresConnection {
  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  func start(_ batch: StatementBatch) {
    if isClosed || handle == nil {
      var error = closedConnectionError
      error.nothingSent = true
      return complete(batch, with: .failure(error))
    }
    if batch.isCancelled, !batch.isShielded {
      return complete(batch, with: .failure(.cancelled))
    }
    if current == nil { begin(batch) } else { pending.append(batch) }
  }

  /// The error for statements after the end of the session, with the server's message if there was one.
  var closedConnectionError: PostgresError {
    var error = closeReason ?? PostgresError(.connectionLost, "the connection is not open")
    error.code = .connectionLost
    return error
  }

  private func begin(_ batch: StatementBatch) {
    guard let pointer = handle?.pointer else { return }
    current = batch
    batch.startedInTransaction = PQtransactionStatus(pointer) != PQTRANS_IDLE
    activity.store(.busy, ordering: .releasing)
    let limit = Self.nanoseconds(configuration.statementTimeout)
    if limit > 0 {
      // The server's own timeout ends a shielded batch first, with a definite answer.
      setDeadline(of: batch, after: batch.isShielded ? limit + Self.shieldedTimeoutMargin : limit)
    }
    if send(batch, on: pointer) {
      flush()
    } else {
      close(with: PostgresError(.connectionLost, connection: pointer))
    }
  }

  /// Reads the data that has arrived, and processes it.
  func receive() {
    guard let pointer = handle?.pointer, !isClosed else { return }
    var isAlive = EncryptedInput.consume(pointer)
    if isAlive, writeWatch != nil {
      flush()
      if isClosed { return }
      // If the socket accepts no more data, libpq reads while it writes.
      isAlive = EncryptedInput.consume(pointer)
    }
    drain(pointer)
    if isClosed { return }
    deliverNotifications(pointer)
    if !isAlive || PQstatus(pointer) == CONNECTION_BAD { closeWithSessionEndError(pointer) }
  }

  /// Ends the session with the server's last error message, if there is one.
  func closeWithSessionEndError(_ pointer: OpaquePointer) {
    if let batch = current, batch.isCopying {
      // libpq checks for errors only after the end of the data.
      batch.isCopying = false
      PQputCopyEnd(pointer, "the connection has ended")
    }
    drain(pointer)
    // If draining closed the session, the pointer is no longer valid.
    if isClosed { return }
    close(with: handle?.sessionEndError ?? PostgresError(.connectionLost, connection: pointer))
  }

  /// Processes all results that have arrived. `PQgetResult` never blocks here, because `PQisBusy` is checked before.
  func drain(_ pointer: OpaquePointer) {
    var isRepeatedEnd = false
    while let batch = current, !batch.isAnswered, !batch.isCopying, PQisBusy(pointer) == 0 {
      guard let result = PQgetResult(pointer) else {
        if !batch.isPipeline {
          batch.isAnswered = true
          finish(batch, on: pointer)
        } else if isRepeatedEnd {
          return close(with: PostgresError(.protocolViolation, "the server sent fewer results than statements"))
        }
        isRepeatedEnd = true
        continue
      }
      isRepeatedEnd = false
      process(ResultHandle(result), for: batch, on: pointer)
      if isClosed { return }
    }
  }

  private func process(_ result: ResultHandle, for batch: StatementBatch, on pointer: OpaquePointer) {
    switch PQresultStatus(result.pointer) {
    case PGRES_PIPELINE_SYNC:
      batch.isAnswered = true
      finish(batch, on: pointer)
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      batch.isPipeline ? processStep(result, for: batch) : batch.results.append(PostgresRows(result: result))
    case PGRES_PIPELINE_ABORTED:
      break
    case PGRES_COPY_IN:
      startCopying(batch, on: pointer)
    case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR:
      fail(batch, with: PostgresError(result: result.pointer))
    default:
      close(with: PostgresError(.protocolViolation, "the result is not that of a query: COPY TO is not supported"))
    }
  }

  private func processStep(_ result: ResultHandle, for batch: StatementBatch) {
    guard batch.nextStep < batch.steps.count else {
      return close(with: PostgresError(.protocolViolation, "the server sent more results than statements"))
    }
    switch batch.steps[batch.nextStep] {
    case .query:
      batch.results.append(PostgresRows(result: result))
    case .commit:
      // COMMIT of a failed transaction is no error for the server. Its command tag names what was done instead.
      if let tag = PQcmdStatus(result.pointer), String(cString: tag) != "COMMIT" {
        batch.failure = PostgresError(.transactionRolledBack, "COMMIT was answered with \(String(cString: tag))")
      }
    case .prepare, .deallocate, .begin:
      break
    }
    batch.nextStep += 1
  }

  private func fail(_ batch: StatementBatch, with error: PostgresError) {
    if batch.failure == nil { batch.failure = error }
    // Statements that the server did not prepare, because of this error or after it, must not count as prepared.
    for step in batch.steps.dropFirst(batch.nextStep) {
      switch step {
      case .prepare(let key): statements.removeUnprepared(key)
      case .deallocate(let name): statements.requeueForDeallocation(name)
      case .query, .begin, .commit: break
      }
    }
    if error.sqlState == "26000" { statements.removeAll() }
    if error.isFatal { close(with: error) }
  }

  /// Ends a batch whose answers have all arrived, and starts the next one. Both wait for a cancel request that is
  /// still on its way.
  func finish(_ batch: StatementBatch, on pointer: OpaquePointer) {
    if batch.isCancelRequestPending { return }
    current = nil
    if let failure = batch.failure, failure.isStaleStatement {
      evictStatements(of: batch)
      if isRestartable(batch, on: pointer) {
        batch.resetForRetry()
        return begin(batch)
      }
    }
    lastAnswer.store(Self.now, ordering: .relaxed)
    let isIdle = PQtransactionStatus(pointer) == PQTRANS_IDLE
    activity.store(isIdle ? .idle : .inTransaction, ordering: .releasing)
    if var failure = batch.failure {
      if let code = batch.cancelReason, failure.sqlState == "57014" { failure.code = code }
      complete(batch, with: .failure(failure))
    } else {
      complete(batch, with: .success(batch.results))
    }
    while current == nil, !pending.isEmpty {
      start(pending.removeFirst())
    }
  }

  private func evictStatements(of batch: StatementBatch) {
    guard case .pipeline(let queries) = batch.kind else { return }
    for query in queries {
      statements.evict(StatementCache.Key(sql: query.sql, types: query.types))
    }
  }

  /// Whether the batch can run again: everything before the failure was undone with the implicit transaction of the
  /// pipeline.
  private func isRestartable(_ batch: StatementBatch, on pointer: OpaquePointer) -> Bool {
    guard !batch.isRetry, !batch.startedInTransaction, batch.transaction == nil, !batch.isCancelled,
      PQtransactionStatus(pointer) == PQTRANS_IDLE
    else { return false }
    return batch.results.allSatisfy(\.isOfTransactionalStatement)
  }

  /// Ends the session. All outstanding batches fail.
  func close(with error: PostgresError) {
    if isClosed { return }
    closeReason = error
    activity.store(.closed, ordering: .releasing)
    polledSocket.withLock { $0 = nil }
    connectWatch = nil
    timer?.cancel()
    timer = nil
    writeWatch = nil
    handle = nil
    flushWaiter.take()?.resume(throwing: error)
    let batches = pending
    pending = []
    if let batch = current.take() { complete(batch, with: .failure(lossError(of: batch, closedWith: error))) }
    for batch in batches {
      var error = error
      error.nothingSent = true
      complete(batch, with: .failure(error))
    }
    closeHandler?()
  }

  private func lossError(of batch: StatementBatch, closedWith error: PostgresError) -> PostgresError {
    if let failure = batch.failure, !failure.isFatal { return failure }
    var result = batch.failure ?? error
    if batch.commits, batch.isSent {
      result.code = .commitOutcomeUnknown
    } else if let cancelReason = batch.cancelReason {
      result.code = cancelReason
    }
    result.nothingSent = !batch.isSent
    return result
  }

  private func deliverNotifications(_ pointer: OpaquePointer) {
    while let notification = PQnotifies(pointer) {
      notificationHandler?(String(cString: notification.pointee.extra), notification.pointee.be_pid)
      PQfreemem(notification)
    }
  }
}

extension PostgresRows {
  /// Whether the statement takes part in the implicit transaction of a pipeline.
  fileprivate var isOfTransactionalStatement: Bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"].contains { commandTag.hasPrefix($0) }
  }
}
