import CLibPQ
import Dispatch
import Foundation

/// Deadlines, and query cancellation on the server.
extension PostgresConnection {
  /// The nanoseconds in which the server must react to a cancel request before the connection is closed.
  static let cancelTimeout: UInt64 = 3_000_000_000
  /// The time without an answer after which the cancel request is repeated.
  private static let cancelRetryInterval = DispatchTimeInterval.milliseconds(100)
  /// The nanoseconds by which the server's `statement_timeout` exceeds the client's.
  static let serverTimeoutMargin: UInt64 = 1_000_000_000
  /// The nanoseconds beyond `statementTimeout` after which the outcome of COMMIT is reported as unknown.
  static let shieldedTimeoutMargin: UInt64 = 5_000_000_000

  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 1_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// Removes a batch from the queue, or cancels it on the server. Shielded batches continue.
  func cancel(_ batch: StatementBatch, reason code: PostgresError.Code) {
    if batch.isShielded { return }
    if let index = pending.firstIndex(where: { $0 === batch }) {
      pending.remove(at: index)
      return complete(batch, with: .failure(.cancelled))
    }
    guard current === batch, batch.cancelReason == nil else { return }
    batch.cancelReason = code
    setDeadline(of: batch, after: Self.cancelTimeout)
    sendCancelRequest(batch)
  }

  private func sendCancelRequest(_ batch: StatementBatch) {
    guard current === batch, !batch.isAnswered, let handle, let request = CancelHandle(handle) else { return }
    batch.isCancelRequestPending = true
    // The request blocks while the server does not respond. It has a thread of its own, because Dispatch shares its
    // threads with Swift's tasks on Linux.
    Thread.detachNewThread { [self] in
      request.send()
      onQueue { $0.cancelRequestReturned(batch) }
    }
  }

  /// Continues after the server has processed the cancel request, which cannot affect statements sent from now on.
  private func cancelRequestReturned(_ batch: StatementBatch) {
    batch.isCancelRequestPending = false
    guard current === batch, let pointer = handle?.pointer else { return }
    if batch.isAnswered { return finish(batch, on: pointer) }
    // A busy server may process the request before the statement. The request then has no effect.
    let retry = handler { $0.sendCancelRequest(batch) }
    executor.queue.asyncAfter(deadline: .now() + Self.cancelRetryInterval, execute: retry)
  }

  /// Sets the deadline of the current batch.
  ///
  /// - Parameter delay: The time from now in nanoseconds.
  func setDeadline(of batch: StatementBatch, after delay: UInt64) {
    batch.deadline = Self.now &+ delay
    scheduleTimer(at: batch.deadline)
  }

  /// Sets the timer that all batches share. Usually, the batch has ended long before the timer fires.
  private func scheduleTimer(at deadline: UInt64) {
    if timerDeadline <= deadline { return }
    timerDeadline = deadline
    if timer == nil {
      let timer = DispatchSource.makeTimerSource(queue: executor.queue)
      timer.setEventHandler(handler: handler { $0.checkDeadline() })
      timer.activate()
      self.timer = timer
    }
    timer?.schedule(deadline: DispatchTime(uptimeNanoseconds: deadline), leeway: .milliseconds(1))
  }

  private func checkDeadline() {
    timerDeadline = .max
    guard let batch = current, batch.deadline != .max else { return }
    if Self.now < batch.deadline { return scheduleTimer(at: batch.deadline) }
    if batch.isShielded || batch.cancelReason != nil {
      close(with: PostgresError(.connectionLost, "the server did not answer within the timeout"))
    } else {
      cancel(batch, reason: .statementTimedOut)
    }
  }
}

/// Owns one `PGcancel`.
///
/// It is sendable because `PQcancel` only reads it and may be called from any thread (PostgreSQL 15, 34.7).
private final class CancelHandle: @unchecked Sendable {
  private let pointer: OpaquePointer

  init?(_ connection: ConnectionHandle) {
    guard let pointer = PQgetCancel(connection.pointer) else { return nil }
    self.pointer = pointer
  }

  deinit {
    PQfreeCancel(pointer)
  }

  /// Sends the request and blocks until the server has closed the connection used for it. A failure is not reported:
  /// the statement then continues, and the request is repeated.
  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      _ = PQcancel(pointer, message.baseAddress, Int32(message.count))
    }
  }
}
