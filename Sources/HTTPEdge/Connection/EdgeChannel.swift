package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NetworkAddresses

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
    http = HTTP1Channel { [executor = services.executor] request, writer, channel in
      guard let executor = executor(request.head) else { return try await responder(request, writer, channel) }
      // A closure cannot consume what it captures.
      var writer = Optional(writer)
      try await withTaskExecutorPreference(executor) {
        guard let writer = writer.take() else { return }
        try await responder(request, writer, channel)
      }
    }
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      // Each connection keeps a buffer, which grows with what is read: most requests are small.
      try channel.syncOptions?.setOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
      #if os(Linux)
        // The kernel would otherwise take whole pages for clients that read slowly: memory that no budget counts, and
        // copies that delay all other connections. In a test, the channel may have no socket.
        try? channel.syncOptions?.setOption(Self.maximumUnsentBytes.option, value: Self.maximumUnsentBytes.value)
      #endif
      let pipeline = channel.pipeline.syncOperations
      let routerChannel = LazyRouterChannel(on: channel.eventLoop, logger: logger)
      let client = services.addressLimits?.client(of: channel.remoteAddress.flatMap { IPAddress($0) })
      let connection = ConnectionHandler(
        services: services, recent: services.recentResponses(on: channel.eventLoop), client: client ?? .unlimited,
        logger: logger)
      try pipeline.addHandler(LingeringClose(limits: services.limits))
      if services.recognizesRequests { try pipeline.addHandler(RequestRecognizer(connection)) }
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: HTTPResponseEncoder.Configuration(), withDecoderLimitConfiguration: Self.decoderLimits
      )
      try pipeline.addHandlers([connection, FileSender(), routerChannel])
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
    guard let router else { return }
    await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
      await http.handle(value: router, logger: logger)
    }
  }

  #if os(Linux)
    /// `TCP_NOTSENT_LOWAT` (tcp(7), include/uapi/linux/tcp.h): the bytes that the kernel accepts beyond those it has sent.
    private static let maximumUnsentBytes = (
      option: ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 25)),
      value: ChannelOptions.Types.SocketOption.Value(128 << 10)
    )
  #endif

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

/// A task executor that runs tasks on the thread of an event loop, so that a request changes threads neither for its body
/// nor for its response. The tasks must neither block nor compute for long, because the loop's other connections wait.
final class EventLoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
