import CLibPQ
import Foundation
import Synchronization

/// A thread that waits for socket events, calls their handlers, and runs the tasks of `PostgresExecutor`.
///
/// Dispatch sources have two drawbacks here. They switch threads twice per answer of the server, which costs a third of
/// the throughput of short statements. On Linux, libdispatch can also release a source twice, which ends the process.
/// This happens if the source is cancelled just as the server hangs up, for example while the server starts.
///
/// Events are edge-triggered (`EPOLLET`, see epoll(7)): a handler is called once for the data that has arrived. A
/// handler that finds its connection busy can therefore defer to the thread that uses the connection. After `rearm`,
/// the handler is called again if data is still unread.
final class EventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  /// The socket event to wait for.
  enum Readiness {
    /// Every arrival of data, and the end of the stream.
    case arrivals
    /// Readability or writability of the socket, reported once.
    case reading, writing

    fileprivate var events: UInt32 {
      switch self {
      case .arrivals: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
      case .reading: EPOLLIN.rawValue | EPOLLONESHOT.rawValue
      case .writing: EPOLLOUT.rawValue | EPOLLONESHOT.rawValue
      }
    }
  }

  /// A registration of a socket, which ends when this object is released. No handler starts after that, except one that
  /// is about to be called.
  final class Watch: Sendable {
    private let number: UInt64
    /// The socket, kept open while it is registered.
    private let socket: SocketHandle
    private let loop: EventLoop

    fileprivate init(_ number: UInt64, _ socket: SocketHandle, _ loop: EventLoop) {
      self.number = number
      self.socket = socket
      self.loop = loop
    }

    /// Calls the handler once more if data is waiting to be read already.
    func rearm() { loop.rearm(number) }

    deinit { loop.remove(number) }
  }

  private struct Registrations {
    /// The handlers by the number of their watch. A descriptor is no key, because it may belong to another socket by
    /// the time its event is processed.
    var byNumber: [UInt64: (socket: Int32, handler: Handler)] = [:]
    var last: UInt64 = 0
  }

  private let registrations = Mutex(Registrations())
  private let jobs = Mutex<[UnownedJob]>([])
  /// Whether the thread waits, or is about to, so that a new job must wake it.
  private let isAsleep = Atomic<Bool>(false)
  private let thread = Atomic<ThreadID>(noThread)
  private let epoll: Int32
  /// An eventfd(2) that wakes the thread when it is written to. It has no handler and is never read, because each write
  /// is a new event.
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

  /// Schedules the job on this thread.
  func enqueue(_ job: UnownedJob) {
    jobs.withLock { $0.append(job) }
    if isAsleep.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(alarm, 1) }
  }

  /// Calls the handler on this thread when the socket is ready.
  ///
  /// - Parameter socket: A socket that has no other watch.
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
    // While the registration exists, the socket is open and its descriptor cannot be reused.
    registrations.withLock { registrations in
      guard let socket = registrations.byNumber[number]?.socket else { return }
      control(EPOLL_CTL_MOD, socket, number, .arrivals)
    }
  }

  private func remove(_ number: UInt64) {
    // The handler's captures are released outside the lock.
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
    // A thread that has only just started ignores `Thread.name`.
    pthread_setname_np(pthread_self(), "tidings.pg")
    thread.store(currentThread, ordering: .relaxed)
    let executor = PostgresExecutor.shared.asUnownedTaskExecutor()
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      // The flag is set before the jobs are checked. A job that arrives after the check finds it set and wakes the
      // thread.
      isAsleep.store(true, ordering: .sequentiallyConsistent)
      let hasJobs = jobs.withLock { !$0.isEmpty }
      let count = epoll_wait(epoll, &events, Int32(events.count), hasJobs ? 0 : -1)
      isAsleep.store(false, ordering: .relaxed)
      for event in events.prefix(Int(max(count, 0))) {
        let number = event.data.u64
        registrations.withLock { $0.byNumber[number]?.handler }?()
        // The end of the stream can arrive together with an answer. No other event follows, so the handler must run
        // again.
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
