import Foundation
import HTTPConditions
import HTTPTypes
import Hummingbird
package import Logging
package import NIOCore
package import NIOHTTP1
import News

/// Rejects malformed requests before they reach the router, each in its turn, and ends connections that cannot or must
/// not continue (RFC 9112 section 9).
///
/// Targets are in origin form already (`OriginForm`).
package final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias InboundOut = HTTPServerRequestPart
  package typealias OutboundIn = HTTPServerResponsePart
  package typealias OutboundOut = HTTPServerResponsePart

  /// The event by which a handler says that it wants the body, and the client is to send it.
  package enum Event: Sendable {
    case bodyWanted
    /// Asks whether the body that a handler has read to its end was whole: succeeds, or fails with `BodyCut`. To the
    /// framework the end of a connection is the end of a body.
    case bodyTaken
  }

  /// The connection ended before the body did.
  package struct BodyCut: Error {}

  private let logger: Logger
  private let count: @Sendable (_ status: Int, _ bytes: Int) -> Void
  /// Requests that were passed on, and whose answers are not written yet.
  private var owed = 0
  /// The last request that was passed on has not ended.
  private var isInRequest = false
  /// After that request nothing is passed on any more.
  private var isLast = false
  private var expectsContinue = false
  private var isBodyWanted = false
  /// Why the body ended too early, for a handler that wants it. To another it would be the end of the connection, in
  /// the middle of its answer.
  private var bodyError: (any Error)?
  /// What is left to say once nothing is owed.
  private var refusal: Refusal?
  /// The answer being written is the last one.
  private var isLastAnswer = false
  private var isOver = false
  /// Whether the last request has arrived as far as it is wanted. Anything further is discarded.
  private var isInputOver: Bool { isLast && (!isInRequest || hasBrokenBody) }
  private var hasBrokenBody = false
  /// Whether input is read again, for `LingeringClose` to discard a bounded number of bytes.
  private var isDraining = false
  private var wantsToRead = false

  /// - Parameter count: Told of each refusal, which no router counts.
  package init(logger: Logger, count: @escaping @Sendable (_ status: Int, _ bytes: Int) -> Void) {
    self.logger = logger
    self.count = count
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard !isLast else { return }
      if let problem = head.refusal { return refuse(problem, hasBody: head.method != .HEAD, context) }
      owed += 1
      isInRequest = true
      isLast = head.isLast
      expectsContinue = head.expectsContinue
      isBodyWanted = false
      context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body:
      guard isInRequest else { return }
      expectsContinue = false
      context.fireChannelRead(data)
    case .end:
      guard isInRequest else { return }
      isInRequest = false
      expectsContinue = false
      context.fireChannelRead(data)
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case let refused as RateGate.Exceeded: refuse(refused.problem, hasBody: refused.hasBody, context)
    case is HTTPParserError, is TimeLimits.Exceeded:
      guard isInRequest else {
        if !isLast { refuse(ProblemError(message: error), hasBody: true, context) }
        return
      }
      isLast = true
      hasBrokenBody = true
      bodyError = error
      reportBodyError(context)
    // Bytes behind those that the decoder gave up on.
    case is ByteToMessageDecoderError: break
    default: context.fireErrorCaught(error)
    }
  }

  /// Backpressure: nothing is read after the last request until its answer has been written. SwiftNIO reports the end of
  /// the input all the same.
  package func read(context: ChannelHandlerContext) {
    if isInputOver, !isDraining { wantsToRead = true } else { context.read() }
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isOver else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      // Nobody waits for the rest of a body that the answer did not need.
      isLastAnswer = owed == 1 && refusal == nil && (isLast || isInRequest)
      if isLastAnswer {
        isLast = true
        head.headers.replaceOrAdd(name: "Connection", value: "close")
      }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      owed -= 1
      if isLastAnswer { return end(context) }
      if owed == 0, let refusal { write(refusal, context) }
    }
  }

  package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard let event = event as? Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
    if event == .bodyTaken {
      // Behind it another request has begun, or its own end has been read.
      if owed > 1 || !isInRequest { promise?.succeed() } else { promise?.fail(BodyCut()) }
      return
    }
    promise?.succeed()
    // A handler of an earlier request has its body already.
    guard owed == 1 else { return }
    isBodyWanted = true
    reportBodyError(context)
    if expectsContinue {
      expectsContinue = false
      context.writeAndFlush(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }
  }

  /// Between two requests nothing is left to be done, but what was written last may not have left yet.
  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .all, owed == 0 else {
      context.close(mode: mode, promise: promise)
      if mode == .output { drain(context) }
      return
    }
    context.triggerUserOutboundEvent(LingeringClose.Event.closeWhenSent, promise: promise)
  }

  private func reportBodyError(_ context: ChannelHandlerContext) {
    guard isBodyWanted, !isOver, let error = bodyError else { return }
    bodyError = nil
    context.fireErrorCaught(error)
  }

  private func refuse(_ problem: ProblemError, hasBody: Bool, _ context: ChannelHandlerContext) {
    isLast = true
    let refusal = Refusal(problem, hasBody: hasBody)
    logger.debug(
      "message refused", metadata: ["status": "\(problem.problem.status)", "request": "\(refusal.requestID)"])
    if owed == 0 { write(refusal, context) } else { self.refusal = refusal }
  }

  private func write(_ refusal: Refusal, _ context: ChannelHandlerContext) {
    count(Int(refusal.head.status.code), refusal.body?.readableBytes ?? 0)
    context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
    if let body = refusal.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    end(context)
  }

  private func end(_ context: ChannelHandlerContext) {
    isOver = true
    context.flush()
    context.close(mode: .output, promise: nil)
    drain(context)
  }

  private func drain(_ context: ChannelHandlerContext) {
    isDraining = true
    if wantsToRead {
      wantsToRead = false
      context.read()
    }
  }
}

/// An answer that no handler had a part in.
private struct Refusal {
  let requestID = RequestID().description
  let head: HTTPResponseHead
  let body: ByteBuffer?

  init(_ problem: ProblemError, hasBody: Bool) {
    var fields = problem.response.headers
    fields[.connection] = "close"
    fields[.date] = HTTPDate.format(Date())
    fields[.requestID] = requestID
    head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: problem.problem.status),
      headers: HTTPHeaders(fields))
    body = hasBody ? problem.body : nil
  }
}

extension ProblemError {
  /// - Parameter message: Why the decoder or the clock gave up on a message.
  fileprivate init(message error: any Error) {
    self =
      switch error {
      case is TimeLimits.Exceeded: .requestTimeout
      case HTTPParserError.headerOverflow: .headersTooLarge
      case HTTPParserError.invalidMethod: .notImplemented("There is no such method.")
      case HTTPParserError.invalidVersion: .versionNotSupported
      default: .malformedRequest(nil)
      }
  }
}
