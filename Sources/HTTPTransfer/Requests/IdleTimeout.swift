import Synchronization

/// A timeout for connections without activity, since a peer or a proxy may fail without closing the connection.
package final class IdleTimeout: Sendable {
  private let limit: Duration
  private let clock: any FetchClock
  /// The moment of the last activity; nil while the timeout is paused.
  private let last = Mutex<FetchInstant?>(nil)

  /// - Parameter limit: The maximum time without activity.
  package init(limit: Duration, clock: any FetchClock) {
    self.limit = limit
    self.clock = clock
  }

  /// Records activity, and resumes a paused timeout.
  package func reset() { last.withLock { $0 = clock.now } }

  /// Pauses the timeout until the next activity.
  package func pause() { last.withLock { $0 = nil } }

  /// Runs the body, and cancels it when the timeout expires.
  ///
  /// - Throws: ``FetchError`` with `unreachable` at the timeout, and the errors of the body.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    reset()
    return try await withThrowingTaskGroup { group in
      group.addTask { try await body() as Value? }
      group.addTask {
        try await self.waitForTimeout()
        return nil
      }
      defer { group.cancelAll() }
      // The timeout task ends only by throwing.
      guard let value = try await group.next().flatMap(\.self) else { throw CancellationError() }
      return value
    }
  }

  private func waitForTimeout() async throws {
    while true {
      let now = clock.now
      let idle = last.withLock { $0.map { now.seconds(since: $0) } } ?? 0
      let left = limit - .seconds(idle)
      guard left > .zero else { throw FetchError(.unreachable, "no data for \(Int(limit / .seconds(1))) s") }
      try await clock.sleep(for: left)
    }
  }
}
