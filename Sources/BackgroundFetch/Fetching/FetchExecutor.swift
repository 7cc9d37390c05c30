import Dispatch

/// Runs the tasks of one fetch on a queue of its own.
///
/// The cooperative thread pool has no more threads than the machine has cores. A fetch that blocked these threads would
/// delay the timer that must end it.
final class FetchExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "tidings.fetch")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
