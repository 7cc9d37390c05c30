import Synchronization

/// The number of open connections of a server.
package final class ConnectionCount: Sendable {
  private let value = Atomic<Int>(0)

  /// Creates a counter at zero.
  package init() {}

  /// The current number.
  package var count: Int { value.load(ordering: .relaxed) }

  func add() { value.add(1, ordering: .relaxed) }

  func remove() { value.subtract(1, ordering: .relaxed) }
}
