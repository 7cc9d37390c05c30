import Dispatch
import Synchronization

/// Calls that wait for a disk: on threads that may wait, away from those that everything else runs on.
///
/// Each queue has a thread as soon as it needs one. Those of a concurrent queue are shared with the process, and more
/// of them come too slowly when many wait.
enum BlockingWork {
  private static let queues = (0..<16).map { DispatchQueue(label: "media-\($0)") }
  private static let turn = Atomic<Int>(0)

  /// Runs work on one of the queues in turn.
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

  /// Begins work whose end nobody waits for.
  static func start(_ work: @escaping @Sendable () -> Void) {
    queue().async(execute: work)
  }

  private static func queue() -> DispatchQueue {
    let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return queues[turn & (queues.count - 1)]
  }
}
