import NIOCore

/// A task executor that runs tasks on the thread of an event loop, so that a request changes threads neither for its body
/// nor for its response. The tasks must neither block nor compute for long, because the loop's other connections wait.
final class EventLoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
