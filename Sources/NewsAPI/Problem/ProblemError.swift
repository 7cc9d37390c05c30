import Foundation
import HTTPConditions
import HTTPEdge
package import HTTPTypes
import Hummingbird
import MediaFiles
package import News
import NewsPages
package import NewsStore

/// An error in the form that a client receives: problem details (RFC 9457) with a status and header fields.
package struct ProblemError: Error {
  package var problem: Problem
  package var headers: HTTPFields
  /// Whether the response can replace a stored 200 in a cache.
  var replacesStored = false

  /// - Parameters:
  ///   - name: The last part of the stable `type`.
  ///   - title: A short description, the same for every problem of the type.
  package init(
    _ status: HTTPResponse.Status, _ name: String, _ title: String, detail: String? = nil,
    errors: [FieldError]? = nil, headers: HTTPFields = [:]
  ) {
    problem = Problem(type: "/problems/\(name)", title: title, status: status.code, detail: detail, errors: errors)
    self.headers = headers
  }

  /// Whether the operator has to act, so that the log has the cause.
  var isOurFault: Bool { problem.status == 500 || problem.type.hasPrefix("/problems/storage-") }

  /// Whether the database does not answer.
  var isOutage: Bool { problem.type == Self.unavailable.problem.type }

  var body: ByteBuffer { (try? NewsJSON.encode(problem)).map { ByteBuffer(bytes: $0) } ?? ByteBuffer() }

  /// The header fields of the response, without the request id.
  var fields: HTTPFields {
    var fields = headers
    fields[.contentType] = "application/problem+json"
    fields[.cacheControl] = replacesStored ? CachePolicy.goneRead : CachePolicy.notStored
    return fields
  }

  /// The response, without the request id.
  var response: Response { response(nil) }

  /// Returns the response, without the request id.
  ///
  /// - Parameter renderer: The renderer of pages, for the reader of a page; nil for clients of the API.
  func response(_ renderer: PageRenderer?) -> Response {
    let (fields, body) = content(renderer)
    return Response(
      status: HTTPResponse.Status(code: problem.status), headers: fields, body: ResponseBody(byteBuffer: body))
  }

  /// The header fields and the body of the response, as problem details or as a page.
  func content(_ renderer: PageRenderer?) -> (fields: HTTPFields, body: ByteBuffer) {
    renderer.flatMap(page) ?? (fields, body)
  }
}

extension ProblemError {
  static func invalidParameters(_ errors: [FieldError]) -> ProblemError {
    ProblemError(.badRequest, "invalid-parameter", "A parameter of the request is not valid", errors: errors)
  }

  package static func invalidFields(_ errors: [FieldError]) -> ProblemError {
    ProblemError(.unprocessableContent, "invalid-field", "A field of the body is not valid", errors: errors)
  }

  static func malformedBody(_ detail: String) -> ProblemError {
    ProblemError(.badRequest, "malformed-body", "The body cannot be read", detail: detail)
  }

  /// The message violates HTTP/1.1, independently of the resource.
  static func malformedRequest(_ detail: String?) -> ProblemError {
    ProblemError(.badRequest, "malformed-request", "The request is not valid HTTP", detail: detail)
  }

  static let idempotencyKeyUnsupported = ProblemError(
    .badRequest, "idempotency-key-unsupported", "Idempotency-Key is supported for POST only",
    detail: "Omit the field. The precondition of the request makes its repetition safe.")

  static let notReachedYet = ProblemError(
    .serviceUnavailable, "not-reached-yet", "The server has not reached the version in `at`",
    headers: [.retryAfter: "1"])

  static let requestInProgress = ProblemError(
    .conflict, "request-in-progress", "The first request with this Idempotency-Key has no answer yet",
    detail: "Repeat the request later to receive its answer.", headers: [.retryAfter: "1"])

