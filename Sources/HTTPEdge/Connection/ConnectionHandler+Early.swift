import DequeModule
import Logging
import NIOCore
import NIOHTTP1

/// A request that is held, with the head that is processed later.
struct HeldRequest {
  /// The progress of the request.
  enum Progress {
    /// The end of the request has not arrived.
    case received(EarlyDeferral)
    /// The request is complete, and its stream begins after the responses to earlier requests.
    case complete(any StreamedResponse)
    /// The request is complete and waits. `cancel` ends the wait.
    case waiting(cancel: @Sendable () -> Void)
  }

  let head: HTTPRequestHead
  /// The bucket that was charged for it.
  let bucket: RateBucket?
  /// The number of the request among those that the connection has held. A wait that ends late releases no other one.
  let number: Int
  var progress: Progress

  /// Whether the end of the request has arrived. Later input waits then.
  var isComplete: Bool { if case .received = progress { false } else { true } }
}

/// Requests that are recognised before the decoder.
extension ConnectionHandler {
  /// Whether a request may be answered before the decoder: there is no other one on the connection.
  var answersEarly: Bool {
    state.acceptsRequest && state.hasNoPendingResponse && held == nil && stream == nil && !isClosing && encoder != nil
  }

  /// The field in which the peer names its client, in lower case; nil if it is not needed.
  var forwardingField: String? { services.addressLimits?.forwardingField(of: client) }

  /// Answers a request from memory. The caller's read cycle ends with a flush.
  ///
  /// - Parameter output: A context from which a write bypasses the encoder.
  /// - Returns: false if the decoder has to read it: it is not plain, is not in memory, or exceeds a limit.
  func answer(_ request: RequestGrammar.Request, _ output: ChannelHandlerContext) -> Bool {
    guard let plain = request.plain else { return false }
    // First the number, so that a response from before a change is never taken for one from after it.
    let generation = services.responder.generation
    let known = recent.response(to: plain, in: generation)
    guard let found = known?.source ?? stored(for: plain) else { return false }
    let bucket = services.addressLimits?.bucket(of: plain.target, client, forwarded: request.forwarded)
    if let bucket, services.addressLimits?.charge(bucket) != nil { return false }
    lookup = nil
    found.count(known != nil)
    if let known {
      output.write(NIOAny(known.bytes), promise: nil)
    } else {
      found.response.write(to: output, recent.date)
      recent.note(found, to: plain, in: generation)
    }
    hasReadPart = true
    deadline.beginIdle(at: output.eventLoop.now)
    end(found.response, to: plain.target, refunding: bucket)
    return true
  }
}

extension ConnectionHandler {
  /// Looks in memory for the response to a request. The result is kept for the decoder, which reads the request next if it
  /// is not answered.
  private func stored(for request: PlainRequest) -> EarlyResponse? {
    lookup = services.responder.lookUp(request, isNew: true)
    guard case .response(let response) = lookup else { return nil }
    return response
  }

  /// Sends a response from memory to the request that was received last.
  func send(_ response: StoredResponse, to target: String, _ context: ChannelHandlerContext) {
    guard let encoder else { return }
    response.write(to: encoder, services.date.line)
    end(response, to: target, refunding: state.bucket)
    endResponse(context)
  }

  /// Ends a response from memory, which was written without the encoder. The caller's read cycle ends with a flush.
  private func end(_ response: StoredResponse, to target: String, refunding bucket: RateBucket?) {
    needsFlush = true
    bucket?.refund(status: response.status)
    logger.debug(
      "request", metadata: ["method": "GET", "path": "\(target.prefix { $0 != "?" })", "status": "\(response.status)"])
  }

  /// Holds a request whose head has arrived.
  func beginHeld(_ head: HTTPRequestHead, _ deferral: EarlyDeferral, bucket: RateBucket?) {
    state.beginHeld()
    heldCount += 1
    held = HeldRequest(head: head, bucket: bucket, number: heldCount, progress: .received(deferral))
  }

  /// Holds a complete request, unless its event has happened already.
  func hold(_ request: HeldRequest, _ deferral: EarlyDeferral, _ context: ChannelHandlerContext) {
    state.hold()
    switch deferral {
    case .stream(let response):
      held?.progress = .complete(response)
      if state.hasNoPendingResponse { openStream(context) }
    case .wait(let wait):
      held?.progress = .waiting(cancel: {})
      let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
      let cancel = wait.start(on: context.eventLoop) { [number = request.number] response in
        let (handler, context) = bound.value
        if handler.held?.number == number { handler.release(context, with: response) }
      }
      guard let cancel else { return release(context) }
      held?.progress = .waiting(cancel: cancel)
    }
  }

  /// Processes the held request and the input after it.
  ///
  /// - Parameter response: The response to the request; nil to process it like any other.
  func release(_ context: ChannelHandlerContext, with response: StoredResponse? = nil) {
    guard let request = held, request.isComplete else { return }
    if case .waiting(let cancel) = request.progress { cancel() }
    held = nil
    state.release()
    if let response, state.hasNoPendingResponse {
      beginEarly(response, to: request.head, bucket: request.bucket)
    } else {
      begin(request.head, nil, bucket: request.bucket, loads: false, context)
    }
    receive(.part(.end(nil)), context)
    resume(context)
  }

  /// Begins a request that is answered from memory once its end has arrived.
  func beginEarly(_ response: StoredResponse, to head: HTTPRequestHead, bucket: RateBucket?) {
    state.beginEarly(bucket: bucket)
    storedResponse = (response, head.uri)
  }

  /// Opens the stream of the held request, if it is complete.
  func openStream(_ context: ChannelHandlerContext) {
    guard let request = held, case .complete(let response) = request.progress else { return }
    let connection = ResponseStream(context, version: request.head.version, logger: logger) { [weak self] in
      self?.endStream(context)
    }
    held = nil
    stream = response
    guard response.open(connection) else {
      stream = nil
      held = request
      return release(context)
    }
    // The response is the last one of the connection.
    heldInput.removeAll()
    state.release()
    state.beginStream(bucket: request.bucket)
    if isClosing { response.end() }
  }

  /// Ends the stream, after its last bytes.
  private func endStream(_ context: ChannelHandlerContext) {
    guard let response = stream.take() else { return }
    response.close()
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    endResponse(context)
    context.eventLoop.assumeIsolated().scheduleTask(in: Self.streamEndTimeout) { context.close(promise: nil) }
  }

  /// The time for the last bytes of a stream to be sent.
  private static let streamEndTimeout = TimeAmount.seconds(10)

  /// Ends the stream or the held request, because the connection ends.
  func endWaiting(_ context: ChannelHandlerContext) {
    isClosing = true
    if let stream { return stream.end() }
    if case .waiting = held?.progress { release(context) }
  }

  /// Processes the input after a request that was held.
  private func resume(_ context: ChannelHandlerContext) {
    while held?.isComplete != true, let input = heldInput.popFirst() { receive(input, context) }
    flush()
    context.fireChannelReadComplete()
    resumeWithheldRead(context)
  }

  /// Releases the held request and the stream of a closed connection.
  func releaseWaiting() {
    if case .waiting(let cancel) = held.take()?.progress { cancel() }
    stream.take()?.close()
    heldInput.removeAll()
  }
}
