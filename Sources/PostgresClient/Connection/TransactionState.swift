import Synchronization

/// How far a transaction has come.
final class TransactionState: Sendable {
  enum Phase {
    case open
    case ended(PostgresError?)
  }

  /// BEGIN has been sent. Written on the connection's queue only.
  let hasBegun = Atomic<Bool>(false)
  private let phase = Mutex(Phase.open)

  /// - Throws: `.transactionEnded`
  func checkOpen() throws {
    guard case .open = phase.withLock({ $0 }) else { throw Self.ended }
  }

  /// From here on nobody else can use the transaction.
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
