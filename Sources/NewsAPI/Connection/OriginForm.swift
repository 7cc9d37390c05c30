package import NIOCore
package import NIOHTTP1

/// Rewrites the target of each request from absolute form to origin form, which servers must accept (RFC 9112 section
/// 3.2.2). No later handler sees the absolute form of an http URL.
package final class OriginForm: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias InboundOut = HTTPServerRequestPart

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data), head.uri.utf8.first != UInt8(ascii: "/") else {
      return context.fireChannelRead(data)
    }
    context.fireChannelRead(wrapInboundOut(.head(head.inOriginForm)))
  }
}
