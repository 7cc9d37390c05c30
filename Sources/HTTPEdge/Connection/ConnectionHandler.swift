import DequeModule
import HTTPTypes
package import Logging
package import NIOCore
package import NIOHTTP1

/// Runs the HTTP/1.1 messages of a connection: it refuses malformed requests and those beyond a rate limit, answers
/// requests before the router where it can, keeps deadlines, and ends the connection (RFC 9112 section 9).
///
/// The handler is in the pipeline after the decoder and the encoder. The rules are in `ConnectionState` and
/// `ConnectionDeadline`; this class connects them to the channel.
package final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias InboundOut = HTTPServerRequestPart
  package typealias OutboundIn = HTTPServerResponsePart
  package typealias OutboundOut = HTTPServerResponsePart

  /// The events that a request handler sends about the body of its request.
  package enum Event: Sendable {
    /// The handler starts to read the body, so the client may send it.
    case bodyReadStarted
    /// The handler has read the body to its end. Succeeds if the body is complete, fails with `IncompleteBody` if not: the
    /// framework reports the end of a connection as the end of a body.
    case bodyReadEnded
  }

  /// The connection ended before the body did.
  package struct IncompleteBody: Error {}

  /// Input that waits while a request is held.
  enum Input {
    case part(HTTPServerRequestPart)
    case failure(any Error)
  }

  let services: EdgeServices
  let logger: Logger
  let client: AddressLimits.Client
  /// The responses that the event loop has sent recently.
  let recent: RecentResponses
  var state = ConnectionState()
  var deadline: ConnectionDeadline
  private let timer = DeadlineTimer()
  /// The refusal of the request that was read last.
  private var refusal: (reason: RequestRefusal, head: HTTPRequestHead?)?
  /// The result of the look in memory for the request that the decoder reads next; nil if there was none.
  var lookup: EarlyLookup?
  /// The response from memory to the request that is being read.
  var storedResponse: (response: StoredResponse, target: String)?
  var held: HeldRequest?
  /// The number of requests that were held so far.
  var heldCount = 0
  /// The streamed response, which is the last one of the connection.
  var stream: (any StreamedResponse)?
  /// The input after the held request. An empty `Deque` takes no memory, unlike a `CircularBuffer`.
  var heldInput = Deque<Input>()
  /// Whether the server shuts down, or the client has ended its output. No request is held then.
  var isClosing = false
  private(set) var context: ChannelHandlerContext?
  /// The context of the encoder, which stored responses bypass.
  private(set) var encoder: ChannelHandlerContext?
  /// Whether stored responses have been written since the last flush.
  var needsFlush = false
  /// Whether the bytes that were read last have completed a part of a message.
  var hasReadPart = false
  private var hasWithheldRead = false

  /// - Parameters:
  ///   - recent: The responses that the event loop has sent recently; nil if there are none.
  ///   - client: The client whose rate limit applies.
  package init(
    services: EdgeServices, recent: RecentResponses? = nil, client: AddressLimits.Client = .unlimited, logger: Logger
  ) {
    self.services = services
    self.recent = recent ?? RecentResponses(services.date)
    self.client = client
    self.logger = logger
    deadline = ConnectionDeadline(services.limits)
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    services.connections.add()
    encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    timer.handler = { self.expire(context) }
    if context.channel.isActive { beginIdle(context) }
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    encoder = nil
    timer.handler = nil
    services.connections.remove()
    releaseWaiting()
  }

  package func channelActive(context: ChannelHandlerContext) {
    beginIdle(context)
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    releaseWaiting()
    context.fireChannelInactive()
  }

  // MARK: Input

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    hasReadPart = true
    receive(.part(unwrapInboundIn(data)), context)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    completeRead(encoder)
    context.fireChannelReadComplete()
  }

  /// Ends a read cycle.
  ///
  /// - Parameter output: The context from which responses from memory are flushed; nil if there are none.
  func completeRead(_ output: ChannelHandlerContext?) {
    guard let context else { return }
    let now = context.eventLoop.now
    if !hasReadPart { deadline.receiveBytes(at: now) }
    hasReadPart = false
    deadline.pause(at: now)
    updateTimer(context)
    flush(output)
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is HTTPParserError: receive(.failure(error), context)
    // Bytes after a message that the decoder has rejected.
    case is ByteToMessageDecoderError: break
    default:
      if let stream { stream.end() } else if !state.isOver { context.fireErrorCaught(error) }
    }
  }

  /// Processes input, or keeps it while a request is held.
  func receive(_ input: Input, _ context: ChannelHandlerContext) {
    if held?.isComplete == true { return heldInput.append(input) }
    switch input {
    case .part(.head(let head)): receive(head, context)
    case .part(.body(let bytes)):
      deadline.receiveBody(bytes: bytes.readableBytes, at: context.eventLoop.now)
      if state.receiveBody() { context.fireChannelRead(wrapInboundOut(.body(bytes))) }
    case .part(.end(let trailers)): receiveEnd(trailers, context)
    case .failure(let error): fail(error, context)
    }
  }

  private func receive(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let lookup = lookup.take()
    guard state.acceptsRequest else { return }
    deadline.receiveHead(at: context.eventLoop.now)
    // Later steps receive the origin form only.
    let head = head.uri.utf8.first == UInt8(ascii: "/") ? head : head.inOriginForm
    let bucket = services.addressLimits?.bucket(of: head, from: client)
    if let bucket, let time = services.addressLimits?.charge(bucket) {
      services.onLimitedRequest()
      return refuse(.tooManyRequests(time), head, context)
    }
    if !isClosing, let deferral = services.responder.deferral(of: head) {
      return beginHeld(head, deferral, bucket: bucket)
    }
    begin(head, lookup, bucket: bucket, loads: !isClosing, context)
  }

  /// Begins a request after all earlier ones.
  ///
  /// - Parameters:
  ///   - lookup: The result of the look in memory; nil if there was none.
  ///   - loads: Whether the request may be held while its response is loaded.
  func begin(
    _ head: HTTPRequestHead, _ lookup: EarlyLookup?, bucket: RateBucket?, loads: Bool,
    _ context: ChannelHandlerContext
  ) {
    // A response from memory cannot say that it is the last one.
    if !state.isDraining, state.hasNoPendingResponse, encoder != nil {
      switch lookup ?? PlainRequest(head).flatMap({ services.responder.lookUp($0, isNew: false) }) {
      case .response(let found):
        found.count(false)
        return beginEarly(found.response, to: head, bucket: bucket)
      case .load(let load) where loads:
        return beginHeld(head, .wait(load(head, context.channel.remoteAddress, logger)), bucket: bucket)
      case .load, nil: break
      }
    }
    if let reason = head.refusal {
      refuse(reason, head, context)
    } else {
      state.begin(head, bucket: bucket)
      context.fireChannelRead(wrapInboundOut(.head(head)))
    }
  }

  private func receiveEnd(_ trailers: HTTPHeaders?, _ context: ChannelHandlerContext) {
    deadline.receiveEnd()
    if state.hasNoPendingResponse, held == nil { deadline.endResponses(at: context.eventLoop.now) }
    if state.end() { return context.fireChannelRead(wrapInboundOut(.end(trailers))) }
    if let (response, target) = storedResponse.take() {
      send(response, to: target, context)
    } else if let held, case .received(let deferral) = held.progress {
      hold(held, deferral, context)
    }
  }

  /// Handles a message that cannot be read to its end.
  private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
    if let stream { return stream.end() }
    switch state.failBody(error) {
    case true?: context.fireErrorCaught(error)
    case false?: break
    case nil: refuse(RequestRefusal(error), nil, context)
    }
  }

  // MARK: Backpressure

  package func read(context: ChannelHandlerContext) {
    guard state.reads, context.channel.isWritable else {
      hasWithheldRead = true
      return
    }
    deadline.resume(at: context.eventLoop.now)
    updateTimer(context)
    context.read()
  }

  /// Reads if a read has been withheld and is possible now.
  func resumeWithheldRead(_ context: ChannelHandlerContext) {
    guard hasWithheldRead else { return }
    hasWithheldRead = false
    read(context: context)
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      stream?.becomeWritable()
      resumeWithheldRead(context)
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Output

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !state.isOver else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      state.bucket?.refund(status: Int(head.status.code))
      if state.beginResponse() { head.headers.replaceOrAdd(name: "Connection", value: "close") }
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      endResponse(context)
    }
  }

  /// Continues after a response was written.
  func endResponse(_ context: ChannelHandlerContext) {
    let next = state.endResponse()
    if state.hasNoPendingResponse {
      deadline.endResponses(at: context.eventLoop.now)
      updateTimer(context)
    }
    switch next {
    case .close: close(context)
    case .refuse: sendRefusal(context)
    case .proceed: if state.hasNoPendingResponse { openStream(context) }
    }
  }

  func flush() { flush(encoder) }

  private func flush(_ output: ChannelHandlerContext?) {
    guard needsFlush else { return }
    needsFlush = false
    output?.flush()
  }

  package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    switch event as? Event {
    case nil: context.triggerUserOutboundEvent(event, promise: promise)
    case .bodyReadEnded: if state.isBodyComplete { promise?.succeed() } else { promise?.fail(IncompleteBody()) }
    case .bodyReadStarted:
      promise?.succeed()
      let (failure, sendsContinue) = state.startReadingBody()
      if let failure { context.fireErrorCaught(failure) }
      if sendsContinue {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
      }
    }
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      services.responder.beginShutdown()
      state.drain()
      endWaiting(context)
      return passOnShutdown(context)
    case ChannelEvent.inputClosed: endWaiting(context)
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Passes the shutdown on to the handlers that close the connection, after the time for the last request. The timer is
  /// never cancelled, because SwiftNIO would search for it among the timers of all connections.
  private func passOnShutdown(_ context: ChannelHandlerContext) {
    context.eventLoop.assumeIsolated().scheduleTask(in: services.limits.drainTimeout) { [weak self] in
      guard let self, let context = self.context else { return }
      context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
  }

  /// Closes the connection. Between two requests, the last response may still be in a buffer and is sent first.
  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    flush()
    guard mode == .all, state.hasNoPendingResponse else {
      if mode == .output { state.close() }
      context.close(mode: mode, promise: promise)
      resumeWithheldRead(context)
      return
    }
    context.triggerUserOutboundEvent(LingeringClose.Event.closeWhenSent, promise: promise)
  }

  /// Ends the output. `LingeringClose` discards a bounded number of bytes.
  private func close(_ context: ChannelHandlerContext) {
    state.close()
    heldInput.removeAll()
    context.flush()
    context.close(mode: .output, promise: nil)
    resumeWithheldRead(context)
  }

  // MARK: Refusals

  private func refuse(_ reason: RequestRefusal, _ head: HTTPRequestHead?, _ context: ChannelHandlerContext) {
    guard let isDue = state.refuse() else { return }
    refusal = (reason, head)
    if isDue { sendRefusal(context) }
  }

  private func sendRefusal(_ context: ChannelHandlerContext) {
    guard let (reason, head) = refusal.take() else { return }
    let response = services.refusalResponse(reason, head)
    services.onRefusal(response.status.code, head?.method == .HEAD ? 0 : response.body.readableBytes)
    logger.debug("message refused", metadata: ["status": "\(response.status.code)", "reason": "\(reason)"])
    context.write(wrapOutboundOut(.head(response.head)), promise: nil)
    if head?.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil) }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    close(context)
  }

  // MARK: Deadlines

  private func beginIdle(_ context: ChannelHandlerContext) {
    deadline.beginIdle(at: context.eventLoop.now)
    updateTimer(context)
  }

  private func updateTimer(_ context: ChannelHandlerContext) {
    timer.set(deadline.time, context.eventLoop)
  }

  private func expire(_ context: ChannelHandlerContext) {
    let unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    switch deadline.expire(at: context.eventLoop.now, unsentBytes: unsent) {
    case .wait: updateTimer(context)
    case .paused: timer.set(context.eventLoop.now + services.limits.bodyIdleTimeout, context.eventLoop)
    case .close: context.close(promise: nil)
    case .fail:
      updateTimer(context)
      fail(ConnectionDeadline.Exceeded(), context)
    }
  }
}
