import CLibPQ
import Foundation
import Synchronization

/// A thread that waits until sockets are readable, calls their handlers, and runs the tasks of `PostgresExecutor`.
///
/// A dispatch source would do for the sockets, but costs two changes of threads for each answer of the server where this
/// costs none, which is a third of the throughput of short statements. A handler is called once for what has arrived
/// (`EPOLLET`, see epoll(7)), so that one that finds its connection busy can leave the rest to whoever keeps it busy;
/// after `rearm` it is called again if something is still unread.
final class EventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  private let handlers = Mutex<[Int32: Handler]>([:])
  private let jobs = Mutex<[UnownedJob]>([])
  /// The thread waits, or is about to, and has to be woken for a job.
  private let isAsleep = Atomic<Bool>(false)
  private let thread = Atomic<ThreadID>(noThread)
  private let epoll: Int32
  /// An eventfd(2), which wakes the thread by being written to. It has no handler and is never read, as each write is an
  /// arrival of its own.
  private let alarm: Int32

  init() {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    alarm = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(epoll >= 0 && alarm >= 0, "no file descriptors left")
    control(EPOLL_CTL_ADD, alarm)
    Thread.detachNewThread { [self] in run() }
  }

  /// Whether the caller runs on this thread.
  var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThread }

  /// Runs the job on this thread, soon.
  func enqueue(_ job: UnownedJob) {
    jobs.withLock { $0.append(job) }
    if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(alarm, 1) }
  }

  /// Calls the handler when something arrives.
  func add(_ socket: Int32, handler: @escaping Handler) {
    handlers.withLock { $0[socket] = handler }
    control(EPOLL_CTL_ADD, socket)
  }

  /// Calls the handler once more if there is something to read already.
  func rearm(_ socket: Int32) {
    control(EPOLL_CTL_MOD, socket)
  }

  /// No handler begins after this has returned, save one that is about to be called.
  func remove(_ socket: Int32) {
    control(EPOLL_CTL_DEL, socket)
    handlers.withLock { $0[socket] = nil }
  }

  private func control(_ operation: Int32, _ socket: Int32) {
    let arrivals = EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    var event = epoll_event(events: arrivals, data: epoll_data_t(fd: socket))
    _ = epoll_ctl(epoll, operation, socket, &event)
  }

  private func run() {
    // Not by `Thread.name`, which a thread that has only just begun ignores.
    pthread_setname_np(pthread_self(), "tidings.pg")
    thread.store(currentThread, ordering: .relaxed)
    let executor = PostgresExecutor.shared.asUnownedTaskExecutor()
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      // In this order: a job that comes after the look at them finds the flag set.
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      let hasJobs = jobs.withLock { !$0.isEmpty }
      let count = epoll_wait(epoll, &events, Int32(events.count), hasJobs ? 0 : -1)
      isAsleep.store(false, ordering: .relaxed)
      for event in events.prefix(Int(max(count, 0))) {
        handlers.withLock { $0[event.data.fd] }?()
        // The server's end arrived together with an answer: nothing else will, and it needs a look of its own.
        if event.events & EPOLLRDHUP.rawValue != 0 { rearm(event.data.fd) }
      }
      for job in takeJobs() { job.runSynchronously(on: executor) }
    }
  }

  private func takeJobs() -> [UnownedJob] {
    jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
  }
}
