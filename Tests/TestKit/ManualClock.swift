public import BackgroundFetch
import Foundation
import Synchronization

/// A clock that advances only on request.
///
///     let clock = ManualClock()
///     async let woken: Void = clock.sleep(for: .seconds(30))
///     try await eventually("the task sleeps") { clock.sleeping == [30] }
///     clock.advance(by: 30)
///     try await woken
public final class ManualClock: FetchClock {
  private struct Sleeper {
    var due: Double
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = FetchInstant(date: Date(timeIntervalSince1970: 1_700_000_000), uptime: 1_000, boot: "1")
    var sleepers: [Int: Sleeper] = [:]
    var lastNumber = 0

    mutating func advance(until uptime: Double) {
      let seconds = max(0, uptime - now.uptime)
      now.uptime += seconds
      now.date += seconds
    }
  }

  private let state = Mutex(State())

  /// Creates a clock that stands still.
  public init() {}

  /// The current time, which changes only on request.
  public var now: FetchInstant { state.withLock(\.now) }

  /// The remaining sleep times in seconds, shortest first.
  public var sleeping: [Double] {
    state.withLock { state in state.sleepers.values.map { $0.due - state.now.uptime }.sorted() }
  }

  /// Waits until the clock has been advanced by the duration.
  ///
  /// - Throws: `CancellationError`.
  public func sleep(for duration: Duration) async throws {
    // A timer that is cancelled before it begins is no sleeper, not even for an instant.
    try Task.checkCancellation()
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let seconds = duration.inSeconds
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDue = state.withLock { state in
          if seconds <= 0 { return true }
          state.sleepers[number] = Sleeper(due: state.now.uptime + seconds, continuation: continuation)
          return false
        }
        if isDue { continuation.resume() }
        // The cancellation handler may have run before the sleeper was added.
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  /// Advances the clock. Sleepers that become due wake in order, each at its own time.
  public func advance(by seconds: Double) {
    let end = now.uptime + seconds
    while let sleeper = takeNext(until: end) { sleeper.resume() }
    state.withLock { $0.advance(until: end) }
  }

  /// Shifts the time of day by seconds, back if negative; the uptime does not change.
  public func setDate(by seconds: Double) {
    state.withLock { $0.now.date += seconds }
  }

  /// Restarts the monotonic clock at 0 with a new boot id.
  public func reboot() {
    state.withLock { state in
      state.now.uptime = 0
      state.now.boot += "+"
    }
  }

  private func takeNext(until end: Double) -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      let next = state.sleepers.min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
      guard let next, next.value.due <= end else { return nil }
      state.advance(until: next.value.due)
      return state.sleepers.removeValue(forKey: next.key)?.continuation
    }
  }

  private func wake(_ number: Int) {
    state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
  }
}
