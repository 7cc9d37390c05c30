import Dispatch
import Synchronization

/// The serial executor of one actor. Work runs on a serial dispatch queue, on the thread of the event loop, or at once
/// on the caller's thread if the executor is free.
///
/// A lock is held while work runs, and only the queue waits for it. Other callers only try to acquire it, so that no
/// thread of Swift's cooperative pool ever waits here. The event loop only tries too, because the server can answer
/// while a caller is still in the system call that sends. The read is then deferred to that caller, which checks for it
/// after releasing the lock.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue
  /// The callback of the event loop, which calls `runOrDefer`. It is in a struct, because a bare closure in a generic
  /// wrapper gets another thunk each time the wrapper is entered.
  private struct ReadHandler: Sendable {
    let read: @Sendable () -> Void
  }

  private let readHandler = Mutex<ReadHandler?>(nil)
  private let lock = Mutex<Void>(())
  /// The thread that holds the lock.
  private let owner = Atomic<ThreadID>(noThread)
  /// Whether data has arrived that is still unread because another thread held the lock.
  private let hasDeferredRead = Atomic<Bool>(false)

  init(label: String) {
    queue = DispatchQueue(label: label)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { self.run { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  /// Runs `body` after the work in progress. Must be called on the queue.
  func run(_ body: () -> Void) {
    lock.withLock { _ in runAsOwner(body) }
    runDeferredRead()
  }

  /// Runs `body` now, or returns false if the executor is busy.
  func runIfFree(_ body: () -> Void) -> Bool {
    guard lock.withLockIfAvailable({ _ in runAsOwner(body) }) != nil else { return false }
    runDeferredRead()
    return true
  }

  /// Runs `body` now, or defers it to the lock holder, whose `runDeferredRead` calls this function again.
  func runOrDefer(_ body: () -> Void) {
    hasDeferredRead.store(true, ordering: .sequentiallyConsistent)
    // A thread that holds the lock now releases it after the flag was set, and then sees the flag.
    while hasDeferredRead.load(ordering: .sequentiallyConsistent) {
      let ran: Void? = lock.withLockIfAvailable { _ in
        if hasDeferredRead.exchange(false, ordering: .sequentiallyConsistent) { runAsOwner(body) }
      }
      if ran == nil { return }
    }
  }

  /// Sets the callback that reads for the event loop; it calls `runOrDefer`.
  func setReadHandler(_ handler: @escaping @Sendable () -> Void) {
    readHandler.withLock { $0 = ReadHandler(read: handler) }
  }

  private func runDeferredRead() {
    // The fence keeps the release of the lock ahead of the load of the flag.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard hasDeferredRead.load(ordering: .sequentiallyConsistent) else { return }
    readHandler.withLock { $0 }?.read()
  }

  private func runAsOwner(_ body: () -> Void) {
    owner.store(currentThread, ordering: .relaxed)
    body()
    owner.store(noThread, ordering: .relaxed)
  }

  // Event handlers, and callers that found the lock free, are not jobs of this executor. Without these two functions,
  // `assumeIsolated` would trap in them.
  func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the connection's executor")
  }

  func isIsolatingCurrentContext() -> Bool? {
    owner.load(ordering: .relaxed) == currentThread
  }
}
