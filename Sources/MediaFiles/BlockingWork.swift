import Dispatch

/// Calls that wait for a disk: on threads that may wait, away from those that everything else runs on.
enum BlockingWork {
  private static let queue = DispatchQueue(label: "media", attributes: .concurrent)

  static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }

  /// Begins work whose end nobody waits for.
  static func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}
