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
    let number = nextNumber()
    return try await Deadlines.shared.wait(atMost: limit) { error in
      self.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: error)
    } begin: { waiter in
      add(waiter, number)
    }
  }

  /// The result. A cancellation of the caller does not end the wait.
  ///
  /// - Throws: The error of the task.
  package var value: Value {
    get async throws { try await withCheckedThrowingContinuation { add($0, nextNumber()) } }
  }

  /// Cancels the task for all callers.
  package func cancel() { task.withLock { $0 }?.cancel() }

  private func nextNumber() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Adds a waiter, or resumes it if the result is known.
  private func add(_ waiter: Waiter, _ number: Int) {
    let result = state.withLock { state in
      if state.result == nil { state.waiters[number] = waiter }
      return state.result
    }
    if let result { waiter.resume(with: result) }
  }

  private func finish(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      state.result = result
      return exchange(&state.waiters, with: [:])
    }
    for waiter in waiters.values { waiter.resume(with: result) }
  }
}
