import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NewsAPI
import TestSupport
import Testing

@Suite struct RequestGuardTests {
  private let channel: EmbeddedChannel
  private let socket = Socket()

  init() throws {
    channel = EmbeddedChannel(handlers: [
      socket, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), TimeLimits(limits: ConnectionLimits()),
      RequestGuard(logger: Logger(label: "test")) { _, _ in },
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func receive(_ text: String) throws {
    try channel.writeInbound(ByteBuffer(string: text))
  }

  private func answer() throws {
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
    try channel.writeOutbound(HTTPServerResponsePart.head(head))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
  }

  /// Returns the bytes sent since the last call.
  private func sent() throws -> String {
    var text = ""
    while let part = try channel.readOutbound(as: IOData.self) {
      if case .byteBuffer(let buffer) = part { text += String(buffer: buffer) }
    }
    return text
  }

  private let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test("A refusal waits for the answers before it, and nothing comes after it")
  func order() throws {
    try receive(request + request + "GET / HTTP/1.1\r\n\r\n" + request)
    #expect(try sent().isEmpty)
    try answer()
    #expect(try !sent().contains("Connection: close"))
    try answer()
    let end = try sent()
    #expect(end.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 400 Bad Request\r\n"))
    try receive(request)
    #expect(try sent().isEmpty)
  }

  @Test("The answer to the request before one that ends the connection does not say that it closes")
  func lastAnswerAlone() throws {
    try receive(request + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + request)
    try answer()
    #expect(try !sent().contains("Connection"))
    try answer()
    #expect(try sent().contains("Connection: close\r\n"))
  }

  @Test("A header that takes too long is a 408")
  func slowHeader() throws {
    try receive("GET / HTTP/1.1\r\n")
    channel.embeddedEventLoop.advanceTime(by: ConnectionLimits().header)
    #expect(try sent().contains("/problems/request-timeout"))
  }

  @Test("A body that breaks or stops is an error for its reader, whose answer is the last one")
  func brokenBodies() throws {
    try receive("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    try receive("zz\r\n")
    #expect(throws: HTTPParserError.self) {
      try channel.triggerUserOutboundEvent(RequestGuard.Event.bodyWanted).wait()
      try channel.throwIfErrorCaught()
    }
    #expect(try sent().isEmpty)
    try answer()
    #expect(try sent().hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n"))
  }

  @Test("A body that nobody waits for any more does not hold up the end")
  func unreadBody() throws {
    try receive("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx")
    try answer()
    #expect(try sent().contains("Connection: close"))
    try receive("xxxxxxxxx" + request)
    #expect(try sent().isEmpty)
    #expect(throws: ChannelError.outputClosed) { try answer() }
  }

  @Test(
    "Nothing is read behind the last request until its answer has been written",
    arguments: [
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func lastInput(request: String) throws {
    channel.read()
    #expect(socket.reads == 1)
    try receive(request)
    channel.read()
    #expect(socket.reads == 1)
    try answer()
    #expect(try sent().contains("Connection: close\r\n"))
    // `LingeringClose` reads the bytes that still arrive.
    #expect(socket.reads == 2)
  }

  @Test("The body of the last request is read to its end")
  func lastBody() throws {
    try receive("PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n")
    channel.read()
    #expect(socket.reads == 1)
    try receive("0123456789")
    channel.read()
    #expect(socket.reads == 1)
  }

  @Test("HEAD is refused without a body")
  func head() throws {
    try receive("HEAD / HTTP/1.1\r\n\r\n")
    let text = try sent()
    #expect(text.hasPrefix("HTTP/1.1 400 "))
    #expect(text.hasSuffix("\r\n\r\n"))
  }
}

/// Counts the read requests of the server.
private final class Socket: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  var reads = 0

  func read(context: ChannelHandlerContext) {
    reads += 1
    context.read()
  }
}
