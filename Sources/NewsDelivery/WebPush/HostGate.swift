import Synchronization

/// Bounds the concurrent requests to a host, so that a slow one delays no other.
///
/// Requests wait for a moment while the host responds. If it does not, they are refused at once.
package final class HostGate: Sendable {
  /// The maximum number of concurrent requests. Push services allow about 100 streams on a connection.
  package static let width = 100
  /// The maximum number after several failures in a row.
  private static let failingWidth = 2
  /// The number of failures in a row after which a host counts as failing.
  private static let failureLimit = 3
  /// The longest wait, and the time without a response after which a host counts as slow.
  private static let longestWait: Duration = .seconds(1)

  private struct State {
    var running = 0
    var failures = 0
    var lastResponse = ContinuousClock.now
    var waiters: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var nextNumber = 0

    var width: Int { failures >= HostGate.failureLimit ? HostGate.failingWidth : HostGate.width }
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether no request is under way and none waits.
  var isIdle: Bool { state.withLock { $0.running == 0 && $0.waiters.isEmpty } }

  /// Waits for a place. A request that has one calls `leave(hasResponded:)` at its end.
  ///
  /// - Returns: Whether there is a place.
  package func enter() async -> Bool {
    await withCheckedContinuation { continuation in
      let now = ContinuousClock.now
      let (isAdmitted, number) = state.withLock { state -> (Bool?, Int) in
        if state.running < state.width {
          if state.running == 0 { state.lastResponse = now }
          state.running += 1
          return (true, 0)
        }
        if state.failures >= Self.failureLimit || state.lastResponse + Self.longestWait < now { return (false, 0) }
        state.nextNumber += 1
        state.waiters.append((state.nextNumber, continuation))
        return (nil, state.nextNumber)
      }
      if let isAdmitted { return continuation.resume(returning: isAdmitted) }
      Task {
        try? await Task.sleep(for: Self.longestWait)
        refuse(number)
      }
    }
  }

  private func refuse(_ number: Int) {
    let waiter = state.withLock { state in
      state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
    }
    waiter?.continuation.resume(returning: false)
  }

  /// Gives a place back.
  ///
  /// - Parameter hasResponded: Whether the host has responded, however it has.
  package func leave(hasResponded: Bool) {
    let admitted = state.withLock { state in
      state.running -= 1
      state.failures = hasResponded ? 0 : state.failures + 1
      if hasResponded { state.lastResponse = .now }
      let count = min(max(state.width - state.running, 0), state.waiters.count)
      state.running += count
      defer { state.waiters.removeFirst(count) }
      return state.waiters.prefix(count).map(\.continuation)
    }
    for continuation in admitted { continuation.resume(returning: true) }
  }
}
