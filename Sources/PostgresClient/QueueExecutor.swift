import Dispatch
import Foundation
import Synchronization

/// Runs the jobs of one actor one after the other: on a serial dispatch queue, on the thread of
/// the event loop, or at once on the caller's thread when nothing else is running.
///
/// A lock is held by whoever runs. The queue and the event loop wait for it; callers from elsewhere only try, so that no thread
/// of Swift's cooperative pool ever waits here.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue
  private let lock = Mutex<Void>(())
  /// The thread that holds the lock.
  private let owner = Atomic<UInt>(0)

  init(label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  /// Runs `body` after what is running; to be called on the queue or the event loop.
  func run(_ body: () -> Void) {
    lock.withLock { _ in own(body) }
  }

  /// Runs `body` now, or returns false if something is running.
  func runIfFree(_ body: () -> Void) -> Bool {
    lock.withLockIfAvailable { _ in own(body) } != nil
  }

  private func own(_ body: () -> Void) {
    owner.store(Self.thread, ordering: .relaxed)
    body()
    owner.store(0, ordering: .relaxed)
  }

  private static var thread: UInt {
    #if os(Linux)
      UInt(pthread_self())
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  // Neither handlers of events nor callers that found the lock free are jobs of this executor: without these
  // two, `assumeIsolated` would trap in them.
  func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the connection's executor")
  }

  func isIsolatingCurrentContext() -> Bool? {
    owner.load(ordering: .relaxed) == Self.thread
  }
}
