package import NIOCore

/// Answers plain requests from memory before the decoder, which costs more than the rest of such a response.
///
/// It does so only at a boundary between two messages: the decoder has received whole requests without a body, and all of
/// them have been answered. Otherwise the bytes would be the rest of a message that the decoder has begun, and the response
/// would be one to a request that nobody has sent (request smuggling). The handler comes before the decoder in the pipeline.
package final class RequestRecognizer: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer

  private let connection: ConnectionHandler
  /// The bytes that the decoder has received since the last boundary; nil if its place is unknown.
  private var begun: ByteBuffer? = ByteBuffer()
  /// The input after a response that the client has not read.
  private var rest = ByteBuffer()
  private var hasWithheldRead = false
  private var hasScheduled = false
  /// Whether the decoder has received bytes in this read cycle.
  private var hasForwarded = false

  package init(_ connection: ConnectionHandler) {
    self.connection = connection
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    if rest.readableBytes > 0 { rest.writeBuffer(&bytes) } else { receive(bytes, context) }
  }

  private func receive(_ input: ByteBuffer, _ context: ChannelHandlerContext) {
    var bytes = input
    while bytes.readableBytes > 0 {
      guard begun?.readableBytes == 0, connection.answersEarly else { return forward(bytes, context) }
      guard context.channel.isWritable else {
        rest = bytes
        return
      }
      let match = bytes.withUnsafeReadableBytes {
        RequestGrammar.match($0, forwardingField: connection.forwardingField)
      }
      guard case .request(let request) = match, connection.answer(request, context) else {
        return forward(bytes, context)
      }
      bytes.moveReaderIndex(forwardBy: request.length)
    }
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    // The handlers after this one have nothing to complete if they have received nothing.
    guard hasForwarded else { return connection.completeRead(context) }
    hasForwarded = false
    context.fireChannelReadComplete()
  }

  /// Passes bytes on to the decoder, and looks for the last boundary in them.
  private func forward(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    hasForwarded = true
    if var begun {
      self.begun = nil
      begun.writeImmutableBuffer(bytes)
      self.begun = Self.afterLastRequest(begun)
    }
    context.fireChannelRead(wrapInboundOut(bytes))
  }

  /// Returns the bytes after the last whole request; nil if there is anything but requests without a body.
  private static func afterLastRequest(_ input: ByteBuffer) -> ByteBuffer? {
    var bytes = input
    while bytes.readableBytes > 0 {
      switch bytes.withUnsafeReadableBytes({ RequestGrammar.match($0) }) {
      case .request(let request): bytes.moveReaderIndex(forwardBy: request.length)
      case .incomplete:
        bytes.discardReadBytes()
        return bytes
      case .other: return nil
      }
    }
    // Without the memory of the requests.
    return ByteBuffer()
  }

  // MARK: Backpressure

  package func read(context: ChannelHandlerContext) {
    if rest.readableBytes > 0 { hasWithheldRead = true } else { context.read() }
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    guard rest.readableBytes > 0, context.channel.isWritable, !hasScheduled else { return }
    // Not now, because the change may have come from within a flush of earlier responses.
    hasScheduled = true
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    context.eventLoop.execute {
      let (handler, context) = bound.value
      handler.hasScheduled = false
      handler.resume(context)
    }
  }

  /// Processes the input that has waited.
  private func resume(_ context: ChannelHandlerContext) {
    guard rest.readableBytes > 0 else { return }
    receive(takeRest(), context)
    context.fireChannelReadComplete()
    if rest.readableBytes == 0, hasWithheldRead {
      hasWithheldRead = false
      context.read()
    }
  }

  private func takeRest() -> ByteBuffer {
    defer { rest = ByteBuffer() }
    return rest
  }

  /// Passes the input that has waited on to the decoder before another event, so that their order remains.
  private func forwardRest(_ context: ChannelHandlerContext) {
    guard rest.readableBytes > 0 else { return }
    forward(takeRest(), context)
    context.fireChannelReadComplete()
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    forwardRest(context)
    context.fireUserInboundEventTriggered(event)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    forwardRest(context)
    context.fireChannelInactive()
  }
}
