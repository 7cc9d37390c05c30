import Glibc

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
