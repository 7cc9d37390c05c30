import Foundation
import Synchronization

/// One thread for the process that waits until sockets are readable and calls their handlers.
///
/// A dispatch source would do, but costs two changes of threads for each answer of the server where this costs none,
/// which is a third of the throughput of short statements.
final class EventLoop: Sendable {
  typealias Handler = @Sendable () -> Void

  static let shared = EventLoop()

  private struct State {
    var handlers: [Int32: Handler] = [:]
    var isChanged = false
  }

  private let state = Mutex(State())
  private let wakeReader: Int32
  private let wakeWriter: Int32

  private init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no file descriptors left")
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (wakeReader, wakeWriter) = (ends[0], ends[1])
    let thread = Thread { [self] in run() }
    thread.name = "tidings.postgres"
    thread.start()
  }

  /// Calls the handler whenever the socket is readable, until `remove`.
  func add(_ socket: Int32, handler: @escaping Handler) {
    change { $0[socket] = handler }
  }

  /// No handler begins after this has returned, save one that is about to be called.
  func remove(_ socket: Int32) {
    change { $0[socket] = nil }
  }

  private func change(_ body: (inout [Int32: Handler]) -> Void) {
    state.withLock {
      body(&$0.handlers)
      $0.isChanged = true
    }
    var byte: UInt8 = 0
    _ = write(wakeWriter, &byte, 1)
  }

  private func run() {
    var descriptors: [pollfd] = []
    while true {
      state.withLock {
        if !$0.isChanged, !descriptors.isEmpty { return }
        $0.isChanged = false
        descriptors = ([wakeReader] + $0.handlers.keys).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      }
      guard poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { continue }
      if descriptors[0].revents != 0 { clearWake() }
      for descriptor in descriptors.dropFirst() where descriptor.revents != 0 {
        state.withLock { $0.handlers[descriptor.fd] }?()
      }
    }
  }

  private func clearWake() {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { _ = read(wakeReader, $0.baseAddress, $0.count) }
  }
}
