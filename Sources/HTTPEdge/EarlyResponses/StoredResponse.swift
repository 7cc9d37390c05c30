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
  private let datedHead = Mutex<(second: Int, head: ByteBuffer)>((.min, ByteBuffer()))

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

  /// Returns the whole response as one buffer, which shares nothing with others.
  func copy(with date: HTTPDateLine) -> ByteBuffer {
    var bytes = ByteBuffer()
    bytes.reserveCapacity(head.readableBytes + date.line.readableBytes + self.bytes)
    for part in [head, date.line, body].compactMap(\.self) { bytes.writeImmutableBuffer(part) }
    return bytes
  }

  /// Writes the response without a flush.
  ///
  /// - Parameters:
  ///   - output: A context from which a write bypasses the encoder.
  ///   - date: The current date.
  func write(to output: ChannelHandlerContext, _ date: HTTPDateLine) {
    let head = datedHead.withLock { dated in
      if dated.second != date.second {
        var head = self.head
        head.writeImmutableBuffer(date.line)
        dated = (date.second, head)
      }
      return dated.head
    }
    output.write(NIOAny(head), promise: nil)
    if let body { output.write(NIOAny(body), promise: nil) }
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

  /// The current second, since 1970.
  static var second: Int { Int(Date().timeIntervalSince1970) }

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

/// The responses that an event loop has sent repeatedly in the current second.
///
/// They belong to the loop alone. A lock, or a count of references, that all threads change for each request costs more
/// than the rest of such a response, and the more so the more processors there are. After a second at most, a response
/// comes from the responder again, which then notices its use, and whatever depends on the time.
package final class RecentResponses {
  /// A response with the current date, as one buffer. It is an object, so that each use counts one reference.
  final class Response {
    let source: EarlyResponse
    let bytes: ByteBuffer

    fileprivate init(source: EarlyResponse, bytes: ByteBuffer) {
      self.source = source
      self.bytes = bytes
    }
  }

  private struct Entry {
    let generation: Int
    /// nil after the first use.
    var response: Response?
  }

  /// The maximum number of requests that are remembered, and of those whose responses are stored.
  private static let maximumCount = 1024
  private static let maximumResponses = 64
  /// The maximum length of a stored body, in bytes.
  private static let maximumBytes = 64 << 10

  private let clock: HTTPDateClock
  private var entries: [PlainRequest: Entry] = [:]
  private var responses = 0
  /// The current date.
  private(set) var date: HTTPDateLine

  init(_ clock: HTTPDateClock) {
    self.clock = clock
    date = clock.line
  }

  /// Returns the stored response to a request in the current second; nil if there is none.
  ///
  /// - Parameter generation: The number of the responder's state.
  func response(to request: PlainRequest, in generation: Int) -> Response? {
    if HTTPDateClock.second != date.second {
      entries.removeAll(keepingCapacity: true)
      responses = 0
      date = clock.line
    }
    guard let entry = entries[request], entry.generation == generation else { return nil }
    return entry.response
  }

  /// Records that a response was sent.
  ///
  /// - Parameter generation: The number of the responder's state before it made the response.
  func note(_ source: EarlyResponse, to request: PlainRequest, in generation: Int) {
    if let known = entries[request], known.generation == generation {
      guard responses < Self.maximumResponses, source.response.bytes <= Self.maximumBytes else { return }
      responses += 1
      let response = Response(source: source, bytes: source.response.copy(with: date))
      entries[request] = Entry(generation: generation, response: response)
    } else if entries.count < Self.maximumCount || entries[request] != nil {
      entries[request] = Entry(generation: generation)
    }
  }
}
