import Dispatch

/// Runs the jobs of one actor on one serial dispatch queue, where the actor's dispatch sources run as well.
final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  init(label: String) {
    queue = DispatchQueue(label: label)
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  // Handlers of dispatch sources are no Swift jobs: without these two, `assumeIsolated` would trap in them.
  func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }

  func isIsolatingCurrentContext() -> Bool? {
    DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
  }
}
