import CLibPQ
import Foundation
import Synchronization

/// A thread that waits until sockets are ready, calls their handlers, and runs the tasks of `PostgresExecutor`.
///
/// A dispatch source would do for the sockets, but costs two changes of threads for each answer of the server where this
/// costs none, which is a third of the throughput of short statements; and one that is cancelled just as the server hangs
/// up, as while it starts, can end the process (libdispatch on Linux then releases it twice). A handler is called once for
/// what has arrived (`EPOLLET`, see epoll(7)), so that one that finds its connection busy can leave the rest to whoever
/// keeps it busy; after `rearm` it is called again if something is still unread.
final class EventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  /// What is waited for.
  enum Readiness {
    /// Whatever arrives, the end included, each time.
    case arrivals
    /// That something can be read, or written, once.
    case reading, writing

    fileprivate var events: UInt32 {
      switch self {
      case .arrivals: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
      case .reading: EPOLLIN.rawValue | EPOLLONESHOT.rawValue
      case .writing: EPOLLOUT.rawValue | EPOLLONESHOT.rawValue
      }
    }
  }

  /// A socket that is watched until this is let go of. No handler begins after that, save one that is about to be called.
  final class Watch: Sendable {
    private let number: UInt64
    /// Stays open until it is not watched any more.
    private let socket: SocketHandle
    private let loop: EventLoop

    fileprivate init(_ number: UInt64, _ socket: SocketHandle, _ loop: EventLoop) {
      self.number = number
      self.socket = socket
      self.loop = loop
    }

    /// Calls the handler once more if there is something to read already.
    func rearm() { loop.rearm(number) }

    deinit { loop.remove(number) }
  }

  private struct Registrations {
    /// By the number of the watch: that of a socket may be another's by the time that its event is looked at.
    var byNumber: [UInt64: (socket: Int32, handler: Handler)] = [:]
    var last: UInt64 = 0
  }

  private let registrations = Mutex(Registrations())
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
    control(EPOLL_CTL_ADD, alarm, 0, .arrivals)
    Thread.detachNewThread { [self] in run() }
  }

  /// Whether the caller runs on this thread.
  var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThread }

  /// Runs the job on this thread, soon.
  func enqueue(_ job: UnownedJob) {
    jobs.withLock { $0.append(job) }
    if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(alarm, 1) }
  }

  /// Calls the handler on this thread when the socket is ready.
  ///
  /// - Parameter socket: One that is not watched by anybody else.
  func watch(_ socket: SocketHandle, for readiness: Readiness, handler: @escaping Handler) -> Watch {
    let number = registrations.withLock { registrations in
      registrations.last += 1
      registrations.byNumber[registrations.last] = (socket.descriptor, handler)
      return registrations.last
    }
    control(EPOLL_CTL_ADD, socket.descriptor, number, readiness)
    return Watch(number, socket, self)
  }

  private func rearm(_ number: UInt64) {
    // Under the lock the socket is open, and its number nobody else's.
    registrations.withLock { registrations in
      guard let socket = registrations.byNumber[number]?.socket else { return }
      control(EPOLL_CTL_MOD, socket, number, .arrivals)
    }
  }

  private func remove(_ number: UInt64) {
    // What the handler holds is let go of outside the lock.
    _ = registrations.withLock { registrations in
      let registration = registrations.byNumber.removeValue(forKey: number)
      if let registration { control(EPOLL_CTL_DEL, registration.socket, number, .arrivals) }
      return registration
    }
  }

  private func control(_ operation: Int32, _ socket: Int32, _ number: UInt64, _ readiness: Readiness) {
    var event = epoll_event(events: readiness.events, data: epoll_data_t(u64: number))
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
        let number = event.data.u64
        registrations.withLock { $0.byNumber[number]?.handler }?()
        // The server's end arrived together with an answer: nothing else will, and it needs a look of its own.
        if event.events & EPOLLRDHUP.rawValue != 0 { rearm(number) }
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
