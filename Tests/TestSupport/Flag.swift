import Synchronization

/// A thread-safe Boolean.
package final class Flag: Sendable {
  private let state = Atomic(false)

  package init() {}

  package var isSet: Bool { state.load(ordering: .relaxed) }

  package func set(_ value: Bool = true) { state.store(value, ordering: .relaxed) }
}
