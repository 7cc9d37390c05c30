import CLibPQ
import Logging

/// Owns one `PGconn`, and what is bound to its life: the watch on its socket and the receiver of notices.
///
/// Belongs to one `PostgresConnection` and is touched on that connection's executor only, or by `deinit` when nobody else
/// can.
final class ConnectionHandle {
  let pointer: OpaquePointer
  private let loop: EventLoop
  private let notices: NoticeReceiver
  private(set) var socket: SocketHandle?
  private var watch: EventLoop.Watch?

  /// Takes over what `PQconnectStartParams` returned.
  init(_ pointer: OpaquePointer, loop: EventLoop, logger: Logger) {
    self.pointer = pointer
    self.loop = loop
    notices = NoticeReceiver(logger: logger)
    PQsetNoticeReceiver(pointer, receiveNotice, Unmanaged.passUnretained(notices).toOpaque())
  }

  /// Why the server has ended the session, where it did so between two statements.
  var lastWords: PostgresError? { notices.lastWords }

  /// Called when the socket stays the same, that is after the connection is made.
  func adoptSocket() {
    socket = SocketHandle(duplicating: PQsocket(pointer))
  }

  /// Calls the handler when something arrives.
  func watch(_ handler: @escaping EventLoop.Handler) {
    watch = socket.map { loop.watch($0, for: .arrivals, handler: handler) }
  }

  /// Calls the handler once when libpq's present socket is ready, until the watch is let go of.
  ///
  /// - Returns: nil if there is no socket, or no descriptor for a duplicate of it.
  func watchOnce(for readiness: EventLoop.Readiness, _ handler: @escaping EventLoop.Handler) -> EventLoop.Watch? {
    SocketHandle(duplicating: PQsocket(pointer)).map { loop.watch($0, for: readiness, handler: handler) }
  }

  /// Calls the handler again if something is still unread.
  func rearm() {
    watch?.rearm()
  }

  deinit {
    watch = nil
    // Says goodbye to the server and frees everything (PostgreSQL 15, 34.1, `PQfinish`).
    PQfinish(pointer)
    socket?.shutDown()
  }
}

/// Logs what the server sends as NOTICE or WARNING.
private final class NoticeReceiver {
  let logger: Logger
  /// libpq takes an error that answers no statement for a notice.
  private(set) var lastWords: PostgresError?

  init(logger: Logger) {
    self.logger = logger
  }

  func receive(_ notice: PostgresError) {
    // libpq's own notices have no SQLSTATE.
    if notice.isFatal, notice.sqlState != nil { lastWords = notice }
    logger.debug("notice from PostgreSQL", metadata: ["message": "\(notice.message)"])
  }
}

private func receiveNotice(context: UnsafeMutableRawPointer?, result: OpaquePointer?) {
  guard let context, let result else { return }
  Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(PostgresError(result: result))
}
