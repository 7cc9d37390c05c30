import CLibPQ
import Logging

/// Owns one `PGconn`, the watch on its socket and the receiver of its notices.
///
/// It belongs to one `PostgresConnection` and is used on that connection's executor only, or by `deinit` once no other
/// reference exists.
final class ConnectionHandle {
  let pointer: OpaquePointer
  private let loop: SocketEventLoop
  private let notices: NoticeReceiver
  private(set) var socket: SocketHandle?
  private var watch: SocketEventLoop.Watch?

  /// Takes ownership of the pointer that `PQconnectStartParams` returned.
  init(_ pointer: OpaquePointer, loop: SocketEventLoop, logger: Logger) {
    self.pointer = pointer
    self.loop = loop
    notices = NoticeReceiver(logger: logger)
    PQsetNoticeReceiver(pointer, receiveNotice, Unmanaged.passUnretained(notices).toOpaque())
  }

  /// The error with which the server ended the session between two statements; nil if it sent none.
  var sessionEndError: PostgresError? { notices.sessionEndError }

  /// Duplicates the socket. Call it once the connection is made, because the socket stays the same from then on.
  func duplicateSocket() {
    socket = SocketHandle(duplicating: PQsocket(pointer))
  }

  /// Calls the handler when data arrives.
  func watch(_ handler: @escaping SocketEventLoop.Handler) {
    watch = socket.map { loop.watch($0, for: .newData, handler: handler) }
  }

  /// Calls the handler once when libpq's current socket is ready, unless the watch is released first.
  ///
  /// - Returns: nil if there is no socket, or no file descriptor is left for a duplicate of it.
  func watchOnce(
    for event: SocketEventLoop.Event, _ handler: @escaping SocketEventLoop.Handler
  ) -> SocketEventLoop.Watch? {
    SocketHandle(duplicating: PQsocket(pointer)).map { loop.watch($0, for: event, handler: handler) }
  }

  /// Calls the handler again if data is still unread.
  func rearm() {
    watch?.rearm()
  }

  deinit {
    watch = nil
    // Ends the session on the server and frees the connection (PostgreSQL 15, 34.1, `PQfinish`).
    PQfinish(pointer)
    socket?.shutDown()
  }
}

/// Logs the NOTICE and WARNING messages of the server.
private final class NoticeReceiver {
  let logger: Logger
  /// The last fatal error that libpq reported as a notice, because it is not the answer to a statement.
  private(set) var sessionEndError: PostgresError?

  init(logger: Logger) {
    self.logger = logger
  }

  func receive(_ notice: PostgresError) {
    // libpq's own notices have no SQLSTATE.
    if notice.isFatal, notice.sqlState != nil { sessionEndError = notice }
    logger.debug("notice from PostgreSQL", metadata: ["message": "\(notice.message)"])
  }
}

private func receiveNotice(context: UnsafeMutableRawPointer?, result: OpaquePointer?) {
  guard let context, let result else { return }
  Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(PostgresError(result: result))
}