  static let idempotencyKeyReused = ProblemError(
    .unprocessableContent, "idempotency-key-reused", "The Idempotency-Key was used with another body",
    detail: "Repeat the first request unchanged, or send a new key.")

  static let answerErased = ProblemError(
    .gone, "answer-erased", "The answer was erased",
    detail: "The request was carried out. An item in its answer was erased later, and the answer with it.")

  static let revisionRemoved = ProblemError(
    .gone, "revision-removed", "The revision is no longer stored",
    detail:
      "The history of the item begins later. Older revisions were removed or erased, or are of before the history.")

  /// - Parameter detail: The reason for which the key is refused; nil for a request without a key (RFC 6750 section 3.1).
  static func unauthorized(detail: String?) -> ProblemError {
    ProblemError(
      .unauthorized, "unauthorized", "A valid key is required",
      detail: detail ?? "Send it as `Authorization: Bearer KEY`.",
      headers: [.wwwAuthenticate: #"Bearer realm="tidings""# + (detail == nil ? "" : #", error="invalid_token""#)])
  }

  package static func forbidden(_ permission: APIKey.Permission) -> ProblemError {
    ProblemError(
      .forbidden, "forbidden", "The key lacks a required scope",
      detail: "The scope \(permission.rawValue) is required.",
      headers: [
        .wwwAuthenticate: #"Bearer realm="tidings", error="insufficient_scope", scope="\#(permission.rawValue)""#
      ])
  }

  /// - Parameters:
  ///   - consequence: A sentence about what the key may therefore not do.
  ///   - allowed: The topics to which the key is restricted.
  static func topicNotAllowed(_ consequence: String, allowed: [String]) -> ProblemError {
    let topics = allowed.isEmpty ? "topics that were deleted" : "the topics \(allowed.joined(separator: ", "))"
    return ProblemError(
      .forbidden, "topic-not-allowed", "The key is restricted to other topics",
      detail: "The key is restricted to \(topics). \(consequence)",
      headers: [.wwwAuthenticate: #"Bearer realm="tidings", error="insufficient_scope""#])
  }

  package static let notFound = ProblemError(.notFound, "not-found", "The resource does not exist")

  static func methodNotAllowed(_ methods: [HTTPRequest.Method]) -> ProblemError {
    ProblemError(
      .methodNotAllowed, "method-not-allowed", "The method is not allowed here",
      headers: [.allow: methods.map(\.rawValue).joined(separator: ", ")])
  }

  static let requestTimeout = ProblemError(
    .requestTimeout, "request-timeout", "The request took too long to arrive")

  package static let preconditionFailed = ProblemError(
    .preconditionFailed, "precondition-failed", "A precondition does not hold",
    detail: "The resource has changed since it was read. Read it again.")

  static func bodyTooLarge(_ largest: Int) -> ProblemError {
    ProblemError(
      .contentTooLarge, "body-too-large", "The body is too large", detail: "The maximum is \(largest) bytes.")
  }

  /// - Parameter length: The length of the whole file, in bytes.
  static func rangeNotSatisfiable(length: Int) -> ProblemError {
    ProblemError(
      .rangeNotSatisfiable, "range-not-satisfiable", "The range is not within the file",
      detail: "It has \(length) bytes.",
      headers: [.contentRange: ContentRange.unsatisfiable(length: length), .acceptRanges: "bytes"])
  }

  static let mediaNotKept = ProblemError(
    .notImplemented, "media-not-kept", "The server stores no files",
    detail: "The operator of the server can set a directory with TIDINGS_MEDIA_DIRECTORY.")

  static func mediaUnavailable(_ error: MediaLibraryError) -> ProblemError {
    ProblemError(
      .serviceUnavailable, "media-unavailable", "The server accepts no files at present",
      detail: "The operator of the server has to act: \(error).", headers: [.retryAfter: "60"])
  }

  /// Creates the problem of a storage of files. 507 is Insufficient Storage (RFC 4918 section 11.5).
  init(_ error: MediaError) {
    switch error {
    case .full: self.init(.init(code: 507), "storage-full", "The storage for files is full")
    case .failed(_, EROFS): self.init(.init(code: 507), "storage-read-only", "The storage for files is read-only")
    case .failed(_, EMFILE), .failed(_, ENFILE):
      self.init(
        .serviceUnavailable, "unavailable", "The server has too many files open at present",
        headers: [.retryAfter: "5"])
    case .failed:
      self.init(
        .serviceUnavailable, "storage-failed", "The storage for files fails",
        detail: "The log of the server has the reason.", headers: [.retryAfter: "60"])
    }
  }

  /// `Accept-Encoding` lists the accepted codings (RFC 9110 section 12.5.3).
  static let unsupportedContentCoding = ProblemError(
    .unsupportedMediaType, "unsupported-content-coding", "A content coding of the body is not supported",
    headers: [.acceptEncoding: "identity"])

  static func unsupportedMediaType(_ accepted: [String]) -> ProblemError {
    ProblemError(
      .unsupportedMediaType, "unsupported-media-type", "The media type of the body is not supported",
      detail: "Send it with `Content-Type: \(accepted[0])`.", headers: [.accept: accepted.joined(separator: ", ")])
  }

  /// The content does not match its declared type, or has no accepted type.
  static func otherMediaType(_ declared: String, _ accepted: [String]) -> ProblemError {
    ProblemError(
      .unsupportedMediaType, "unsupported-media-type", "The media type of the body is not supported",
      detail: declared == "application/octet-stream"
        ? "The content has none of the supported types." : "The content is not of the declared type \(declared).",
      headers: [.accept: accepted.joined(separator: ", ")])
  }

  static let expectationFailed = ProblemError(
    .expectationFailed, "expectation-failed", "The only supported expectation is 100-continue")

  static let headersTooLarge = ProblemError(
    .requestHeaderFieldsTooLarge, "headers-too-large", "The header of the request is too large",
    detail: "The maximum of target and fields together is \(EdgeChannel.maximumHeaderBytes) bytes.")

  static let `internal` = ProblemError(
    .internalServerError, "internal", "Internal server error", detail: "The error was logged under the request id.")

  static func notImplemented(_ detail: String) -> ProblemError {
    ProblemError(.notImplemented, "not-implemented", "The server cannot do this for any resource", detail: detail)
  }

  static let versionNotSupported = ProblemError(
    .httpVersionNotSupported, "version-not-supported", "The server supports only HTTP/1.1 and HTTP/1.0")

  static let feedsNotConfigured = {
    var error = ProblemError(
      .notFound, "feeds-not-configured", "The server publishes no feeds",
      detail: "Their addresses need its public URL, which the operator of the server can set with TIDINGS_PUBLIC_URL.")
    error.replacesStored = true
    return error
  }()

  package static let unavailable = ProblemError(
    .serviceUnavailable, "unavailable", "The database does not respond in time", headers: [.retryAfter: "5"])

  /// The database answers, but accepts no writes, or has ended for this reason.
  package static func writesRefused(_ obstacle: WriteObstacle) -> ProblemError {
    let (title, detail, wait) =
      switch obstacle {
      case .diskFull:
        (
          "The disk of the database is full", "Nothing can be written until the operator of the server has made room.",
          60
        )
      case .diskFailed:
        ("The disk of the database fails", "Nothing can be written until the operator of the server has acted.", 60)
      case .readOnly:
        ("The database is read-only", "Nothing can be written at present. The log of the server has the reason.", 5)
      }
    return ProblemError(
      .serviceUnavailable, obstacle.rawValue, title, detail: detail, headers: [.retryAfter: "\(wait)"])
  }

  /// The problem of a request for which the database of a store does not answer.
  package static func unavailable(_ store: NewsStore) -> ProblemError {
    store.endingObstacle.map(writesRefused) ?? .unavailable
  }
}
