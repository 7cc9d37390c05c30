import Dispatch
import Synchronization

/// Runs the jobs of one actor one after the other: on a serial dispatch queue, on the thread of the event loop, or at
/// once on the caller's thread when nothing else is running.
///
/// A lock is held by whoever runs. Only the queue waits for it. Callers from elsewhere try, so that no thread of Swift's
/// cooperative pool ever waits here; and the event loop tries, because the server can answer while a caller is still in
/// the system call that sends: the answer is then left to that caller, which looks for it once it has let the lock go.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue
  /// Calls `runOrLeave`. In a struct, because a bare closure in a generic wrapper gets another thunk around it each time
  /// the wrapper is entered.
  private struct Reader: Sendable {
    let read: @Sendable () -> Void
  }

  private let reader = Mutex<Reader?>(nil)
  private let lock = Mutex<Void>(())
  /// The thread that holds the lock.
  private let owner = Atomic<ThreadID>(noThread)
  /// Something arrived while the lock was held by another, and has not been looked at.
  private let isLeft = Atomic<Bool>(false)

  init(label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  /// Runs `body` after what is running; to be called on the queue.
  func run(_ body: () -> Void) {
    lock.withLock { _ in own(body) }
    takeLeft()
  }

  /// Runs `body` now, or returns false if something is running.
  func runIfFree(_ body: () -> Void) -> Bool {
    guard lock.withLockIfAvailable({ _ in own(body) }) != nil else { return false }
    takeLeft()
    return true
  }

  /// Runs `body` now, or else leaves it to whoever runs: `takeLeft` is then called there, and it calls this again.
  func runOrLeave(_ body: () -> Void) {
    isLeft.store(true, ordering: .sequentiallyConsistent)
    // Whoever holds the lock at a try that fails gives it back after the flag was set, and so sees it.
    while isLeft.load(ordering: .sequentiallyConsistent) {
      let ran: Void? = lock.withLockIfAvailable { _ in
        if isLeft.exchange(false, ordering: .sequentiallyConsistent) { own(body) }
      }
      if ran == nil { return }
    }
  }

  /// Sets what reads on behalf of the event loop; it calls `runOrLeave`.
  func setReader(_ reader: @escaping @Sendable () -> Void) {
    self.reader.withLock { $0 = Reader(read: reader) }
  }

  private func takeLeft() {
    // The release of the lock must not move behind the look at the flag.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard isLeft.load(ordering: .sequentiallyConsistent) else { return }
    reader.withLock { $0 }?.read()
  }

  private func own(_ body: () -> Void) {
    owner.store(currentThread, ordering: .relaxed)
    body()
    owner.store(noThread, ordering: .relaxed)
  }

  // Neither handlers of events nor callers that found the lock free are jobs of this executor: without these
  // two, `assumeIsolated` would trap in them.
  func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the connection's executor")
  }

  func isIsolatingCurrentContext() -> Bool? {
    owner.load(ordering: .relaxed) == currentThread
  }
}
