import CLibPQ
import Dispatch
import Foundation

/// Deadlines, and cancelling on the server.
extension PostgresConnection {
  /// How long the server may take to react to a cancel before the connection is given up.
  static let cancelGrace: UInt64 = 3_000_000_000
  /// After which time without an answer the cancel is sent once more.
  private static let cancelInterval = DispatchTimeInterval.milliseconds(100)
  /// By how much the server's `statement_timeout` is above ours.
  static let backstop: UInt64 = 1_000_000_000
  /// How much longer than the limit COMMIT may take before its outcome is reported as unknown.
  static let shieldedGrace: UInt64 = 5_000_000_000

  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 1_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }

  /// Ends an exchange before its time.
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
    // It blocks for as long as the server is at a standstill. The threads of Dispatch are those of Swift's tasks on Linux.
    Thread.detachNewThread { [self] in
      cancel.send()
      onQueue { $0.cancelReturned(exchange) }
    }
  }

  /// The server has seen the cancel: what is sent from now on is safe from it.
  private func cancelReturned(_ exchange: Exchange) {
    exchange.isCancelling = false
    guard current === exchange, let pointer = handle?.pointer else { return }
    if exchange.isAnswered { return finish(exchange, on: pointer) }
    // A busy server may have seen it before the statement, and it is then forgotten.
    executor.queue.asyncAfter(deadline: .now() + Self.cancelInterval, execute: handler { $0.sendCancel(exchange) })
  }

  /// Sets the deadline of the current exchange.
  func arm(_ exchange: Exchange, after delay: UInt64) {
    exchange.deadline = Self.now &+ delay
    schedule(exchange.deadline)
  }

  /// One timer for all: mostly it goes off to find that the exchange it was set for is long done.
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
/// Sendable because `PQcancel` only reads it and may be called from any thread (PostgreSQL 15, 34.7).
private final class CancelHandle: @unchecked Sendable {
  private let pointer: OpaquePointer

  init?(_ connection: ConnectionHandle) {
    guard let pointer = PQgetCancel(connection.pointer) else { return nil }
    self.pointer = pointer
  }

  deinit {
    PQfreeCancel(pointer)
  }

  /// Blocks until the server has closed the connection that the request is made by. A failure shows in that the
  /// statement does not end.
  func send() {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      _ = PQcancel(pointer, message.baseAddress, Int32(message.count))
    }
  }
}
