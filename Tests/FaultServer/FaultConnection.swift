import NIOCore

#if canImport(Glibc)
  import Glibc
#endif

/// Parses the requests of a connection and sends the responses as planned, one at a time.
final class FaultConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum Signal: Sendable {
    /// Stalled responses continue.
    case release
    /// A stream has bytes to send.
    case streamReady
  }

  /// A response that is being sent.
  private struct Sending {
    var rest: ByteBuffer
    var stream: FaultStream?
    var ending: FaultEnding?
    /// The number of bytes to send before the early end.
    var cut: Int?
    var pace: FaultResponse.Pace?
    /// The number of bytes to send before the pacing begins.
    var head = 0
    var closes: Bool
    var isWriting = false
    var hangs = false
    /// Whether the response can outlast the client.
    var isSlow: Bool { pace != nil || hangs || stream != nil }
  }

  private let number: Int
  private let server: FaultServer
  private var parser = RequestParser()
  private var sending: Sending?
  private var inputIsOver = false

  /// The maximum number of bytes per write, so that the server knows how much the client has accepted.
  private static let slice = 64 << 10

  init(number: Int, server: FaultServer) {
    self.number = number
    self.server = server
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    server.count(read: bytes.readableBytes)
    parser.feed(bytes)
    serve(context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case Signal.release:
      guard sending?.hangs == true else { return }
      sending?.hangs = false
      sending?.cut = nil
      proceed(context)
    case Signal.streamReady:
      proceed(context)
    case ChannelEvent.inputClosed:
      inputIsOver = true
      // A client that has gone cannot be distinguished from a client that has only closed its sending side.
      if sending?.isSlow ?? true { context.close(promise: nil) }
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    sending?.stream?.abandon()
    sending = nil
    server.forget(number)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func serve(_ context: ChannelHandlerContext) {
    guard sending == nil else { return }
    guard let request = parser.next(connection: number, arrival: server.time) else {
      if parser.expectsContinue {
        parser.hasContinued()
        write(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), context) {}
      }
      if inputIsOver { context.close(promise: nil) }
      return
    }
    let response = server.respond(to: request)
    var sending = Sending(
      rest: ByteBuffer(bytes: response.wire), stream: response.stream, ending: response.cut?.ending,
      cut: response.cut.map { response.offset(of: $0.point) }, pace: response.pace,
      closes: response.endsConnection || request.endsConnection)
    sending.head = response.pace.map { response.offset(of: $0.point) } ?? 0
    self.sending = sending
    response.stream?.attach(signalling(.streamReady, context))
    proceed(context)
  }

  private func signalling(_ signal: Signal, _ context: ChannelHandlerContext) -> @Sendable () -> Void {
    { [channel = context.channel] in channel.pipeline.fireUserInboundEventTriggered(signal) }
  }

  private func proceed(_ context: ChannelHandlerContext) {
    guard var sending, !sending.isWriting, !sending.hangs else { return }
    if let stream = sending.stream {
      var (bytes, isOver, ending) = stream.take()
      sending.rest.writeBuffer(&bytes)
      if isOver {
        sending.stream = nil
        if let ending, sending.ending == nil {
          sending.ending = ending
          sending.cut = sending.rest.readableBytes
        }
      }
    }
    let isPaced = sending.pace != nil && sending.head == 0
    let most = isPaced ? sending.pace?.bytes ?? 0 : sending.head > 0 ? min(sending.head, Self.slice) : Self.slice
    let count = min(most, sending.rest.readableBytes, sending.cut ?? .max)
    let interval = isPaced ? sending.pace?.interval : nil
    guard count > 0, let bytes = sending.rest.readSlice(length: count) else {
      self.sending = sending
      return atRest(context)
    }
    if !isPaced { sending.head = max(0, sending.head - count) }
    sending.cut = sending.cut.map { $0 - count }
    sending.isWriting = true
    self.sending = sending
    let bound = NIOLoopBound((connection: self, context: context), eventLoop: context.eventLoop)
    let send: @Sendable () -> Void = {
      let (connection, context) = bound.value
      connection.write(bytes, context) {
        connection.sending?.isWriting = false
        connection.proceed(context)
      }
    }
    guard let interval else { return send() }
    context.eventLoop.scheduleTask(in: TimeAmount(interval), send)
  }

  /// Handles the end of a burst: nothing can be sent at present, or nothing is left.
  private func atRest(_ context: ChannelHandlerContext) {
    guard let sending else { return }
    if sending.cut == 0, let ending = sending.ending {
      switch ending {
      case .hang:
        self.sending?.hangs = true
        if inputIsOver { context.close(promise: nil) }
      case .close: context.close(promise: nil)
      case .reset: reset(context)
      }
    } else if sending.stream == nil {
      self.sending = nil
      if sending.closes { context.close(promise: nil) } else { serve(context) }
    }
  }

  private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ next: @escaping () -> Void) {
    let bound = NIOLoopBound((server: server, next: next), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenSuccess {
      bound.value.server.count(written: bytes.readableBytes)
      // The next write runs in a new turn of the event loop. Completed futures would otherwise recurse through a long
      // body.
      context.eventLoop.assumeIsolated().execute { bound.value.next() }
    }
  }

  private func reset(_ context: ChannelHandlerContext) {
    guard let socket = context.channel as? any SocketOptionProvider else { return context.close(promise: nil) }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    // Closing with a linger time of 0 aborts the connection and discards the kernel's send buffer (socket(7),
    // SO_LINGER).
    socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in bound.value.close(promise: nil) }
  }
}
