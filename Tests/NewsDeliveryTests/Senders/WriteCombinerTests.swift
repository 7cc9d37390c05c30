import NIOCore
import NIOEmbedded
import NewsDelivery
import Testing

/// The combination of the frames that are written to a connection.
@Suite struct WriteCombinerTests {
  private let channel = EmbeddedChannel(handler: WriteCombiner())

  private func write(_ text: String) -> EventLoopFuture<Void> {
    channel.write(IOData.byteBuffer(ByteBuffer(string: text)))
  }

  private func sent() throws -> String? {
    guard case .byteBuffer(let bytes) = try channel.readOutbound(as: IOData.self) else { return nil }
    return String(buffer: bytes)
  }

  @Test("Frames of one iteration of the event loop are sent together, and their promises succeed together")
  func combination() throws {
    var writes: [EventLoopFuture<Void>] = []
    for text in ["head", "body", "end"] {
      writes.append(write(text))
      channel.flush()
    }
    #expect(try sent() == nil)
    channel.embeddedEventLoop.run()
    #expect(try sent() == "headbodyend")
    #expect(try sent() == nil)
    for write in writes { try write.wait() }
    let next = write("next")
    channel.flush()
    channel.embeddedEventLoop.run()
    #expect(try sent() == "next")
    try next.wait()
  }

  @Test("Frames of some size do not wait for others")
  func limit() throws {
    let text = String(repeating: "x", count: WriteCombiner.limit - 1)
    let (first, second) = (write(text), write("y"))
    channel.flush()
    #expect(try sent() == text + "y")
    try first.and(second).map { _ in }.wait()
  }

  @Test("A close sends the frames that were flushed before it")
  func close() throws {
    let last = write("last")
    channel.flush()
    channel.close(promise: nil)
    #expect(try sent() == "last")
    try last.wait()
  }

  @Test("A frame that is not sent fails with its connection")
  func lostFrame() throws {
    let lost = write("lost")
    channel.close(promise: nil)
    channel.embeddedEventLoop.run()
    #expect(throws: ChannelError.ioOnClosedChannel) { try lost.wait() }
    #expect(try sent() == nil)
  }
}
