import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Reads the requests of a stream or of an HTTP/1.1 connection, and sends the responses as the faults demand.
final class MockExchange: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The maximum size of a request's body in bytes. No service accepts as much.
  private static let largestBody = 1 << 20

  private let server: MockServer
  private let connection: MockConnection
  private let stream: HTTP2StreamID?
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []
  /// Whether a request has no response yet.
  private var isOpen = false

  /// - Parameter stream: The id of the stream; nil over HTTP/1.1.
  init(_ server: MockServer, _ connection: MockConnection, stream: HTTP2StreamID? = nil) {
    self.server = server
    self.connection = connection
    self.stream = stream
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard connection.begin(stream) else { return }
      self.head = head
      body = []
      isOpen = true
      server.record.begin()
    case .body(var bytes):
      guard body.count + bytes.readableBytes <= Self.largestBody else { return context.close(promise: nil) }
      body += bytes.readBytes(length: bytes.readableBytes) ?? []
    case .end:
      guard let head else { return }
      self.head = nil
      respond(
        to: MockRequest(
          method: head.method, path: head.uri, headers: head.headers, body: body, connection: connection.number),
        context)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func finish() {
    guard isOpen else { return }
    isOpen = false
    server.record.end()
    connection.end()
  }

  private func respond(to request: MockRequest, _ context: ChannelHandlerContext) {
    switch server.judgement(of: request) {
    case .refused(let rule, let response):
      server.record.refuse(rule)
      server.observer?(.refused(rule: rule, status: response.status))
      send(response, context)
    case .accepted(let message, let response):
      let fault = server.faults.fault(for: message)
      if let fault { server.observer?(.faulted(message, fault)) }
      switch fault {
      case .answer, .hang, .resetStream, .refuseStream, .resetLastStream: server.record.noteFault()
      case .resetConnection, .cutResponse, .goAway, .slow, nil:
        server.record.accept(message)
        if fault == nil { server.observer?(.accepted(message)) }
      }
      send(response, with: fault, context)
    case .other(let message, let response, let faults):
      send(response, with: faults.fault(for: message), context)
    }
  }

  private func send(_ response: MockResponse, with fault: MockFault?, _ context: ChannelHandlerContext) {
    switch fault {
    case nil: send(response, context)
    case .answer(let response): send(response, context)
    case .hang: break
    case .resetStream: context.close(promise: nil)
    case .refuseStream:
      if let stream { connection.refuse(stream) } else { context.close(promise: nil) }
    case .resetLastStream:
      connection.goAway()
      // The frame is written in this way too.
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      context.eventLoop.execute { bound.value.close(promise: nil) }
    case .resetConnection: sendHalf(response, context)
    case .cutResponse: sendHalf(response, isReset: false, context)
    case .goAway:
      connection.goAway()
      send(response, context)
    case .slow(let duration):
      let bound = NIOLoopBound((exchange: self, context: context), eventLoop: context.eventLoop)
      context.eventLoop.scheduleTask(in: TimeAmount(duration)) {
        // The client may have given up.
        if bound.value.exchange.isOpen { bound.value.exchange.send(response, bound.value.context) }
      }
    }
  }

  private func send(_ response: MockResponse, _ context: ChannelHandlerContext) {
    connection.send { [self] in
      guard isOpen else { return }
      writeHead(response, context)
      if !response.body.isEmpty {
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: response.body)))), promise: nil)
      }
      let closes = stream == nil && connection.isGoingAway
      let bound = NIOLoopBound((exchange: self, context: context), eventLoop: context.eventLoop)
      context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
        bound.value.exchange.finish()
        if closes { bound.value.context.close(promise: nil) }
      }
    }
  }

  /// - Parameter hasLength: Whether the end of the body follows from its length, rather than from that of the connection.
  private func writeHead(_ response: MockResponse, hasLength: Bool = true, _ context: ChannelHandlerContext) {
    var headers = response.headers
    if hasLength { headers.add(name: "content-length", value: "\(response.body.utf8.count)") }
    if stream == nil, connection.isGoingAway { headers.add(name: "connection", value: "close") }
    // A body without a length is chunked in later versions than HTTP/1.0.
    let version: HTTPVersion = stream != nil ? .http2 : hasLength ? .http1_1 : .http1_0
    let head = HTTPResponseHead(
      version: version, status: .init(statusCode: response.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
  }

  /// Sends a response that ends before its body does, and resets or closes the connection.
  private func sendHalf(_ response: MockResponse, isReset: Bool = true, _ context: ChannelHandlerContext) {
    var response = response
    response.body += " "
    writeHead(response, hasLength: isReset, context)
    let bound = NIOLoopBound(connection, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: ""))))).whenComplete { _ in
      bound.value.abort(isReset: isReset)
    }
  }
}

/// Closes a connection after an error of HTTP/2, which would silence it.
final class MockErrors: ChannelInboundHandler {
  typealias InboundIn = Any

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
