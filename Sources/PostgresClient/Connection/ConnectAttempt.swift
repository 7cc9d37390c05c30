import Dispatch
import Synchronization

/// A pending attempt to connect. The first of success, failure, deadline and cancellation ends it.
///
/// The deadline has a queue of its own, because name resolution blocks that of the connection.
final class ConnectAttempt: Sendable {
  private static let queue = DispatchQueue(label: "tidings.postgres.connect-deadlines")
  private let continuation = Mutex<CheckedContinuation<Void, any Error>?>(nil)
  private let hasEnded = Atomic<Bool>(false)

  var isPending: Bool { !hasEnded.load(ordering: .acquiring) }

  func begin(_ continuation: CheckedContinuation<Void, any Error>, timeout: UInt64) {
    self.continuation.withLock { $0 = continuation }
    // The attempt was cancelled before it began.
    if !isPending { return resume(.failure(.cancelled)) }
    Self.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(timeout))) { [weak self] in
      self?.finish(.failure(PostgresError(.connectTimedOut, "no connection was made within connectTimeout")))
    }
  }

  /// Ends the attempt, unless it has ended already.
  ///
  /// - Returns: Whether this call ended it.
  @discardableResult
  func finish(_ result: Result<Void, PostgresError>) -> Bool {
    guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    resume(result)
    return true
  }

  private func resume(_ result: Result<Void, PostgresError>) {
    let continuation = continuation.withLock { $0.take() }
    switch result {
    case .success: continuation?.resume()
    case .failure(let error): continuation?.resume(throwing: error)
    }
  }
}
