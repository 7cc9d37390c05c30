import Synchronization

/// Counts from 1, for tasks that run side by side.
package final class Count: Sendable {
  private let count = Mutex(0)

  package init() {}

  package var value: Int { count.withLock { $0 } }

  package func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
