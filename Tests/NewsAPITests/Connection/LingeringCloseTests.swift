import Foundation
import NIOCore
import NIOEmbedded
import NewsAPI
import TestSupport
import Testing

@Suite struct LingeringCloseTests {
  private let limits = ConnectionLimits()
  private let channel: EmbeddedChannel

  init() throws {
    channel = EmbeddedChannel(handler: LingeringClose(limits: ConnectionLimits()))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(ByteBuffer(string: "before"))
    #expect(try channel.readInbound(as: ByteBuffer.self) != nil)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
  }

  @Test("What comes after the last answer is thrown away")
  func input() throws {
    try channel.writeInbound(ByteBuffer(string: "after"))
    #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
    #expect(channel.isActive)
  }

  @Test("A client that does not close in time is not waited for")
  func time() {
    channel.embeddedEventLoop.advanceTime(by: limits.linger - .seconds(1))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("A client that goes on sending is cut off")
  func bytes() throws {
    for _ in 0..<4 { try channel.writeInbound(ByteBuffer(repeating: 1, count: limits.lingeringBytes / 4)) }
    #expect(channel.isActive)
    try channel.writeInbound(ByteBuffer(repeating: 1, count: 1))
    #expect(!channel.isActive)
  }

  /// A socket that has not accepted any bytes yet.
  private final class FullSocket: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var written: [EventLoopPromise<Void>?] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      written.append(promise)
    }
  }

  @Test("What was written leaves before the connection closes, whoever ends it", arguments: [true, false])
  func unsent(isClient: Bool) throws {
    let socket = FullSocket()
    let channel = EmbeddedChannel(handlers: [socket, LingeringClose(limits: limits)])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.writeAndFlush(ByteBuffer(string: "answer"), promise: nil)
    if isClient {
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      channel.close(mode: .output, promise: nil)
    } else {
      channel.triggerUserOutboundEvent(LingeringClose.Event.closeWhenSent, promise: nil)
    }
    #expect(channel.isActive)
    for promise in socket.written { promise?.succeed() }
    channel.embeddedEventLoop.run()
    #expect(!channel.isActive)
  }
}

@Suite struct EndOfConnectionTests {
  @Test("A client that says that it sends no more gets all that it has asked for")
  func halfClosed() async throws {
    try await TestServer.with { server in
      for _ in 0..<10 { _ = try await server.publish(String(repeating: "x", count: 100_000)) }
      // More than the socket buffers hold, first from the router, then from memory.
      let request = String(repeating: "GET /v1/items HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 20)
      for _ in 0..<2 {
        let answers = try await RawConnection.exchange(request, port: server.port)
        #expect(answers.map(\.status) == Array(repeating: 200, count: 20))
        #expect(answers.allSatisfy { $0.body.count > 1_000_000 && $0["Content-Length"] == "\($0.body.count)" })
      }
    }
  }

  @Test("Of a client that takes no answers no more requests are read", arguments: ["/v1/items", "/v1/items?q=x"])
  func unread(target: String) async throws {
    try await TestServer.with { server in
      for _ in 0..<10 { _ = try await server.publish(String(repeating: "x ", count: 50_000)) }
      _ = try await server.get("/v1/items")
      let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let requests = Data(String(repeating: request, count: 1000).utf8)
      let limit = 50_000_000
      let taken = try await RawConnection.fill(requests, limit: limit, port: server.port)
      // The buffers of two sockets, and the requests that were read before the first responses were written.
      #expect(taken < limit / 2)
      #expect(try await server.get("/healthz").status == 200)
    }
  }
}
