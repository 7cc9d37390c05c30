import Foundation
import HTTPConditions
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// A reason to refuse a message before it reaches the router.
package enum RequestRefusal: Equatable, Sendable {
  /// The message violates HTTP/1.1 (400). The text describes the violation, if it is known.
  case malformed(String?)
  /// The server does not implement the method or the transfer coding (501).
  case notImplemented(String)
  /// The message took too long to arrive (408).
  case timeout
  /// The header is larger than the decoder's limit (431).
  case headersTooLarge
  /// The version is neither 1.1 nor 1.0 (505).
  case versionNotSupported
  /// `Expect` has another value than `100-continue` (417).
  case expectationFailed
  /// The client has exceeded its rate limit (429). The next request is accepted after this time.
  case tooManyRequests(TimeAmount)

  /// - Parameter error: The error with which the decoder or the deadline has rejected a message.
  init(_ error: any Error) {
    self =
      switch error {
      case is ConnectionDeadline.Exceeded: .timeout
      case HTTPParserError.headerOverflow: .headersTooLarge
      case HTTPParserError.invalidMethod: .notImplemented("The method is unknown.")
      case HTTPParserError.invalidVersion: .versionNotSupported
      default: .malformed(nil)
      }
  }
}

/// The response to a refused message, which ends its connection.
package struct RefusalResponse: Sendable {
  let status: HTTPResponse.Status
  let fields: HTTPFields
  let body: ByteBuffer

  /// - Parameter fields: The header fields except `Connection`, `Content-Length` and `Date`.
  package init(status: HTTPResponse.Status, fields: HTTPFields, body: ByteBuffer) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The head, with the fields that every refusal has.
  var head: HTTPResponseHead {
    var fields = fields
    fields[.connection] = "close"
    fields[.contentLength] = "\(body.readableBytes)"
    fields[.date] = HTTPDate.format(Date())
    return HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: status.code), headers: HTTPHeaders(fields))
  }
}
