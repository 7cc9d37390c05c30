import NIOCore
import NIOHTTP1

/// Holds a request that waits for something new, and everything behind it on its connection.
final class LongPollHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private final class Held {
    let head: HTTPRequestHead
    let wait: LongPolls.Wait
    /// Set while it waits.
    var ticket: LongPolls.Waiting.Ticket?
    var isWhole = false
    /// What the client has sent after it.
    var behind: [NIOAny] = []
    var wantsToRead = false

    init(_ head: HTTPRequestHead, _ wait: LongPolls.Wait) {
      self.head = head
      self.wait = wait
    }
  }

  private let polls: LongPolls
  private var held: Held?
  /// Nothing waits any more: the server is about to end, or the client has said that it sends no more.
  private var isClosing = false

  init(polls: LongPolls) {
    self.polls = polls
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let held {
      if held.isWhole {
        held.behind.append(data)
      } else if case .end = unwrapInboundIn(data) {
        held.isWhole = true
        hold(held, context)
      } else {
        context.fireChannelRead(data)
      }
    } else if !isClosing, case .head(let head) = unwrapInboundIn(data), let wait = polls.wait(for: head) {
      held = Held(head, wait)
    } else {
      context.fireChannelRead(data)
    }
  }

  /// Backpressure: nothing is read while a request waits, so that a client that sends ahead fills its own memory. SwiftNIO
  /// reports the end of the input all the same.
  func read(context: ChannelHandlerContext) {
    if let held, held.isWhole { held.wantsToRead = true } else { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      isClosing = true
      polls.leave()
      release(context)
    case ChannelEvent.inputClosed:
      isClosing = true
      release(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  private func hold(_ held: Held, _ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let release: @Sendable () -> Void = { bound.value.handler.release(bound.value.context) }
    held.ticket = polls.add(held.wait, on: context.eventLoop, release: release)
    if held.ticket == nil { self.release(context) }
  }

  /// Passes on what is held.
  private func release(_ context: ChannelHandlerContext) {
    guard let held, held.isWhole else { return }
    leave()
    context.fireChannelRead(wrapInboundOut(.head(held.head)))
    context.fireChannelRead(wrapInboundOut(.end(nil)))
    for data in held.behind { channelRead(context: context, data: data) }
    context.fireChannelReadComplete()
    if held.wantsToRead { read(context: context) }
  }

  private func leave() {
    guard let held = held.take() else { return }
    if let ticket = held.ticket { polls.remove(ticket) }
  }
}
