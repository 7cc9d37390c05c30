package import NIOCore
package import NIOHTTP1

/// Ends connections whose clients are too slow: silently between requests, with the error `Exceeded` within one.
///
/// It stands behind the decoder, and sees each part of each request and answer.
package final class TimeLimits: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias InboundOut = HTTPServerRequestPart
  package typealias OutboundIn = HTTPServerResponsePart
  package typealias OutboundOut = HTTPServerResponsePart

  /// The client took too long over a header or a body.
  package struct Exceeded: Error {}

  private enum Phase {
    /// No request is under way; bytes of earlier answers may still wait for the client.
    case idle(unsent: Int)
    case header
    case body(BodyAllowance)
    /// The next step is the server's.
    case answering
  }

  private let limits: ConnectionLimits
  private var phase = Phase.idle(unsent: 0)
  private var unanswered = 0
  private var hasReadPart = false
  private var deadline = NIODeadline.distantFuture
  /// Since when nothing more is read, because what was read is not dealt with yet: time that is not the client's.
  private var pausedSince: NIODeadline?
  /// When the next look at the deadline is due. No alarm is ever taken back: SwiftNIO would look for it among those of all
  /// connections.
  private var alarm: NIODeadline?
  private var context: ChannelHandlerContext?

  package init(limits: ConnectionLimits) {
    self.limits = limits
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { beIdle(context) }
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
  }

  package func channelActive(context: ChannelHandlerContext) {
    beIdle(context)
    context.fireChannelActive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasReadPart = true
    let now = context.eventLoop.now
    switch unwrapInboundIn(data) {
    case .head:
      unanswered += 1
      phase = .body(BodyAllowance(began: now))
      setDeadline(now + limits.bodyPause, context)
    case .body(let part):
      guard case .body(var allowance) = phase else { break }
      allowance.add(part.readableBytes)
      phase = .body(allowance)
      setDeadline(allowance.deadline(at: now, limits), context)
    case .end:
      if unanswered > 0 { phase = .answering } else { beIdle(context) }
    }
    context.fireChannelRead(data)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    // Bytes came and the decoder made nothing of them: a header has begun.
    if case .idle = phase, !hasReadPart {
      phase = .header
      setDeadline(context.eventLoop.now + limits.header, context)
    }
    hasReadPart = false
    pausedSince = context.eventLoop.now
    context.fireChannelReadComplete()
  }

  /// Backpressure: reading resumes once a disk, or an earlier answer, has caught up.
  package func read(context: ChannelHandlerContext) {
    if let since = pausedSince.take(), case .body(var allowance) = phase {
      let pause = context.eventLoop.now - since
      allowance.began = allowance.began + pause
      phase = .body(allowance)
      setDeadline(deadline + pause, context)
    }
    context.read()
  }

  /// The request whose end was read last is answered, without the answer having come by here.
  func wasAnswered(_ context: ChannelHandlerContext) {
    unanswered -= 1
    if unanswered == 0, case .answering = phase { beIdle(context) }
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    context.write(data, promise: promise)
    if case .end = unwrapOutboundIn(data) { wasAnswered(context) }
  }

  private func beIdle(_ context: ChannelHandlerContext) {
    phase = .idle(unsent: 0)
    setDeadline(context.eventLoop.now + limits.idle, context)
  }

  /// An alarm that rings too early costs less than one that is moved with each request.
  private func setDeadline(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    deadline = time
    if let alarm, alarm <= time { return }
    setAlarm(time, context)
  }

  private func setAlarm(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    alarm = time
    // A connection that is closed before is not kept for it.
    context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
      guard let self, alarm == time, let context = self.context, context.channel.isActive else { return }
      alarm = nil
      ring(context)
    }
  }

  private func ring(_ context: ChannelHandlerContext) {
    guard context.eventLoop.now >= deadline else { return setDeadline(deadline, context) }
    switch phase {
    case .idle(let before): closeUnlessSending(before, context)
    // The deadline is moved when the pause is over; until then it is looked at now and then.
    case .body where pausedSince != nil: setAlarm(context.eventLoop.now + limits.bodyPause, context)
    case .header, .body:
      context.fireErrorCaught(Exceeded())
      // Whatever is still said must be read, too.
      beIdle(context)
    case .answering: break
    }
  }

  /// A client that reads a large answer slowly is not idle, as long as it reads.
  private func closeUnlessSending(_ before: Int, _ context: ChannelHandlerContext) {
    let unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    guard unsent > 0, before == 0 || unsent < before else { return context.close(promise: nil) }
    phase = .idle(unsent: unsent)
    setDeadline(context.eventLoop.now + limits.bodyPause, context)
  }
}
