package import NIOCore

/// Closes connections without data loss. Pending output is sent first. After the last answer, further input is
/// discarded until the client closes, too, or `ConnectionLimits.lingeringBytes` is exceeded: an immediate close would
/// make the kernel reset the connection, and the client could lose an answer that it has not read (RFC 9112 section
/// 9.6).
///
/// The handler stands before the decoder and the encoder.
package final class LingeringClose: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The event that closes the connection once what has been written has left.
  package enum Event: Sendable { case closeWhenSent }

  private let limits: ConnectionLimits
  private var isInputOver = false
  /// The output ends with what has been written, and the connection with the client's end.
  private var isEnding = false
  /// Whether input is discarded.
  private var isDeaf = false
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
    case ChannelEvent.inputClosed: isInputOver = true
    // It comes when the last byte of the answer has left.
    case ChannelEvent.outputClosed:
      isDeaf = true
      close(context, in: limits.linger)
    case is ChannelShouldQuiesceEvent: close(context, in: limits.ending)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isEnding || isDeaf {
      bytes += unwrapInboundIn(data).readableBytes
      guard bytes <= limits.lingeringBytes else { return context.close(promise: nil) }
    }
    if !isDeaf { context.fireChannelRead(data) }
  }

  package func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
    closeWhenSent(context, promise)
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    // When the input is over, too, SwiftNIO would close all of it at once.
    if mode == .output, isInputOver { return closeWhenSent(context, promise) }
    if mode == .output { isEnding = true }
    context.close(mode: mode, promise: promise)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    // Not taken back if it closes before: SwiftNIO would look for it among the alarms of all connections.
    context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.context?.close(promise: nil) }
  }

  private func closeWhenSent(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    // One that is only being accepted sends nothing.
    guard context.channel.isActive else { return context.close(promise: promise) }
    guard !isEnding else { return context.channel.closeFuture.cascade(to: promise) }
    // An answer to what comes now would be cut off.
    isDeaf = true
    // What is written last leaves last.
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: promise) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
  }
}
