import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The framework's HTTP/1.1 connection with our handlers around its decoder. They stand there and not behind it, where
/// the framework lets others stand, because version and `Host` of a request are lost on the way.
struct GuardedChannel: ServerChildChannel {
  private let channel: HTTP1Channel
  private let limits: ConnectionLimits
  private let metrics: APIMetrics
  private let hotAnswers: HotAnswers
  private let polls: LongPolls
  private let streams: EventStreams

  init(
    responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, metrics: APIMetrics,
    hotAnswers: HotAnswers, polls: LongPolls, streams: EventStreams
  ) {
    self.limits = limits
    self.metrics = metrics
    self.hotAnswers = hotAnswers
    self.polls = polls
    self.streams = streams
    channel = HTTP1Channel(
      responder: responder,
      // Twice of what `HeaderLimit` allows: it has the better answer.
      configuration: HTTP1Channel.Configuration(
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 2 * HeaderLimit.bytes, maxHeaderListSize: 2 * HeaderLimit.bytes,
          maxHeaderFieldCount: 256)))
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    self.channel.setup(channel: channel, logger: logger).flatMapThrowing { value in
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(LingeringClose(limits: limits), position: .before(decoder))
      let timeLimits = TimeLimits(limits: limits)
      try pipeline.addHandlers(
        [
          timeLimits, LongPollHandler(polls: polls),
          HotPath(answers: hotAnswers, timeLimits: timeLimits, logger: logger),
          EventStreamHandler(streams: streams, logger: logger),
          RequestGuard(logger: logger, count: metrics.countRefusal),
        ], position: .after(decoder))
      return value
    }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await channel.handle(value: value, logger: logger)
  }
}
