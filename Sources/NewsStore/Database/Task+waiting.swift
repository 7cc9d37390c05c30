import Synchronization

extension Task where Failure == any Error {
  /// Waits for the value of a shared task. The task continues after its caller has given up, because others may wait
  /// for it.
  ///
  /// - Parameter limit: The maximum wait.
  /// - Throws: `StoreError.unavailable` after the limit, `CancellationError` after a cancellation of the caller, and
  ///   the error of the task.
  package func value(waitingAtMost limit: Duration) async throws -> Success {
    let waiter = Waiter<Success>()
    let deadline = Deadlines.shared.set(after: limit) { waiter.finish(.failure(StoreError.unavailable)) }
    defer { Deadlines.shared.cancel(deadline) }
    Task<Void, Never> { waiter.finish(await self.result) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter.wait($0) }
    } onCancel: {
      waiter.finish(.failure(_Concurrency.CancellationError()))
    }
  }
}

/// A waiter that resumes its continuation with the first of several results. A result may arrive before the
/// continuation.
private final class Waiter<Value: Sendable>: Sendable {
  private enum State {
    case pending
    case waiting(CheckedContinuation<Value, any Error>)
    case early(Result<Value, any Error>)
    case finished
  }

  private let state = Mutex(State.pending)

  func wait(_ continuation: CheckedContinuation<Value, any Error>) {
    let early = state.withLock { state -> Result<Value, any Error>? in
      guard case .early(let result) = state else {
        state = .waiting(continuation)
        return nil
      }
      state = .finished
      return result
    }
    if let early { continuation.resume(with: early) }
  }

  func finish(_ result: Result<Value, any Error>) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
      switch state {
      case .pending:
        state = .early(result)
        return nil
      case .waiting(let continuation):
        state = .finished
        return continuation
      case .early, .finished: return nil
      }
    }
    continuation?.resume(with: result)
  }
}
