package import HTTPTypes
package import Logging
package import NIOCore
import NIOHTTP1

/// The connection of a streamed response, for its event loop only.
package final class ResponseStream {
  /// The event loop of the connection.
  package let eventLoop: any EventLoop
  package let logger: Logger
  private let context: ChannelHandlerContext
  private let version: HTTPVersion
  private let finish: () -> Void

  init(_ context: ChannelHandlerContext, version: HTTPVersion, logger: Logger, finish: @escaping () -> Void) {
    eventLoop = context.eventLoop
    self.context = context
    self.logger = logger
    self.version = version
    self.finish = finish
  }

  /// Whether the client accepts bytes at present. Bytes sent anyway are buffered without a limit.
  package var isWritable: Bool { context.channel.isWritable }

  /// Sends the head of the response.
  ///
  /// - Parameter fields: All header fields, `Date` included, except `Connection`.
  package func begin(_ fields: HTTPFields) {
    var fields = fields
    fields[.connection] = "close"
    let head = HTTPResponseHead(version: version, status: .ok, headers: HTTPHeaders(fields))
    context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
  }

  /// Sends a part of the body.
  package func send(_ bytes: ByteBuffer) {
    context.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil)
  }

  /// Ends the response, and with it the connection.
  package func end() { finish() }
}
