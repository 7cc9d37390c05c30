import Logging
import NIOCore
import NIOHTTP1

/// Answers repeated reads from memory, before they become requests of the framework: byte for byte what the router
/// would, and only in turn, when no earlier request of the connection waits for its answer.
///
/// It stands behind `TimeLimits` and `RateGate`, which it tells of its answers, and before `RequestGuard`, whose judgement it never
/// takes the place of: what is not plain goes on to there.
final class HotPath: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let answers: HotAnswers
  private let timeLimits: TimeLimits
  private let rateGate: RateGate?
  private let logger: Logger
  /// The encoder's, which is passed by.
  private var encoder: ChannelHandlerContext?
  /// Requests that were passed on, and whose answers are not written yet.
  private var owed = 0
  /// The answer to the request that is being read.
  private var answer: HotAnswer?
  private var target = ""
  private var needsFlush = false
  private var wantsToRead = false
  private var isOver = false

  init(answers: HotAnswers, timeLimits: TimeLimits, rateGate: RateGate?, logger: Logger) {
    self.answers = answers
    self.timeLimits = timeLimits
    self.rateGate = rateGate
    self.logger = logger
  }

  func handlerAdded(context: ChannelHandlerContext) {
    encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    encoder = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      if owed == 0, !isOver, encoder != nil, let answer = answers.answer(to: head) {
        self.answer = answer
        target = head.uri
        return
      }
      owed += 1
    case .body: break
    case .end:
      if let answer = answer.take() { return write(answer, context) }
    }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if needsFlush {
      needsFlush = false
      encoder?.flush()
    }
    context.fireChannelReadComplete()
  }

  /// Of a client that does not take its answers no more requests are read.
  func read(context: ChannelHandlerContext) {
    if context.channel.isWritable { context.read() } else { wantsToRead = true }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, wantsToRead {
      wantsToRead = false
      context.read()
    }
    context.fireChannelWritabilityChanged()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head): if head.headers.contains(name: "connection") { isOver = true }
    case .body: break
    case .end: owed -= 1
    }
    context.write(data, promise: promise)
  }

  private func write(_ answer: HotAnswer, _ context: ChannelHandlerContext) {
    guard let encoder else { return }
    answer.write(to: encoder, answers.dateLine())
    needsFlush = true
    timeLimits.wasAnswered(context)
    rateGate?.wasAnswered(status: answer.status)
    logger.debug(
      "request", metadata: ["method": "GET", "path": "\(target.prefix { $0 != "?" })", "status": "\(answer.status)"])
  }
}
