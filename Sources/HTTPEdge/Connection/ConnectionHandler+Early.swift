import DequeModule
import Logging
import NIOCore
import NIOHTTP1

/// A request that is held, with the head that is processed later.
struct HeldRequest {
  let head: HTTPRequestHead
  /// The wait or the stream; nil once the wait has begun, because it may take as much memory as the head.
  var deferral: EarlyDeferral?
  /// The bucket that was charged for it.
  let bucket: RateBucket?
  /// Whether its end has arrived.
  var isComplete = false
  /// Ends the wait.
  var cancel: (@Sendable () -> Void)?
}

extension ConnectionHandler {
  /// Sends a response from memory, without the encoder. The caller's read cycle ends with a flush.
  func send(_ response: StoredResponse, to target: String, _ context: ChannelHandlerContext) {
    guard let encoder else { return }
    response.write(to: encoder, services.date.line)
    needsFlush = true
    state.bucket?.refund(status: response.status)
    endResponse(context)
    logger.debug(
      "request", metadata: ["method": "GET", "path": "\(target.prefix { $0 != "?" })", "status": "\(response.status)"])
  }

  /// Holds a complete request, unless its event has happened already.
  func hold(_ request: HeldRequest, _ context: ChannelHandlerContext) {
    held?.isComplete = true
    state.hold()
    switch request.deferral {
    case .stream: if state.hasNoPendingResponse { openStream(context) }
    case nil: break
    case .wait(let wait):
      let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
      let cancel = wait.start(on: context.eventLoop) { bound.value.handler.release(bound.value.context) }
      guard let cancel else { return release(context) }
      held?.cancel = cancel
      held?.deferral = nil
    }
  }

  /// Processes the held request and the input after it.
  func release(_ context: ChannelHandlerContext) {
    guard let request = held, request.isComplete else { return }
    request.cancel?()
    held = nil
    state.release()
    begin(request.head, bucket: request.bucket, context)
    receive(.part(.end(nil)), context)
    resume(context)
  }

  /// Opens the stream of the held request, if it is complete.
  func openStream(_ context: ChannelHandlerContext) {
    guard let request = held, request.isComplete, case .stream(let response)? = request.deferral else { return }
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
    if held?.cancel != nil { release(context) }
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
    held.take()?.cancel?()
    stream.take()?.close()
    heldInput.removeAll()
  }
}
