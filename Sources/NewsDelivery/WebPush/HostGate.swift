import DequeModule
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
  package static let longestWait: Duration = .seconds(1)

  private struct State {
    var running = 0
    var failures = 0
    var lastResponse = ContinuousClock.now
    /// The waiting requests in the order of their arrival, with the time at which they are refused.
    var waiters: Deque<(continuation: CheckedContinuation<Bool, Never>, end: ContinuousClock.Instant)> = []
    /// Whether a task refuses waiting requests in time.
    var isRefusing = false

    var width: Int { failures >= HostGate.failureLimit ? HostGate.failingWidth : HostGate.width }

    /// Admits or refuses a request; nil if it has to wait.
    mutating func admit(at now: ContinuousClock.Instant) -> Bool? {
      if running < width {
        if running == 0 { lastResponse = now }
        running += 1
        return true
      }
      return failures >= HostGate.failureLimit || lastResponse + HostGate.longestWait < now ? false : nil
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether no request is under way. Then none waits either.
  var isIdle: Bool { state.withLock { $0.running == 0 } }

  /// Waits for a place. A request that has one calls `leave(hasResponded:)` at its end.
  ///
  /// - Returns: Whether there is a place.
  package func enter() async -> Bool {
    let now = ContinuousClock.now
    if let isAdmitted = state.withLock({ $0.admit(at: now) }) { return isAdmitted }
    return await withCheckedContinuation { continuation in
      let (isAdmitted, startsRefusing) = state.withLock { state -> (Bool?, Bool) in
        if let isAdmitted = state.admit(at: now) { return (isAdmitted, false) }
        state.waiters.append((continuation, now + Self.longestWait))
        defer { state.isRefusing = true }
        return (nil, !state.isRefusing)
      }
      if let isAdmitted { continuation.resume(returning: isAdmitted) }
      if startsRefusing { Task { await refuseWaiters() } }
    }
  }

  /// Refuses requests that have waited too long, until none waits. One timer serves all of them.
  private func refuseWaiters() async {
    while let end = nextEnd() {
      try? await Task.sleep(until: end, clock: .continuous)
      let now = ContinuousClock.now
      let refused = state.withLock { state in
        let count = state.waiters.prefix { $0.end <= now }.count
        defer { state.waiters.removeFirst(count) }
        return state.waiters.prefix(count).map(\.continuation)
      }
      for continuation in refused { continuation.resume(returning: false) }
    }
  }

  private func nextEnd() -> ContinuousClock.Instant? {
    state.withLock { state in
      state.isRefusing = !state.waiters.isEmpty
      return state.waiters.first?.end
    }
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
