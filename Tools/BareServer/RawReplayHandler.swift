import NIOCore

/// Answers the requests of one connection with recorded responses, without an HTTP decoder: a request is whatever ends with
/// an empty line.
final class RawReplayHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let end = Array("\r\n\r\n".utf8)
  private static let condition = Array("\r\nif-none-match:".utf8)

  private let ok: ByteBuffer
  private let notModified: ByteBuffer
  private var received = ByteBuffer()

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - ok: The response to requests without `If-None-Match`.
  ///   - notModified: The response to requests with `If-None-Match`.
  init(ok: RecordedResponse, notModified: RecordedResponse) {
    self.ok = ok.bytes
    self.notModified = notModified.bytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    while let length = received.withUnsafeReadableBytes({ Self.offset(of: Self.end, in: $0) }) {
      let request = received.readSlice(length: length + Self.end.count) ?? ByteBuffer()
      let isConditional = request.withUnsafeReadableBytes { Self.offset(of: Self.condition, in: $0) != nil }
      context.write(wrapOutboundOut(isConditional ? notModified : ok), promise: nil)
    }
    received.discardReadBytes()
    context.flush()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  /// Returns the offset of a text, whose letters are in lower case, regardless of case.
  private static func offset(of text: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= text.count else { return nil }
    return (0...bytes.count - text.count).first { start in
      text.indices.allSatisfy { index in
        let byte = bytes[start + index]
        return (65...90 ~= byte ? byte | 0x20 : byte) == text[index]
      }
    }
  }
}
