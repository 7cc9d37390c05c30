import Synchronization

/// The maximum of the recorded durations.
package final class MaximumDuration: Sendable {
  private let state = Mutex(Duration.zero)

  package init() {}

  package var value: Duration { state.withLock { $0 } }

  package func record(_ duration: Duration) { state.withLock { $0 = max($0, duration) } }
}
