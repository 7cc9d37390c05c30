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

/// Deadlines for waits, which nearly always end before. Setting and cancelling one costs no system call, unlike a sleeping
/// task; in return an action may run up to `precision` late.
///
///     let deadline = Deadlines.shared.set(after: .seconds(5)) { print("too late") }
///     Deadlines.shared.cancel(deadline)
package final class Deadlines: Sendable {
  /// The deadlines of this process.
  package static let shared = Deadlines()

  /// The maximum delay of an action.
  package static let precision: Duration = .milliseconds(50)

  /// Identifies a deadline.
  package struct Ticket: Sendable {
    fileprivate let number: Int
  }

  private struct State {
    var pending: [Int: (instant: ContinuousClock.Instant, action: @Sendable () -> Void)] = [:]
    var lastNumber = 0
    var isRunning = false
  }

  private let state = Mutex(State())

  /// Runs an action after a time, unless it is cancelled before. The action must not block.
  package func set(after time: Duration, _ action: @escaping @Sendable () -> Void) -> Ticket {
    let instant = ContinuousClock.now + time
    let (ticket, starts) = state.withLock { state in
      state.lastNumber += 1
      state.pending[state.lastNumber] = (instant, action)
      defer { state.isRunning = true }
      return (Ticket(number: state.lastNumber), !state.isRunning)
    }
    // A detached task, because the first caller's task may be cancelled, and measures its queries.
    if starts { Task.detached { await self.run() } }
    return ticket
  }

  /// Cancels a deadline. It has no effect once the action runs.
  package func cancel(_ ticket: Ticket) {
    state.withLock { state in _ = state.pending.removeValue(forKey: ticket.number) }
  }

  /// Suspends the caller until its continuation is resumed, at most for a time.
  ///
  /// - Parameters:
  ///   - end: Resumes the continuation with an error, unless it was resumed before: `StoreError.unavailable` after the
  ///     time, `CancellationError` after a cancellation of the caller.
  ///   - begin: Receives the continuation.
  /// - Throws: The error with which the continuation is resumed.
  func wait<Value: Sendable>(
    atMost time: Duration, end: @escaping @Sendable (any Error) -> Void,
    begin: (CheckedContinuation<Value, any Error>) -> Void
  ) async throws -> Value {
    let deadline = set(after: time) { end(StoreError.unavailable) }
    defer { cancel(deadline) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        begin(continuation)
        // The handler may have run before there was anything to end.
        if Task.isCancelled { end(CancellationError()) }
      }
    } onCancel: {
      end(CancellationError())
    }
  }

  /// Runs actions that are due, until no deadline is left for a second.
  private func run() async {
    var emptyRounds = 0
    while true {
      try? await Task.sleep(for: Self.precision)
      let now = ContinuousClock.now
      let due = state.withLock { state -> [@Sendable () -> Void]? in
        emptyRounds = state.pending.isEmpty ? emptyRounds + 1 : 0
        if emptyRounds >= 20 {
          state.isRunning = false
          return nil
        }
        let due = state.pending.filter { $0.value.instant <= now }
        for number in due.keys { state.pending[number] = nil }
        return due.sorted { $0.key < $1.key }.map(\.value.action)
      }
      guard let due else { return }
      for action in due { action() }
    }
  }
}
