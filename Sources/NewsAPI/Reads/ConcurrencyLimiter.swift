import NIOCore
import NewsStore
import Synchronization

/// Limits how many operations run at a time. Further callers wait in the order of their arrival, in a bounded queue and
/// up to a timeout, so that reads never take all connections to the database from writes and key look-ups.
///
///     let reads = ConcurrencyLimiter(limit: 6)
///     let page = try await reads.run { try await store.items(query) }
package final class ConcurrencyLimiter: Sendable {
  private struct Waiter {
    let id: Int
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var running = 0
    var waiters = CircularBuffer<Waiter>()
    var lastID = 0
  }

  private enum Admission {
    case admitted, queued
    case refused(any Error)
  }

  private let state = Mutex(State())
  private let limit: Int
  private let maximumWaiters: Int
  private let timeout: Duration
  private let parent: ConcurrencyLimiter?

  /// - Parameters:
  ///   - limit: The maximum number of operations at a time, 1 or more.
  ///   - maximumWaiters: The maximum length of the queue. The default is more than a database can serve within the
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
  package var waiting: Int { state.withLock { $0.waiters.count } }

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
    let id = try state.withLock { state -> Int? in
      if state.running < limit {
        state.running += 1
        return nil
      }
      guard state.waiters.count < maximumWaiters else { throw StoreError.unavailable }
      state.lastID += 1
      return state.lastID
    }
    guard let id else { return }
    let deadline = Deadlines.shared.set(after: timeout) { self.removeWaiter(id, throwing: StoreError.unavailable) }
    defer { Deadlines.shared.cancel(deadline) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        switch enqueue(Waiter(id: id, continuation: continuation)) {
        case .admitted: continuation.resume()
        case .refused(let error): continuation.resume(throwing: error)
        // The handler may have run before there was anything to remove.
        case .queued: if Task.isCancelled { removeWaiter(id, throwing: CancellationError()) }
        }
      }
    } onCancel: {
      removeWaiter(id, throwing: CancellationError())
    }
  }

  private func enqueue(_ waiter: Waiter) -> Admission {
    state.withLock { state in
      // An operation may have ended since the first look.
      if state.running < limit {
        state.running += 1
        return .admitted
      }
      guard state.waiters.count < maximumWaiters else { return .refused(StoreError.unavailable) }
      state.waiters.append(waiter)
      return .queued
    }
  }

  private func removeWaiter(_ id: Int, throwing error: any Error) {
    let waiter = state.withLock { state in
      state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
    }
    waiter?.continuation.resume(throwing: error)
  }

  /// Passes the place on to the first waiter.
  private func release() {
    let next = state.withLock { state -> Waiter? in
      if let next = state.waiters.popFirst() { return next }
      state.running -= 1
      return nil
    }
    next?.continuation.resume()
  }
}
