import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import Synchronization

/// The bytes of an answer, as the router and the encoder would send them.
final class HotAnswer: Sendable {
  let status: Int
  /// The length of the body.
  let bytes: Int
  /// What the client is spared by a 304, and by compression.
  let saved: (byNotModified: Int, byCompression: Int)
  /// All but the date, with which the header ends.
  private let head: ByteBuffer
  private let body: ByteBuffer?
  private let dated = Mutex<(second: Int, head: ByteBuffer)>((.min, ByteBuffer()))

  /// - Parameter response: One that has its body in memory.
  init(_ response: Response, body: ByteBuffer?, saved: (byNotModified: Int, byCompression: Int)) {
    status = response.status.code
    bytes = body?.readableBytes ?? 0
    self.saved = saved
    self.body = body
    var head = ByteBuffer(string: "HTTP/1.1 \(HTTPResponseStatus(statusCode: status))\r\n")
    for field in response.headers where body != nil || field.name != .contentLength {
      head.writeString("\(field.name.rawName): \(field.value)\r\n")
    }
    self.head = head
  }

  /// Writes the answer without flushing.
  ///
  /// - Parameter context: That of the encoder, which is passed by.
  func write(to context: ChannelHandlerContext, _ date: HTTPDateLine) {
    let head = dated.withLock { dated in
      if dated.second != date.second {
        var head = self.head
        head.writeImmutableBuffer(date.line)
        dated = (date.second, head)
      }
      return dated.head
    }
    context.write(NIOAny(head), promise: nil)
    if let body { context.write(NIOAny(body), promise: nil) }
  }
}

/// The last line of a header, with the empty one that ends it.
struct HTTPDateLine: Sendable {
  let second: Int
  let line: ByteBuffer
}
