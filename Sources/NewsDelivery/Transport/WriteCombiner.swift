package import NIOCore
import NIOHTTP2

/// Combines the frames that all streams of an HTTP/2 connection write within an iteration of its event loop.
///
/// AsyncHTTPClient writes and flushes the head, the body and the end of each request separately. Without this handler,
/// each of them is encrypted as a TLS record of its own and sent by a system call of its own.
package final class WriteCombiner: ChannelOutboundHandler {
  package typealias OutboundIn = IOData
  package typealias OutboundOut = IOData

  /// The size in bytes from which frames do not wait for others. The service can then process the first requests while
  /// further ones are written.
  package static let limit = 1 << 12

  private var bytes = ByteBuffer()
  /// The promise of the first write in `bytes` that has one. Those of later writes follow it.
  private var promise: EventLoopPromise<Void>?
  private var isFlushScheduled = false

  package init() {}

  /// Adds the handler to a new connection, between the frames and their encryption.
  static func add(to connection: any Channel) throws {
    let pipeline = connection.pipeline.syncOperations
    try pipeline.addHandler(
      WriteCombiner(), position: .before(try pipeline.handler(type: NIOHTTP2Handler.self)))
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .byteBuffer(var frame) = unwrapOutboundIn(data) else {
      passOn(context)
      return context.write(data, promise: promise)
    }
    bytes.writeBuffer(&frame)
    if let first = self.promise {
      first.futureResult.cascade(to: promise)
    } else {
      self.promise = promise
    }
  }

  package func flush(context: ChannelHandlerContext) {
    if bytes.readableBytes >= Self.limit { return flushNow(context) }
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    context.eventLoop.assumeIsolated().execute {
      guard self.isFlushScheduled else { return }
      self.isFlushScheduled = false
      self.flushNow(context)
    }
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if isFlushScheduled { flushNow(context) }
    context.close(mode: mode, promise: promise)
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    isFlushScheduled = false
    promise?.fail(ChannelError.ioOnClosedChannel)
    (bytes, promise) = (ByteBuffer(), nil)
  }

  private func flushNow(_ context: ChannelHandlerContext) {
    passOn(context)
    context.flush()
  }

  private func passOn(_ context: ChannelHandlerContext) {
    guard bytes.readableBytes > 0 else { return }
    context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    (bytes, promise) = (context.channel.allocator.buffer(capacity: Self.limit), nil)
  }
}
