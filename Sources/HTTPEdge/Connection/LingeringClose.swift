package import NIOCore

/// Closes connections without data loss. Pending output is sent first. After the last response, further input is
/// discarded until the client closes, too, or a limit is exceeded: an immediate close would make the kernel reset the
/// connection, and the client could lose a response that it has not read (RFC 9112 section 9.6).
///
/// The handler comes before the decoder and the encoder in the pipeline.
package final class LingeringClose: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The event that closes the connection after pending output has been sent.
  package enum Event: Sendable { case closeWhenSent }

  private let limits: ConnectionLimits
  private var isInputClosed = false
  /// Whether the output ends after pending bytes. The connection ends when the client closes.
  private var isEnding = false
  private var discardsInput = false
  /// The bytes received since the output began to end.
  private var bytes = 0
  private var context: ChannelHandlerContext?

  package init(limits: ConnectionLimits) {
    self.limits = limits
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed: isInputClosed = true
    // The event is sent after the last byte of the response.
    case ChannelEvent.outputClosed:
      discardsInput = true
      close(context, in: limits.lingerTimeout)
    case is ChannelShouldQuiesceEvent: close(context, in: limits.shutdownTimeout)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isEnding || discardsInput {
      bytes += unwrapInboundIn(data).readableBytes
      guard bytes <= limits.maximumLingeringBytes else { return context.close(promise: nil) }
    }
    if !discardsInput { context.fireChannelRead(data) }
  }

  package func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
    closeWhenSent(context, promise)
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // SwiftNIO would close the whole connection at once if its input is closed, too.
    if mode == .output, isInputClosed { return closeWhenSent(context, promise) }
    if mode == .output { isEnding = true }
    context.close(mode: mode, promise: promise)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    // The timer is never cancelled, because SwiftNIO would search for it among the timers of all connections.
    context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.context?.close(promise: nil) }
  }

  private func closeWhenSent(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    // A channel that is still being accepted has sent nothing.
    guard context.channel.isActive else { return context.close(promise: promise) }
    guard !isEnding else { return context.channel.closeFuture.cascade(to: promise) }
    // The response to a request that arrives now would be cut off.
    discardsInput = true
    // The last write completes after all earlier ones.
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: promise) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
  }
}
