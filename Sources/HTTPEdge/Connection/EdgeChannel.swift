package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1

/// The HTTP/1.1 connections of a server, with `ConnectionHandler` between the decoder and the framework. The handler sees
/// requests in NIOHTTP1's form, because version and `Host` are lost in the conversion to the framework's own.
package struct EdgeChannel: ServerChildChannel {
  /// A connection.
  package struct Value: ServerChildChannelValue {
    package let channel: any Channel
    /// The framework's part, which begins with the first request for the router.
    fileprivate let router: EventLoopFuture<HTTP1Channel.Value>
  }

  private let http: HTTP1Channel
  private let services: EdgeServices

  package init(services: EdgeServices, responder: @escaping HTTPChannelHandler.Responder) {
    self.services = services
    http = HTTP1Channel(responder: responder)
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      // Each connection keeps a buffer, which grows with what is read: most requests are small.
      try channel.syncOptions?.setOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
      let pipeline = channel.pipeline.syncOperations
      let routerChannel = LazyRouterChannel(on: channel.eventLoop, logger: logger)
      try pipeline.addHandler(LingeringClose(limits: services.limits))
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: HTTPResponseEncoder.Configuration(), withDecoderLimitConfiguration: Self.decoderLimits
      )
      let client = services.addressLimits?.client(of: channel.remoteAddress.flatMap { IPAddress($0) })
      try pipeline.addHandlers([
        ConnectionHandler(services: services, client: client ?? .unlimited, logger: logger), FileSender(),
        routerChannel,
      ])
      services.onConnection?(channel)
      return Value(channel: channel, router: routerChannel.router)
    }
  }

  package func handle(value: Value, logger: Logger) async {
    let router = await withTaskCancellationHandler {
      try? await value.router.get()
    } onCancel: {
      value.channel.close(mode: .input, promise: nil)
    }
    if let router { await http.handle(value: router, logger: logger) }
  }

  /// The maximum size of the target and all fields of a request together, in bytes. A larger header within the decoder's
  /// limit is left to the router, whose response is the better one.
  package static let maximumHeaderBytes = 16 * 1024

  private static let decoderLimits = {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 2 * maximumHeaderBytes
    limits.maxHeaderListSize = 2 * maximumHeaderBytes
    limits.maxHeaderFieldCount = 256
    return limits
  }()
}
