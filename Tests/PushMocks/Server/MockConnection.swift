import NIOCore
import NIOHTTP2
import NIOSSL

#if canImport(Glibc)
  import Glibc
#endif

/// A connection to a mock, on its event loop.
final class MockConnection {
  /// The longest wait of a response for others that are to be sent before it.
  private static let reorderingTime: TimeAmount = .milliseconds(50)

  /// The time that a client has to close the connection after GOAWAY.
  private static let closingTime: TimeAmount = .milliseconds(500)

  let number: Int
  /// Whether the connection takes no further messages.
  private(set) var isGoingAway = false

  private let channel: any Channel
  private let faults: MockFaults
  private var streams = 0
  private var openStreams = 0
  private var lastStream = HTTP2StreamID.rootStream
  /// The last stream that is accepted; nil before GOAWAY.
  private var lastAccepted: HTTP2StreamID?
  private var isHTTP2: Bool { lastStream != .rootStream }
  private var held: [() -> Void] = []

  init(_ channel: any Channel, number: Int, faults: MockFaults) {
    self.channel = channel
    self.number = number
    self.faults = faults
  }

  /// Notes a new request.
  ///
  /// - Parameter stream: The id of its stream; nil over HTTP/1.1.
  /// - Returns: Whether the request is accepted. After GOAWAY, those of later streams are ignored.
  func begin(_ stream: HTTP2StreamID?) -> Bool {
    if let stream, let lastAccepted, stream > lastAccepted { return false }
    streams += 1
    openStreams += 1
    if let stream { lastStream = max(lastStream, stream) }
    if let limit = faults.streamsPerConnection, streams >= limit { goAway() }
    return true
  }

  /// Notes the end of a request, with or without a response.
  func end() {
    openStreams -= 1
    if isGoingAway, openStreams == 0, isHTTP2 {
      close()
    }
  }

  /// Takes no further messages. The client may send those of later streams again (RFC 9113 section 6.8).
  func goAway() {
    if isGoingAway { return }
    isGoingAway = true
    guard isHTTP2 else { return }
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    // Frames of other streams may be in the same read. They are processed first.
    channel.eventLoop.execute {
      let connection = bound.value
      connection.lastAccepted = connection.lastStream
      connection.writeGoAway()
      if connection.openStreams == 0 { connection.close() }
    }
  }

  /// Closes the connection after the last response, if the client has not done so. A connection that is closed before it has
  /// read all is reset, and the client may then never see the GOAWAY frame.
  private func close() {
    let channel = channel
    channel.eventLoop.scheduleTask(in: Self.closingTime) { channel.close(promise: nil) }
  }

  /// Writes a GOAWAY frame without the handler of HTTP/2, which would take the content of later streams for an error of
  /// the client and stop.
  private func writeGoAway() {
    // The length, the type, the flags, and the connection's stream; then the last stream and NO_ERROR.
    write([0, 0, 8, 7, 0, 0, 0, 0, 0], Int32(lastStream), 0)
  }

  /// Resets a stream with REFUSED_STREAM, an error that the handler of HTTP/2 does not offer.
  func refuse(_ stream: HTTP2StreamID) {
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    // The handler may not have written its own first frames yet.
    channel.eventLoop.execute {
      // The length, the type and the flags; then the stream and the error.
      bound.value.write([0, 0, 4, 3, 0], Int32(stream), 7)
    }
  }

  private func write(_ head: [UInt8], _ fields: Int32...) {
    guard let http2 = try? channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self) else { return }
    var frame = channel.allocator.buffer(capacity: 17)
    frame.writeBytes(head)
    for field in fields { frame.writeInteger(field) }
    http2.writeAndFlush(NIOAny(frame), promise: nil)
  }

  /// Sends a response, perhaps after later ones.
  func send(_ response: @escaping () -> Void) {
    let count = faults.reordering
    if count < 2 { return response() }
    held.append(response)
    if held.count >= count { return release() }
    guard held.count == 1 else { return }
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.eventLoop.scheduleTask(in: Self.reorderingTime) { bound.value.release() }
  }

  private func release() {
    let responses = held
    held = []
    for response in responses.reversed() { response() }
  }

  /// Ends the connection without an end of TLS.
  ///
  /// - Parameter isReset: Whether the connection is reset rather than closed.
  func abort(isReset: Bool) {
    let bound = NIOLoopBound(channel, eventLoop: channel.eventLoop)
    let close: @Sendable () -> Void = {
      let sync = bound.value.pipeline.syncOperations
      // A close that begins here skips the handshake that ends TLS.
      guard let tls = try? sync.context(handlerType: NIOSSLServerHandler.self) else {
        return bound.value.close(promise: nil)
      }
      tls.close(mode: .all, promise: nil)
    }
    guard isReset, let socket = channel as? any SocketOptionProvider else { return close() }
    // A linger time of 0 discards the kernel's send buffer (socket(7), SO_LINGER).
    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in close() }
  }
}
