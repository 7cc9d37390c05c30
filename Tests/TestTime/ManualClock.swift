package import BackgroundFetch
import Foundation
import Synchronization

/// A clock that goes on when it is told to.
package final class ManualClock: FetchClock {
  private struct Sleeper {
    var due: Double
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = FetchMoment(date: Date(timeIntervalSince1970: 1_700_000_000), uptime: 1_000, boot: "1")
    var sleepers: [Int: Sleeper] = [:]
    var last = 0

    mutating func pass(until uptime: Double) {
      let seconds = max(0, uptime - now.uptime)
      now.uptime += seconds
      now.date += seconds
    }
  }

  private let state = Mutex(State())

  /// A clock that stands still.
  package init() {}

  package var now: FetchMoment { state.withLock(\.now) }

  /// How long those who sleep have yet to do so, in seconds; the shortest first.
  package var sleeping: [Double] {
    state.withLock { state in state.sleepers.values.map { $0.due - state.now.uptime }.sorted() }
  }

  package func sleep(for duration: Duration) async throws {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDue = state.withLock { state in
          if seconds <= 0 { return true }
          state.sleepers[number] = Sleeper(due: state.now.uptime + seconds, continuation: continuation)
          return false
        }
        if isDue { continuation.resume() }
        // The handler may have come before there was anything to remove.
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  /// Lets time pass; those who are due by then wake in the order in which they are, each at its time.
  package func advance(by seconds: Double) {
    let end = now.uptime + seconds
    while let sleeper = takeNext(until: end) { sleeper.resume() }
    state.withLock { $0.pass(until: end) }
  }

  /// Sets the time of day, back if negative; the time since the boot stays.
  package func setDate(by seconds: Double) {
    state.withLock { $0.now.date += seconds }
  }

  /// Starts the steady clock anew, at another boot.
  package func reboot() {
    state.withLock { state in
      state.now.uptime = 0
      state.now.boot += "+"
    }
  }

  private func takeNext(until end: Double) -> CheckedContinuation<Void, any Error>? {
    state.withLock { state in
      let next = state.sleepers.min { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
      guard let next, next.value.due <= end else { return nil }
      state.pass(until: next.value.due)
      return state.sleepers.removeValue(forKey: next.key)?.continuation
    }
  }

  private func wake(_ number: Int) {
    state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
  }
}
