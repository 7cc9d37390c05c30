import CLibPQ
import Dispatch
import Synchronization

/// Runs exchanges one after the other.
extension PostgresConnection {
  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  func start(_ exchange: Exchange) {
    if isClosed || handle == nil {
      var error = hasEndedError
      error.nothingSent = true
      return complete(exchange, with: .failure(error))
    }
    if exchange.isCancelled, !exchange.isShielded {
      return complete(exchange, with: .failure(.cancelled))
    }
    if current == nil { begin(exchange) } else { pending.append(exchange) }
  }

  /// The error for statements after the end of the session, with the server's message if there was one.
  var hasEndedError: PostgresError {
    var error = end ?? PostgresError(.connectionLost, "there is no connection")
    error.code = .connectionLost
    return error
  }

  private func begin(_ exchange: Exchange) {
    guard let pointer = handle?.pointer else { return }
    current = exchange
    exchange.startedInTransaction = PQtransactionStatus(pointer) != PQTRANS_IDLE
    activity.store(.busy, ordering: .releasing)
    let limit = Self.nanoseconds(configuration.statementTimeout)
    if limit > 0 {
      // The server's own timeout ends a shielded exchange first, with a definite answer.
      arm(exchange, after: exchange.isShielded ? limit + Self.shieldedGrace : limit)
    }
    if send(exchange, on: pointer) {
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
    if !isAlive || PQstatus(pointer) == CONNECTION_BAD { closeWithLastWords(pointer) }
  }

  /// Ends the session with the server's last error message, if there is one.
  func closeWithLastWords(_ pointer: OpaquePointer) {
    if let exchange = current, exchange.isCopying {
      // libpq checks for errors only after the end of the data.
      exchange.isCopying = false
      PQputCopyEnd(pointer, "the connection has ended")
    }
    drain(pointer)
    // If draining closed the session, the pointer is no longer valid.
    if isClosed { return }
    close(with: handle?.lastWords ?? PostgresError(.connectionLost, connection: pointer))
  }

  /// Processes all results that have arrived. `PQgetResult` never blocks here, because `PQisBusy` is checked before.
  func drain(_ pointer: OpaquePointer) {
    var isRepeatedEnd = false
    while let exchange = current, !exchange.isAnswered, !exchange.isCopying, PQisBusy(pointer) == 0 {
      guard let result = PQgetResult(pointer) else {
        if !exchange.isPipeline {
          exchange.isAnswered = true
          finish(exchange, on: pointer)
        } else if isRepeatedEnd {
          return close(with: PostgresError(.protocolViolation, "fewer results than statements"))
        }
        isRepeatedEnd = true
        continue
      }
      isRepeatedEnd = false
      take(ResultHandle(result), for: exchange, on: pointer)
      if isClosed { return }
    }
  }

  private func take(_ result: ResultHandle, for exchange: Exchange, on pointer: OpaquePointer) {
    switch PQresultStatus(result.pointer) {
    case PGRES_PIPELINE_SYNC:
      exchange.isAnswered = true
      finish(exchange, on: pointer)
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      exchange.isPipeline ? takeStep(result, for: exchange) : exchange.results.append(PostgresRows(result: result))
    case PGRES_PIPELINE_ABORTED:
      break
    case PGRES_COPY_IN:
      startCopying(exchange, on: pointer)
    case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR:
      fail(exchange, with: PostgresError(result: result.pointer))
    default:
      close(with: PostgresError(.protocolViolation, "an answer that no query has, such as that of COPY TO"))
    }
  }

  private func takeStep(_ result: ResultHandle, for exchange: Exchange) {
    guard exchange.nextStep < exchange.steps.count else {
      return close(with: PostgresError(.protocolViolation, "more results than statements"))
    }
    switch exchange.steps[exchange.nextStep] {
    case .query:
      exchange.results.append(PostgresRows(result: result))
    case .commit:
      // COMMIT of a failed transaction is no error for the server. Its command tag names what was done instead.
      if let tag = PQcmdStatus(result.pointer), String(cString: tag) != "COMMIT" {
        exchange.failure = PostgresError(.transactionRolledBack, "COMMIT was answered with \(String(cString: tag))")
      }
    case .prepare, .deallocate, .begin:
      break
    }
    exchange.nextStep += 1
  }

  private func fail(_ exchange: Exchange, with error: PostgresError) {
    if exchange.failure == nil { exchange.failure = error }
    // Statements that the server did not prepare, because of this error or after it, must not count as prepared.
    for step in exchange.steps.dropFirst(exchange.nextStep) {
      switch step {
      case .prepare(let key): statements.removeUnprepared(key)
      case .deallocate(let name): statements.putBack(garbage: name)
      case .query, .begin, .commit: break
      }
    }
    if error.sqlState == "26000" { statements.removeAll() }
    if error.isFatal { close(with: error) }
  }

  /// Ends an exchange whose answers have all arrived, and starts the next one. Both wait for a cancel request that is
  /// still on its way.
  func finish(_ exchange: Exchange, on pointer: OpaquePointer) {
    if exchange.isCancelling { return }
    current = nil
    if let failure = exchange.failure, failure.isStaleStatement {
      forgetStatements(of: exchange)
      if isRestartable(exchange, on: pointer) {
        exchange.rewind()
        return begin(exchange)
      }
    }
    lastAnswer.store(Self.now, ordering: .relaxed)
    let isIdle = PQtransactionStatus(pointer) == PQTRANS_IDLE
    activity.store(isIdle ? .idle : .inTransaction, ordering: .releasing)
    if var failure = exchange.failure {
      if let code = exchange.interruption, failure.sqlState == "57014" { failure.code = code }
      complete(exchange, with: .failure(failure))
    } else {
      complete(exchange, with: .success(exchange.results))
    }
    while current == nil, !pending.isEmpty {
      start(pending.removeFirst())
    }
  }

  private func forgetStatements(of exchange: Exchange) {
    guard case .pipeline(let queries) = exchange.kind else { return }
    for query in queries {
      statements.forget(StatementCache.Key(sql: query.sql, types: query.types))
    }
  }

  /// Whether the exchange can run again: everything before the failure was undone with the implicit transaction of the
  /// pipeline.
  private func isRestartable(_ exchange: Exchange, on pointer: OpaquePointer) -> Bool {
    guard !exchange.isRetry, !exchange.startedInTransaction, exchange.transaction == nil, !exchange.isCancelled,
      PQtransactionStatus(pointer) == PQTRANS_IDLE
    else { return false }
    return exchange.results.allSatisfy(\.isOfTransactionalStatement)
  }

  /// Ends the session. All outstanding exchanges fail.
  func close(with error: PostgresError) {
    if isClosed { return }
    end = error
    activity.store(.closed, ordering: .releasing)
    quietSocket.withLock { $0 = nil }
    connectWatch = nil
    timer?.cancel()
    timer = nil
    writeWatch = nil
    handle = nil
    flushWaiter.take()?.resume(throwing: error)
    let exchanges = pending
    pending = []
    if let exchange = current.take() { complete(exchange, with: .failure(outcome(of: exchange, lostBy: error))) }
    for exchange in exchanges {
      var error = error
      error.nothingSent = true
      complete(exchange, with: .failure(error))
    }
    closeHandler?()
  }

  private func outcome(of exchange: Exchange, lostBy error: PostgresError) -> PostgresError {
    if let failure = exchange.failure, !failure.isFatal { return failure }
    var result = exchange.failure ?? error
    if exchange.commits, exchange.isSent {
      result.code = .commitOutcomeUnknown
    } else if let interruption = exchange.interruption {
      result.code = interruption
    }
    result.nothingSent = !exchange.isSent
    return result
  }

  private func deliverNotifications(_ pointer: OpaquePointer) {
    while let notification = PQnotifies(pointer) {
      notificationHandler?(String(cString: notification.pointee.extra))
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
