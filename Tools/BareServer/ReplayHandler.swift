import NIOCore
import NIOHTTP1

/// Answers the requests of one connection with recorded responses.
final class ReplayHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let ok: RecordedResponse
  private let notModified: RecordedResponse
  private var isConditional = false

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - ok: The response to requests without `If-None-Match`.
  ///   - notModified: The response to requests with `If-None-Match`.
  init(ok: RecordedResponse, notModified: RecordedResponse) {
    self.ok = ok
    self.notModified = notModified
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      isConditional = head.headers.contains(name: "if-none-match")
    case .body:
      break
    case .end:
      let response = isConditional ? notModified : ok
      context.write(wrapOutboundOut(.head(response.head)), promise: nil)
      if response.body.readableBytes > 0 {
        context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The client has closed its side, and every request so far has its response.
    if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
