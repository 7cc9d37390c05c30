import Synchronization

/// The longest of several durations.
package final class Longest: Sendable {
  private let state = Mutex(Duration.zero)

  package init() {}

  package var value: Duration { state.withLock { $0 } }

  package func note(_ duration: Duration) { state.withLock { $0 = max($0, duration) } }
}

/// A thread-safe Boolean.
package final class Flag: Sendable {
  private let state = Atomic(false)

  package init() {}

  package var isSet: Bool { state.load(ordering: .relaxed) }

  package func set(_ value: Bool = true) { state.store(value, ordering: .relaxed) }
}
