import CLibPQ
import Foundation
import Synchronization

/// One thread for the process that waits until sockets are readable and calls their handlers.
///
/// A dispatch source would do, but costs two changes of threads for each answer of the server where this costs none,
/// which is a third of the throughput of short statements. A handler is called once for what has arrived (`EPOLLET`, see
/// epoll(7)), so that one that finds its connection busy can leave the rest to whoever keeps it busy; after `rearm` it is
/// called again if something is still unread.
final class EventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  static let shared = EventLoop()

  private let handlers = Mutex<[Int32: Handler]>([:])
  private let epoll: Int32

  private init() {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    precondition(epoll >= 0, "no file descriptors left")
    let thread = Thread { [self] in run() }
    thread.name = "tidings.postgres"
    thread.start()
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
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while true {
      let count = epoll_wait(epoll, &events, Int32(events.count), -1)
      for event in events.prefix(Int(max(count, 0))) {
        handlers.withLock { $0[event.data.fd] }?()
      }
    }
  }
}
