import HTTPEdge
import NIOCore
import NIOEmbedded
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

  @Test("Input after the last response is discarded")
  func input() throws {
    try channel.writeInbound(ByteBuffer(string: "after"))
    #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
    #expect(channel.isActive)
  }

  @Test("A client that does not close within the timeout is disconnected")
  func time() {
    channel.embeddedEventLoop.advanceTime(by: limits.lingerTimeout - .seconds(1))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test("A client that sends more than the limit is disconnected")
  func bytes() throws {
    for _ in 0..<4 { try channel.writeInbound(ByteBuffer(repeating: 1, count: limits.maximumLingeringBytes / 4)) }
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

  @Test("Pending output is sent before the connection closes, whichever side closes it", arguments: [true, false])
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
