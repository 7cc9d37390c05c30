import Synchronization

/// A counter from 1 for concurrent tasks.
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
