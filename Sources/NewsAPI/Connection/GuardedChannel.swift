import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The framework's HTTP/1.1 connection with our handlers behind its decoder. They see requests as NIOHTTP1 has them,
/// because version and `Host` are lost on the way to the framework's own kind.
struct GuardedChannel: ServerChildChannel {
  /// A connection, before the framework has seen a request of it.
  struct Value: ServerChildChannelValue {
    let channel: any Channel
    fileprivate let router: EventLoopFuture<HTTP1Channel.Value>
  }

  private let http: HTTP1Channel
  private let limits: ConnectionLimits
  private let metrics: APIMetrics
  private let addressLimits: AddressLimits?
  private let hotAnswers: HotAnswers
  private let polls: LongPolls
  private let streams: EventStreams
  private let onConnection: (@Sendable (any Channel) -> Void)?

  init(
    responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, addressLimits: AddressLimits?,
    metrics: APIMetrics, hotAnswers: HotAnswers, polls: LongPolls, streams: EventStreams,
    onConnection: (@Sendable (any Channel) -> Void)?
  ) {
    self.limits = limits
    self.addressLimits = addressLimits
    self.metrics = metrics
    self.hotAnswers = hotAnswers
    self.polls = polls
    self.streams = streams
    self.onConnection = onConnection
    http = HTTP1Channel(responder: responder)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      // Each connection keeps a buffer, which grows with what is read: most requests are small.
      try channel.syncOptions?.setOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
      let pipeline = channel.pipeline.syncOperations
      let timeLimits = TimeLimits(limits: limits)
      let entrance = RouterEntrance(on: channel.eventLoop, logger: logger)
      try pipeline.addHandler(LingeringClose(limits: limits))
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
        withEncoderConfiguration: HTTPResponseEncoder.Configuration(), withDecoderLimitConfiguration: Self.decoderLimits
      )
      try pipeline.addHandlers([OriginForm(), timeLimits])
      let rateGate = rateGate(for: channel.remoteAddress)
      if let rateGate { try pipeline.addHandler(rateGate) }
      try pipeline.addHandlers([
        LongPollHandler(polls: polls),
        HotPath(answers: hotAnswers, timeLimits: timeLimits, rateGate: rateGate, logger: logger),
        EventStreamHandler(streams: streams, logger: logger),
        RequestGuard(logger: logger, count: metrics.countRefusal), FileSender(), entrance,
      ])
      onConnection?(channel)
      return Value(channel: channel, router: entrance.router)
    }
  }

  func handle(value: Value, logger: Logger) async {
    let router = await withTaskCancellationHandler {
      try? await value.router.get()
    } onCancel: {
      value.channel.close(mode: .input, promise: nil)
    }
    if let router { await http.handle(value: router, logger: logger) }
  }

  /// nil where nothing is limited: then nothing stands in the way.
  private func rateGate(for peer: SocketAddress?) -> RateGate? {
    guard let addressLimits else { return nil }
    let judgement = addressLimits.judgement(of: peer.flatMap { IPAddress($0) })
    if case .unlimited = judgement { return nil }
    return RateGate(limits: addressLimits, judgement: judgement, count: metrics.addressLimited)
  }

  /// Twice of what `HeaderLimit` allows: it has the better answer.
  private static let decoderLimits = {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 2 * HeaderLimit.bytes
    limits.maxHeaderListSize = 2 * HeaderLimit.bytes
    limits.maxHeaderFieldCount = 256
    return limits
  }()
}
