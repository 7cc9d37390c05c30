import Dispatch
import Synchronization

/// Runs blocking disk calls on threads of their own, apart from those of all other work.
///
/// Each serial queue gets a thread as soon as it needs one. The threads of a concurrent queue are shared with the
/// process, and are added too slowly when many of them block.
enum BlockingWork {
  private static let queues = (0..<16).map { DispatchQueue(label: "media-\($0)") }
  private static let nextIndex = Atomic<Int>(0)

  /// Runs work on the next queue, round-robin.
  static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await run(on: queue(), work)
  }

  static func run<Value: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }

  /// Starts work without waiting for its end.
  static func start(_ work: @escaping @Sendable () -> Void) {
    queue().async(execute: work)
  }

  private static func queue() -> DispatchQueue {
    let index = nextIndex.wrappingAdd(1, ordering: .relaxed).oldValue
    return queues[index & (queues.count - 1)]
  }
}
