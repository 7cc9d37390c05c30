import Synchronization

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
