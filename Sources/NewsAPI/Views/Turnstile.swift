import NewsStore
import Synchronization

/// Lets so many in at a time, and lets others wait for their turn: answers that are made for one request alone must not
/// take all connections to the database from those that many wait for.
package final class Turnstile: Sendable {
  private struct Hall {
    var inside = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let hall = Mutex(Hall())
  private let width: Int
  private let longestQueue: Int

  /// - Parameters:
  ///   - width: How many may be inside.
  ///   - longestQueue: How many may wait.
  package init(width: Int, longestQueue: Int = 256) {
    self.width = width
    self.longestQueue = longestQueue
  }

  /// Runs the body in its turn.
  ///
  /// - Throws: `StoreError.unavailable` where too many wait already, and what the body throws.
  package func pass<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    try await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async throws {
    let isFull = hall.withLock { $0.inside >= width && $0.waiting.count >= longestQueue }
    guard !isFull else { throw StoreError.unavailable }
    await withCheckedContinuation { continuation in
      let isIn = hall.withLock { hall in
        guard hall.inside >= width else {
          hall.inside += 1
          return true
        }
        hall.waiting.append(continuation)
        return false
      }
      if isIn { continuation.resume() }
    }
  }

  private func leave() {
    let next = hall.withLock { hall -> CheckedContinuation<Void, Never>? in
      // Whoever is next takes the place.
      guard hall.waiting.isEmpty else { return hall.waiting.removeFirst() }
      hall.inside -= 1
      return nil
    }
    next?.resume()
  }
}
