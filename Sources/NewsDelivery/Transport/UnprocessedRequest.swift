import NIOCore
import NIOHTTP2

/// The error of a request that the service has certainly not processed. It may be sent again, and is not received twice
/// (RFC 9113 section 8.7).
struct UnprocessedRequest: Error {
  /// Adds the handler to a new connection.
  static func observe(connection: any Channel) throws {
    try connection.pipeline.syncOperations.addHandler(GoAwayHandler())
  }

  /// Adds the handler to a new stream.
  static func observe(stream: any Channel) throws {
    try stream.pipeline.syncOperations.addHandler(UnprocessedStreamHandler(), position: .first)
  }
}

/// Keeps the last stream of a connection that the service processes, once it is closing the connection.
private final class GoAwayHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  /// The lowest id in the GOAWAY frames so far. A service may send several, each with a lower one (RFC 9113 section 6.8).
  private(set) var lastStream = HTTP2StreamID.maxID

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .goAway(let lastStream, _, _) = unwrapInboundIn(data).payload {
      self.lastStream = min(self.lastStream, lastStream)
    }
    context.fireChannelRead(data)
  }
}

/// Replaces the error of a stream that the service has not processed.
private final class UnprocessedStreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.fireErrorCaught(isUnprocessed(error, context) ? UnprocessedRequest() : error)
  }

  /// A stream after the last one ends like one that the service has reset. Only GOAWAY distinguishes the two.
  private func isUnprocessed(_ error: any Error, _ context: ChannelHandlerContext) -> Bool {
    guard let closure = error as? NIOHTTP2Errors.StreamClosed else { return false }
    if closure.errorCode == .refusedStream { return true }
    let connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: GoAwayHandler.self)
    return connection.map { closure.streamID > $0.lastStream } ?? false
  }
}
