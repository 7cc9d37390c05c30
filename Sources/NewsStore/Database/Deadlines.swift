import Synchronization

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
