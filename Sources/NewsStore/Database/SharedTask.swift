import Synchronization

/// A task whose result any number of callers wait for. It continues after a caller has left, because others may need it.
///
///     let load = SharedTask { try await read() }
///     let value = try await load.value(waitingAtMost: .seconds(5))
package final class SharedTask<Value: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Value, any Error>

  private struct State {
    /// The callers that wait, by number.
    var waiters: [Int: Waiter] = [:]
    var lastNumber = 0
    /// The result; nil while the task runs.
    var result: Result<Value, any Error>?
  }

  private let state = Mutex(State())
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Starts the task.
  package init(_ operation: @escaping @Sendable () async throws -> Value) {
    let running = Task {
      let result: Result<Value, any Error>
      do { result = .success(try await operation()) } catch { result = .failure(error) }
      finish(result)
    }
    task.withLock { $0 = running }
  }

  /// Waits for the result.
  ///
  /// - Parameter limit: The maximum wait, after which the task continues without the caller.
  /// - Throws: `StoreError.unavailable` after the limit, `CancellationError` after a cancellation of the caller, and
  ///   the error of the task.
  package func value(waitingAtMost limit: Duration) async throws -> Value {
    let number = Mutex<Int?>(nil)
    let deadline = Deadlines.shared.set(after: limit) {
      self.resume(number.withLock { $0 }, throwing: StoreError.unavailable)
    }
    defer { Deadlines.shared.cancel(deadline) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        number.withLock { $0 = add(waiter) }
        if Task.isCancelled { resume(number.withLock { $0 }, throwing: CancellationError()) }
      }
    } onCancel: {
      resume(number.withLock { $0 }, throwing: CancellationError())
    }
  }

  /// The result. A cancellation of the caller does not end the wait.
  ///
  /// - Throws: The error of the task.
  package var value: Value {
    get async throws { try await withCheckedThrowingContinuation { _ = add($0) } }
  }

  /// Cancels the task for all callers.
  package func cancel() { task.withLock { $0 }?.cancel() }

  /// Adds a waiter, or resumes it if the result is known.
  ///
  /// - Returns: The number of the waiter; nil if it was resumed.
  private func add(_ waiter: Waiter) -> Int? {
    let (number, result) = state.withLock { state -> (Int?, Result<Value, any Error>?) in
      if let result = state.result { return (nil, result) }
      state.lastNumber += 1
      state.waiters[state.lastNumber] = waiter
      return (state.lastNumber, nil)
    }
    if let result { waiter.resume(with: result) }
    return number
  }

  private func resume(_ number: Int?, throwing error: any Error) {
    let waiter = state.withLock { state in number.flatMap { state.waiters.removeValue(forKey: $0) } }
    waiter?.resume(throwing: error)
  }

  private func finish(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      state.result = result
      return exchange(&state.waiters, with: [:])
    }
    for waiter in waiters.values { waiter.resume(with: result) }
  }
}
