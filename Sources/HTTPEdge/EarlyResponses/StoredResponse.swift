import Foundation
import HTTPConditions
package import HTTPTypes
package import NIOCore
import NIOHTTP1
import Synchronization

/// The bytes of a complete response, as the router and the encoder would send them.
package final class StoredResponse: Sendable {
  package let status: Int
  /// The length of the body in bytes.
  package let bytes: Int
  /// The header without `Date`, its last field.
  private let head: ByteBuffer
  private let body: ByteBuffer?
  private let dated = Mutex(Dated())

  /// The bytes of the current second.
  private struct Dated {
    var second = Int.min
    /// The header, with the body if it is to be included.
    var bytes = ByteBuffer()
    var includesBody = false
  }

  /// The maximum length of a body that is stored with the header, in bytes. It is copied once a second.
  private static let maximumIncludedBytes = 64 << 10

  /// - Parameters:
  ///   - fields: All header fields except `Date`.
  ///   - body: nil for a response without a body, such as a 304.
  package init(status: HTTPResponse.Status, fields: HTTPFields, body: ByteBuffer?) {
    self.status = status.code
    bytes = body?.readableBytes ?? 0
    self.body = body
    var head = ByteBuffer(string: "HTTP/1.1 \(HTTPResponseStatus(statusCode: status.code))\r\n")
    for field in fields where body != nil || field.name != .contentLength {
      head.writeString("\(field.name.rawName): \(field.value)\r\n")
    }
    self.head = head
  }

  /// Stores the body once more, with the header, so that a response that is sent often is a single write.
  ///
  /// - Returns: The memory that it takes in bytes; 0 for a response that is too long.
  package func includeBody() -> Int {
    guard let body, body.readableBytes <= Self.maximumIncludedBytes else { return 0 }
    dated.withLock { $0 = Dated(includesBody: true) }
    return body.readableBytes
  }

  /// Writes the response without a flush.
  ///
  /// - Parameters:
  ///   - encoder: The context of the encoder, which is bypassed.
  ///   - date: The current date.
  func write(to encoder: ChannelHandlerContext, _ date: HTTPDateLine) {
    let (bytes, includesBody) = dated.withLock { dated in
      if dated.second != date.second {
        var bytes = head
        bytes.writeImmutableBuffer(date.line)
        if dated.includesBody, let body { bytes.writeImmutableBuffer(body) }
        dated.bytes = bytes
        dated.second = date.second
      }
      return (dated.bytes, dated.includesBody)
    }
    encoder.write(NIOAny(bytes), promise: nil)
    if let body, !includesBody { encoder.write(NIOAny(body), promise: nil) }
  }
}

/// The field `Date` as the last line of a header, with the empty line that ends it.
struct HTTPDateLine: Sendable {
  /// Seconds since 1970.
  let second: Int
  let line: ByteBuffer
}

/// The current date for all connections. It is formatted once a second.
final class HTTPDateClock: Sendable {
  private let current = Mutex(HTTPDateLine(second: .min, line: ByteBuffer()))

  /// The line for the current second.
  var line: HTTPDateLine {
    let now = Date()
    let second = Int(now.timeIntervalSince1970)
    return current.withLock { current in
      if current.second != second {
        current = HTTPDateLine(second: second, line: ByteBuffer(string: "Date: \(HTTPDate.format(now))\r\n\r\n"))
      }
      return current
    }
  }
}
