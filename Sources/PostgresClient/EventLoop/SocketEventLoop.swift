import CLibPQ
import Foundation
import Glibc
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
final class SocketEventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  /// The socket event to wait for.
  enum Event {
    /// Every arrival of data, and the end of the stream.
    case newData
    /// Readability or writability of the socket, reported once.
    case readable, writable

    /// The bit mask for epoll_ctl(2).
    fileprivate var mask: UInt32 {
      switch self {
      case .newData: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
      case .readable: EPOLLIN.rawValue | EPOLLONESHOT.rawValue
      case .writable: EPOLLOUT.rawValue | EPOLLONESHOT.rawValue
      }
    }
  }

  /// A registration of a socket, which ends when this object is released. No handler starts after that, except one that
  /// is about to be called.
  final class Watch: Sendable {
    private let id: UInt64
    /// The socket, kept open while it is registered.
    private let socket: SocketHandle
    private let loop: SocketEventLoop

    fileprivate init(_ id: UInt64, _ socket: SocketHandle, _ loop: SocketEventLoop) {
      self.id = id
      self.socket = socket
      self.loop = loop
    }

    /// Calls the handler once more if data is waiting to be read already.
    func rearm() { loop.rearm(id) }

    deinit { loop.remove(id) }
  }

  private struct Registrations {
    /// The handlers by the identifier of their watch. The descriptor is not used as the key, because it may belong to
    /// another socket by the time its event is processed.
    var byID: [UInt64: (socket: Int32, handler: Handler)] = [:]
    var lastID: UInt64 = 0
  }

  private let registrations = Mutex(Registrations())
  private let jobs = Mutex<[UnownedJob]>([])
  /// Whether the thread waits for events, or is about to, so that a new job must wake it.
  private let needsWakeup = Atomic<Bool>(false)
  private let thread = Atomic<ThreadID>(noThread)
  private let epoll: Int32
  /// The eventfd(2) that wakes the thread when it is written to. It has no handler and is never read, because each write
  /// is a new event.
  private let wakeupDescriptor: Int32

  init() {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    wakeupDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(epoll >= 0 && wakeupDescriptor >= 0, "the process has no file descriptors left for an event loop")
    control(EPOLL_CTL_ADD, wakeupDescriptor, 0, .newData)
    Thread.detachNewThread { [self] in run() }
  }

  /// Whether the caller runs on this thread.
  var isCurrent: Bool { thread.load(ordering: .relaxed) == currentThread }

  /// Schedules the job on this thread.
  func enqueue(_ job: UnownedJob) {
    jobs.withLock { $0.append(job) }
    if needsWakeup.exchange(false, ordering: .sequentiallyConsistent) { eventfd_write(wakeupDescriptor, 1) }
  }

  /// Calls the handler on this thread when the socket is ready.
  ///
  /// - Parameter socket: A socket that has no other watch.
  func watch(_ socket: SocketHandle, for event: Event, handler: @escaping Handler) -> Watch {
    let id = registrations.withLock { registrations in
      registrations.lastID += 1
      registrations.byID[registrations.lastID] = (socket.descriptor, handler)
      return registrations.lastID
    }
    control(EPOLL_CTL_ADD, socket.descriptor, id, event)
    return Watch(id, socket, self)
  }

  private func rearm(_ id: UInt64) {
    // While the registration exists, the socket is open and its descriptor cannot be reused.
    registrations.withLock { registrations in
      guard let socket = registrations.byID[id]?.socket else { return }
      control(EPOLL_CTL_MOD, socket, id, .newData)
    }
  }

  private func remove(_ id: UInt64) {
    // The handler's captures are released outside the lock.
    _ = registrations.withLock { registrations in
      let registration = registrations.byID.removeValue(forKey: id)
      if let registration { control(EPOLL_CTL_DEL, registration.socket, id, .newData) }
      return registration
    }
  }

  private func control(_ operation: Int32, _ socket: Int32, _ id: UInt64, _ event: Event) {
    var event = epoll_event(events: event.mask, data: epoll_data_t(u64: id))
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
      needsWakeup.store(true, ordering: .sequentiallyConsistent)
      let hasJobs = jobs.withLock { !$0.isEmpty }
      let count = epoll_wait(epoll, &events, Int32(events.count), hasJobs ? 0 : -1)
      needsWakeup.store(false, ordering: .relaxed)
      for event in events.prefix(Int(max(count, 0))) {
        let id = event.data.u64
        registrations.withLock { $0.byID[id]?.handler }?()
        // The end of the stream can arrive together with an answer. No other event follows, so the handler must run
        // again.
        if event.events & EPOLLRDHUP.rawValue != 0 { rearm(id) }
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

/// A duplicate of libpq's socket, closed when the last reference to it is released.
///
/// Watches use the duplicate, because libpq may close its own descriptor at any time. The number could then belong to
/// another file.
final class SocketHandle: Sendable {
  let descriptor: Int32

  init?(duplicating socket: Int32) {
    descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 { return nil }
  }

  deinit {
    _ = close(descriptor)
  }

  /// Whether data or the end of the stream has arrived, or the socket cannot be polled. Does not block.
  var hasPendingInput: Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, 0) != 0
  }

  /// Ends the TCP connection, even though this descriptor stays open for a while.
  func shutDown() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }
}

/// `pthread_self()` as a number, which identifies a thread only while it is alive.
typealias ThreadID = UInt

/// The identifier that no thread has.
let noThread: ThreadID = 0

var currentThread: ThreadID { ThreadID(pthread_self()) }
