import PostgresClient
import Synchronization

/// Limits how many operations run at a time. Further callers wait, those of a party (`QueueParty`) in the order of their
/// arrival and parties in turn, in a bounded queue and up to a timeout, so that reads never take all connections to the database from writes and key look-ups.
///
///     let reads = ConcurrencyLimiter(limit: 6)
///     let page = try await reads.run { try await store.items(query) }
package final class ConcurrencyLimiter: Sendable {
  private typealias Waiter = CheckedContinuation<Void, any Error>

  private struct State {
    var running = 0
    var waiters = FairQueue<Int, Waiter>()
    var lastNumber = 0
    var refused = 0
  }

  private enum Admission {
    case admitted, queued, refused
  }

  private let state = Mutex(State())
  private let limit: Int
  private let maximumWaiters: Int
  private let timeout: Duration
  private let parent: ConcurrencyLimiter?

  /// - Parameters:
  ///   - limit: The maximum number of operations at a time, 1 or more.
  ///   - maximumWaiters: The maximum number of waiting callers of a party. The default is more than a database can serve within the
  ///     timeout, so that it bounds memory only: otherwise a client with many connections would keep the queue full, and
  ///     all others out.
  ///   - timeout: The maximum wait in the queue.
  ///   - parent: A limiter that every operation has to pass as well.
  package init(
    limit: Int, maximumWaiters: Int = 8192, timeout: Duration = .seconds(5), within parent: ConcurrencyLimiter? = nil
  ) {
    self.limit = limit
    self.maximumWaiters = maximumWaiters
    self.timeout = timeout
    self.parent = parent
  }

  /// The number of callers in the queue.
  package var waiting: Int { usage.waiting }

  /// The number of running operations, of callers in the queue, and of those refused so far because the queue was full
  /// or took too long.
  package var usage: (running: Int, waiting: Int, refused: Int) {
    state.withLock { ($0.running, $0.waiters.count, $0.refused) }
  }

  /// Runs an operation once there is room for it.
  ///
  /// - Throws: `StoreError.unavailable` if the queue is full or the timeout has passed, `CancellationError` if the caller
  ///   is cancelled in the queue, and what the operation throws.
  package func run<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
    try await acquire()
    defer { release() }
    guard let parent else { return try await operation() }
    return try await parent.run(operation)
  }

  private func acquire() async throws {
    let party = QueueParty.current
    let number = state.withLock { state -> Int? in
      if state.running < limit {
        state.running += 1
        return nil
      }
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return }
    try await Deadlines.shared.wait(atMost: timeout) { error in
      self.remove(number, throwing: error)
    } begin: { continuation in
      switch enqueue(continuation, number, party) {
      case .admitted: continuation.resume()
      case .refused: continuation.resume(throwing: StoreError.unavailable)
      case .queued: break
      }
    }
  }

  private func enqueue(_ waiter: Waiter, _ number: Int, _ party: String?) -> Admission {
    state.withLock { state in
      // An operation may have ended since the first look.
      if state.running < limit {
        state.running += 1
        return .admitted
      }
      guard state.waiters.count(of: party) < maximumWaiters else {
        state.refused += 1
        return .refused
      }
      state.waiters.append(waiter, id: number, of: party)
      return .queued
    }
  }

  private func remove(_ number: Int, throwing error: any Error) {
    let waiter = state.withLock { state -> Waiter? in
      guard let waiter = state.waiters.remove(number) else { return nil }
      if error is StoreError { state.refused += 1 }
      return waiter
    }
    waiter?.resume(throwing: error)
  }

  /// Passes the place on to the first waiter.
  private func release() {
    let next = state.withLock { state -> Waiter? in
      if let next = state.waiters.popFirst() { return next.element }
      state.running -= 1
      return nil
    }
    next?.resume()
  }
}
