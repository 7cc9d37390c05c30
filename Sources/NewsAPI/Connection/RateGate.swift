import HTTPTypes
import NIOCore
import NIOHTTP1

/// Lets in no more requests than an address may send, and refuses the first one too many in its turn, with which the
/// connection ends.
///
/// It stands before all that may answer. Whose the requests are is settled when the connection is made, where no proxy
/// speaks for others.
final class RateGate: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The error by which `RequestGuard` is told to refuse the request that was read last.
  struct Exceeded: Error {
    let problem: ProblemError
    let hasBody: Bool
  }

  private let limits: AddressLimits
  private let judgement: AddressLimits.Judgement
  private let count: @Sendable () -> Void
  /// Who pays for the requests whose answers are not written yet.
  private var owed = CircularBuffer<RateBucket?>()
  private var refusal: Exceeded?
  private var isOver = false
  private var wantsToRead = false
  private var context: ChannelHandlerContext?

  /// - Parameter count: Told of each refusal.
  init(limits: AddressLimits, judgement: AddressLimits.Judgement, count: @escaping @Sendable () -> Void) {
    self.limits = limits
    self.judgement = judgement
    self.count = count
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    if case .head(let head) = unwrapInboundIn(data) {
      let bucket = payer(of: head)
      if let bucket, let problem = limits.take(bucket) { return refuse(problem, head) }
      owed.append(bucket)
    }
    context.fireChannelRead(data)
  }

  /// Backpressure: input after a refused request is discarded, so none is read until the refusal can be written.
  func read(context: ChannelHandlerContext) {
    if refusal == nil { context.read() } else { wantsToRead = true }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    context.write(data, promise: promise)
    switch part {
    case .head(let head): if head.status.code >= 200 { owed.first??.answered(status: Int(head.status.code)) }
    case .body: break
    case .end: wasAnswered()
    }
  }

  /// The first request that is owed an answer has got it, without the answer having come by here.
  func wasAnswered(status: Int) {
    owed.first??.answered(status: status)
    wasAnswered()
  }

  private func wasAnswered() {
    _ = owed.popFirst()
    refuseIfDue()
  }

  private func payer(of head: HTTPRequestHead) -> RateBucket? {
    if AddressLimits.isExempt(head.uri) { return nil }
    switch judgement {
    case .client(let bucket): return bucket
    case .proxy(let proxy): return limits.bucket(of: head, through: proxy)
    case .unlimited: return nil
    }
  }

  private func refuse(_ problem: ProblemError, _ head: HTTPRequestHead) {
    var problem = problem
    // Whoever may read what is there may also read why not.
    if !head.uri.hasPrefix("/v1/editorial/") { CrossOrigin.add(to: &problem.headers) }
    isOver = true
    refusal = Exceeded(problem: problem, hasBody: head.method != .HEAD)
    refuseIfDue()
  }

  private func refuseIfDue() {
    guard owed.isEmpty, let refusal = refusal.take() else { return }
    count()
    context?.fireErrorCaught(refusal)
    if wantsToRead {
      wantsToRead = false
      context?.read()
    }
  }
}
