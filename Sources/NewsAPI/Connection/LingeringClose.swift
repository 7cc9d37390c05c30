package import NIOCore

/// After the last answer, throws away what the client still sends until it closes too. To close at once would make the
/// kernel reset the connection, and the client could lose an answer that it has not read (RFC 9112 section 9.6).
///
/// It stands before the decoder.
package final class LingeringClose: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer

  private let limits: ConnectionLimits
  private var isLingering = false
  private var bytes = 0
  private var alarm: Scheduled<Void>?

  package init(limits: ConnectionLimits) {
    self.limits = limits
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // It comes when the last byte of the answer has left.
    if case ChannelEvent.outputClosed = event {
      isLingering = true
      alarm = context.eventLoop.assumeIsolated().scheduleTask(in: limits.linger) { context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard isLingering else { return context.fireChannelRead(data) }
    bytes += unwrapInboundIn(data).readableBytes
    if bytes > limits.lingeringBytes { context.close(promise: nil) }
  }

  package func channelInactive(context: ChannelHandlerContext) {
    alarm?.cancel()
    context.fireChannelInactive()
  }
}
