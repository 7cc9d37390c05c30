import CLibPQ
import Dispatch
import Foundation

/// Deadlines, and query cancellation on the server.
extension PostgresConnection {
  /// The nanoseconds in which the server must react to a cancel request before the connection is closed.
  static let cancelGrace: UInt64 = 3_000_000_000
  /// The time without an answer after which the cancel request is repeated.
  private static let cancelInterval = DispatchTimeInterval.milliseconds(100)
  /// The nanoseconds by which the server's `statement_timeout` exceeds the client's.
  static let backstop: UInt64 = 1_000_000_000
  /// The nanoseconds beyond `statementTimeout` after which the outcome of COMMIT is reported as unknown.
  static let shieldedGrace: UInt64 = 5_000_000_000

  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 1_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// Removes an exchange from the queue, or cancels it on the server. Shielded exchanges continue.
  func interrupt(_ exchange: Exchange, because code: PostgresError.Code) {
    if exchange.isShielded { return }
    if let index = pending.firstIndex(where: { $0 === exchange }) {
      pending.remove(at: index)
      return complete(exchange, with: .failure(.cancelled))
    }
    guard current === exchange, exchange.interruption == nil else { return }
    exchange.interruption = code
    arm(exchange, after: Self.cancelGrace)
    sendCancel(exchange)
  }

  private func sendCancel(_ exchange: Exchange) {
    guard current === exchange, !exchange.isAnswered, let handle, let cancel = CancelHandle(handle) else { return }
    exchange.isCancelling = true
    // The request blocks while the server is at a standstill. It has a thread of its own, because Dispatch shares its
    // threads with Swift's tasks on Linux.
    Thread.detachNewThread { [self] in
      cancel.send()
      onQueue { $0.cancelReturned(exchange) }
    }
  }

  /// Continues after the server has seen the cancel request, which cannot hit anything sent from now on.
  private func cancelReturned(_ exchange: Exchange) {
    exchange.isCancelling = false
    guard current === exchange, let pointer = handle?.pointer else { return }
    if exchange.isAnswered { return finish(exchange, on: pointer) }
    // A busy server may see the request before the statement and then forgets it.
    executor.queue.asyncAfter(deadline: .now() + Self.cancelInterval, execute: handler { $0.sendCancel(exchange) })
  }

  /// Sets the deadline of the current exchange.
  ///
  /// - Parameter delay: The time from now in nanoseconds.
  func arm(_ exchange: Exchange, after delay: UInt64) {
    exchange.deadline = Self.now &+ delay
    schedule(exchange.deadline)
  }

  /// Sets the timer that all exchanges share. Usually its exchange has ended long before it fires.
  private func schedule(_ due: UInt64) {
    if timerDue <= due { return }
    timerDue = due
    if timer == nil {
      let timer = DispatchSource.makeTimerSource(queue: executor.queue)
      timer.setEventHandler(handler: handler { $0.checkDeadline() })
      timer.activate()
      self.timer = timer
    }
    timer?.schedule(deadline: DispatchTime(uptimeNanoseconds: due), leeway: .milliseconds(1))
  }

  private func checkDeadline() {
    timerDue = .max
    guard let exchange = current, exchange.deadline != .max else { return }
    if Self.now < exchange.deadline { return schedule(exchange.deadline) }
    if exchange.isShielded || exchange.interruption != nil {
      close(with: PostgresError(.connectionLost, "the server did not answer in time"))
    } else {
      interrupt(exchange, because: .statementTimedOut)
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

  /// Sends the request and blocks until the server has closed the connection used for it. A failure is not reported;
  /// the statement then does not end.
  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      _ = PQcancel(pointer, message.baseAddress, Int32(message.count))
    }
  }
}
