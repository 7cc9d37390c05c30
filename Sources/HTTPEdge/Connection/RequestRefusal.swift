import Foundation
import HTTPConditions
package import HTTPTypes
package import NIOCore
package import NIOHTTP1

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

extension HTTPRequestHead {
  /// The reason to refuse a message whose target is in origin form; nil for an acceptable one.
  ///
  /// Some messages that the decoder accepts are refused, because another server might read them differently. Such
  /// differences are the means of request smuggling.
  package var refusal: RequestRefusal? {
    if method == .CONNECT { return .notImplemented("CONNECT is not supported: the server is not a proxy.") }
    return fieldRefusal ?? hostRefusal ?? targetRefusal ?? transferCodingRefusal ?? expectationRefusal
  }

  /// Whether no other request may follow on the connection. A connection of HTTP/1.0 has one request. After a request to
  /// upgrade, which may be ignored (RFC 9110 section 7.8), the decoder reads no other.
  var isLast: Bool { version == .http1_0 || !isKeepAlive || headers.contains(name: "upgrade") }

  /// Whether the client sends the body only after a 100 (Continue) (RFC 9110 section 10.1.1).
  var expectsContinue: Bool { version != .http1_0 && headers.contains(name: "expect") }

  /// Header fields are compared before anything else is known about a client, partly on the event loop.
  private var fieldRefusal: RequestRefusal? {
    headers.allSatisfy(\.value.isStreamSafe)
      ? nil : .malformed("A header field has more than 30 combining marks in a row.")
  }

  /// RFC 9112 section 3.2: there is exactly one valid `Host`, which HTTP/1.0 may omit.
  private var hostRefusal: RequestRefusal? {
    let hosts = headers["host"]
    guard hosts.count <= 1 else { return .malformed("There is more than one Host.") }
    guard let host = hosts.first else {
      return version == .http1_0 ? nil : .malformed("There is no Host.")
    }
    return Self.isAuthority(host) ? nil : .malformed("Host must be a host with an optional port.")
  }

  /// RFC 9112 section 3.2: the target is a path, or `*` for OPTIONS.
  private var targetRefusal: RequestRefusal? {
    if uri == "*", method == .OPTIONS { return nil }
    guard uri.hasPrefix("/"), uri.utf8.allSatisfy({ 33...126 ~= $0 && $0 != UInt8(ascii: "#") }) else {
      return .malformed("The target must be a path with an optional query, or an http URL.")
    }
    return nil
  }

  /// RFC 9112 section 6: `chunked` is the only coding, and HTTP/1.0 has none.
  private var transferCodingRefusal: RequestRefusal? {
    guard headers.contains(name: "transfer-encoding") else { return nil }
    let codings = headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
    guard version != .http1_0, codings.last == "chunked", !codings.dropLast().contains("chunked") else {
      return .malformed("Transfer-Encoding does not define where the body ends.")
    }
    return codings.count == 1 ? nil : .notImplemented("The only supported transfer coding is chunked.")
  }

  private var expectationRefusal: RequestRefusal? {
    let expectations = headers[canonicalForm: "expect"]
    guard version != .http1_0, !expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else { return nil }
    return .expectationFailed
  }

  /// The same request with a target in origin form, if it was an http URL (RFC 9112 section 3.2.2).
  var inOriginForm: HTTPRequestHead {
    guard !uri.hasPrefix("/"),
      let scheme = ["http://", "https://"].first(where: { uri.prefix($0.count).lowercased() == $0 })
    else {
      return self
    }
    let rest = uri.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard Self.isAuthority(authority) else { return self }
    var head = self
    let path = rest.dropFirst(authority.count)
    head.uri = path.hasPrefix("/") ? String(path) : "/" + path
    return head
  }

  /// Whether a text is a host, not empty, with an optional port (RFC 3986 sections 3.2.2 and 3.2.3).
  package static func isAuthority(_ text: some StringProtocol) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count <= 255 + 6 else { return false }
    var host = bytes[...]
    if let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes.last != UInt8(ascii: "]") {
      guard bytes[(colon + 1)...].allSatisfy(\.isDigit) else { return false }
      host = bytes[..<colon]
    }
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
      let address = host.dropFirst().dropLast()
      return address.contains(UInt8(ascii: ":")) && address.allSatisfy { $0.isHexDigit || ".:".utf8.contains($0) }
    }
    return !host.isEmpty && host.allSatisfy { $0.isLetter || $0.isDigit || "-._~%!$&'()*+,;=".utf8.contains($0) }
  }
}

extension UInt8 {
  var isDigit: Bool { 48...57 ~= self }
  fileprivate var isLetter: Bool { 97...122 ~= self | 32 }
  fileprivate var isHexDigit: Bool { isDigit || 97...102 ~= self | 32 }
}
