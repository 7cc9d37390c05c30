import BackgroundFetch
import Synchronization

/// Ends work on a connection that has been silent for too long: a peer, or something on the way, may die without a word.
final class SilenceGuard: Sendable {
  private let limit: Duration
  private let clock: any FetchClock
  /// nil while nobody listens.
  private let last = Mutex<FetchMoment?>(nil)

  /// - Parameter limit: How long a connection may be silent.
  init(limit: Duration, clock: any FetchClock) {
    self.limit = limit
    self.clock = clock
  }

  /// Something has come, or somebody listens again.
  func heard() { last.withLock { $0 = clock.now } }

  /// Nobody listens until something is heard.
  func pause() { last.withLock { $0 = nil } }

  /// Runs the body, and cancels it when nothing is heard for too long.
  ///
  /// - Throws: ``FetchError`` with `unreachable`, and what the body throws.
  func watch<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    heard()
    return try await withThrowingTaskGroup { group in
      group.addTask { try await body() as Value? }
      group.addTask {
        try await self.waitForSilence()
        return nil
      }
      defer { group.cancelAll() }
      // The guard only ends by throwing.
      guard let value = try await group.next().flatMap(\.self) else { throw CancellationError() }
      return value
    }
  }

  private func waitForSilence() async throws {
    while true {
      let now = clock.now
      let silent = last.withLock { $0.map { now.seconds(since: $0) } } ?? 0
      let left = limit - .seconds(silent)
      guard left > .zero else { throw FetchError(.unreachable, "nothing has come for \(Int(limit / .seconds(1))) s") }
      try await clock.sleep(for: left)
    }
  }
}
