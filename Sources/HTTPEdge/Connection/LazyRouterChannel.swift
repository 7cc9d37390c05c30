import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The end of the pipeline. It adds the framework's handlers with the first request for the router: most connections only
/// poll or wait, and are answered before it.
final class LazyRouterChannel: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  /// The connection in the framework's form; fails if the connection ends before a request for the router.
  let router: EventLoopFuture<HTTP1Channel.Value>
  private var promise: EventLoopPromise<HTTP1Channel.Value>?
  private let logger: Logger

  init(on eventLoop: any EventLoop, logger: Logger) {
    let promise = eventLoop.makePromise(of: HTTP1Channel.Value.self)
    router = promise.futureResult
    self.promise = promise
    self.logger = logger
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let promise = promise.take() {
      do { promise.succeed(try open(context.channel)) } catch {
        promise.fail(error)
        return context.close(promise: nil)
      }
      // New handlers assume that the channel is writable.
      if !context.channel.isWritable { context.fireChannelWritabilityChanged() }
    }
    context.fireChannelRead(data)
  }

  private func open(_ channel: any Channel) throws -> HTTP1Channel.Value {
    try channel.pipeline.syncOperations.addHandlers(
      HTTP1ToHTTPServerCodec(secure: false), HTTPConnectionStateHandler(logger: logger))
    return try HTTP1Channel.Value(
      wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if promise != nil {
      switch event {
      case is ChannelShouldQuiesceEvent: context.close(promise: nil)
      case ChannelEvent.inputClosed: context.close(mode: .output, promise: nil)
      default: break
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if promise != nil { context.close(promise: nil) }
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.take()?.fail(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    promise.take()?.fail(ChannelError.ioOnClosedChannel)
  }
}
