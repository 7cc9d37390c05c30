import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// A request and its response on a connection of their own.
struct OutgoingExchange: Sendable {
  /// The event of a channel that ends its exchange at once.
  struct Cancellation: Sendable {}

  let request: OutgoingRequest
  let userAgent: String
  let limits: OutgoingLimits
  let deadline: ContinuousClock.Instant

  /// Sends the request and waits for the response, whose body keeps its content coding. It closes the channel.
  ///
  /// - Parameter tls: The context of TLS; nil for plain text.
  func run(on channel: any Channel, tls: NIOSSLContext?) async throws -> OutgoingResponse {
    let promise = channel.eventLoop.makePromise(of: OutgoingResponse.self)
    let time = TimeAmount(ContinuousClock.now.duration(to: deadline))
    channel.eventLoop.execute {
      let collector = ResponseCollector(request.url, limits, promise)
      do {
        try addHandlers(to: channel.pipeline.syncOperations, tls: tls, collector)
      } catch {
        return collector.fail(OutgoingError.insecure("TLS cannot be started with \(request.url.host)"), channel)
      }
      // The collector belongs to this event loop.
      let bound = NIOLoopBound(collector, eventLoop: channel.eventLoop)
      let timer = channel.eventLoop.scheduleTask(in: time) {
        bound.value.fail(OutgoingError.timedOut("\(request.url.host) did not respond in time"), channel)
      }
      promise.futureResult.whenComplete { _ in timer.cancel() }
      channel.setOption(.autoRead, value: true).whenFailure { bound.value.fail($0, channel) }
      send(on: channel)
    }
    return try await promise.futureResult.get()
  }

  private func addHandlers(
    to pipeline: ChannelPipeline.SynchronousOperations, tls: NIOSSLContext?, _ collector: ResponseCollector
  ) throws {
    let url = request.url
    if let tls {
      // A server name is not sent for an IP address (RFC 6066 section 3), which the certificate must contain.
      try pipeline.addHandler(
        NIOSSLClientHandler(context: tls, serverHostname: url.literal == nil ? url.host : nil))
    }
    var configuration = NIOHTTPDecoderLimitConfiguration()
    configuration.maxHeaderFieldSize = limits.headerBytes
    configuration.maxHeaderListSize = limits.headerBytes
    try pipeline.addHandlers([
      IdleStateHandler(readTimeout: TimeAmount(limits.idleTime)),
      HTTPRequestEncoder(),
      ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: configuration)),
      collector,
    ])
  }

  private func send(on channel: any Channel) {
    var head = HTTPRequestHead(
      version: .http1_1, method: HTTPMethod(rawValue: request.method.rawValue), uri: request.url.target)
    head.headers.add(name: "Host", value: request.url.authority)
    head.headers.add(name: "User-Agent", value: userAgent)
    head.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
    head.headers.add(name: "Connection", value: "close")
    for field in request.fields { head.headers.add(name: field.name.rawName, value: field.value) }
    if let body = request.body { head.headers.add(name: "Content-Length", value: "\(body.count)") }
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    if let body = request.body {
      channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
    }
    // An error closes the channel, or the response arrives nevertheless.
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
  }
}

/// Collects the parts of a response within the limits.
private final class ResponseCollector: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let url: OutgoingURL
  private let limits: OutgoingLimits
  private var promise: EventLoopPromise<OutgoingResponse>?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []

  init(_ url: OutgoingURL, _ limits: OutgoingLimits, _ promise: EventLoopPromise<OutgoingResponse>) {
    self.url = url
    self.limits = limits
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
    case .body(let part):
      guard body.count + part.readableBytes <= limits.bodyBytes else { return fail(tooLarge, context.channel) }
      body.append(contentsOf: part.readableBytesView)
    case .end:
      guard let head, let promise = take() else { return }
      promise.succeed(response(head))
      context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent {
      fail(.timedOut("\(url.host) paused for too long in its response"), context.channel)
    } else if event is OutgoingExchange.Cancellation {
      fail(CancellationError(), context.channel)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelInactive(context: ChannelHandlerContext) { fail(incomplete, context.channel) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Many servers skip the alert that ends TLS, which matters only before the end of the message. A body that ends
    // with the connection may have been cut off then (RFC 9112 section 9.8).
    if error as? NIOSSLError == .uncleanShutdown { return fail(incomplete, context.channel) }
    fail(error, context.channel)
  }

  func fail(_ error: any Error, _ channel: any Channel) {
    if limits.ignoresBody, let head, !(error is CancellationError) {
      take()?.succeed(response(head))
      return channel.close(promise: nil)
    }
    take()?.fail(error is OutgoingError || error is CancellationError ? error : self.error(for: error))
    channel.close(promise: nil)
  }

  private func fail(_ error: OutgoingError, _ channel: any Channel) { fail(error as any Error, channel) }

  /// The response, with the part of the body that has arrived.
  private func response(_ head: HTTPResponseHead) -> OutgoingResponse {
    var fields = HTTPFields()
    for (name, value) in head.headers {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return OutgoingResponse(status: Int(head.status.code), fields: fields, body: body, url: url)
  }

  private func take() -> EventLoopPromise<OutgoingResponse>? {
    defer { promise = nil }
    return promise
  }

  private var incomplete: OutgoingError {
    .malformed("\(url.host) closed the connection before its response was complete")
  }

  private var tooLarge: OutgoingError {
    .tooLarge("the response of \(url.host) has more than \(limits.bodyBytes) bytes")
  }

  private func error(for error: any Error) -> OutgoingError {
    switch error {
    case HTTPParserError.headerOverflow: .tooLarge("the header of the response of \(url.host) is too large")
    case is HTTPParserError: .malformed("the response of \(url.host) is not valid HTTP")
    case NIOSSLError.handshakeFailed(let reason) where "\(reason)".contains("CERTIFICATE_VERIFY_FAILED"):
      .insecure("the certificate of \(url.host) is not trusted or has expired")
    case NIOSSLError.unableToValidateCertificate, is NIOSSLExtraError:
      .insecure("the certificate of \(url.host) is for another host")
    case is NIOSSLError, is BoringSSLError: .insecure("the TLS handshake with \(url.host) failed")
    default: .unreachable("the connection to \(url.host) was lost")
    }
  }
}
