import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
package import NIOCore
import NIOHTTP1
import News

extension ProblemError {
  /// Creates the problem that a client receives for a message that was refused before the router.
  init(_ refusal: RequestRefusal) {
    self =
      switch refusal {
      case .malformed(let detail): .malformedRequest(detail)
      case .notImplemented(let detail): .notImplemented(detail)
      case .timeout: .requestTimeout
      case .headersTooLarge: .headersTooLarge
      case .versionNotSupported: .versionNotSupported
      case .expectationFailed: .expectationFailed
      case .tooManyRequests(let time): .tooManyRequests(in: time)
      }
  }

  /// Makes the response to a message that was refused before the router.
  ///
  /// - Parameters:
  ///   - head: The head of the message; nil if it could not be read.
  ///   - modules: The modules whose errors have another form than those of the API.
  static func response(
    to refusal: RequestRefusal, _ head: HTTPRequestHead?, _ modules: [any RouteModule]
  ) -> RefusalResponse {
    var problem = ProblemError(refusal)
    let status = HTTPResponse.Status(code: problem.problem.status)
    if let head, let module = modules.first(where: { $0.owns(String(head.uri.prefix { $0 != "?" })) }) {
      var (fields, text) = module.errorPage(of: problem.problem, headers: problem.headers)
      fields[.requestID] = RequestID().description
      return RefusalResponse(status: status, fields: fields, body: ByteBuffer(string: text))
    }
    // A page that may read the resource may also read why it cannot do so now.
    if case .tooManyRequests = refusal, let head, !head.uri.hasPrefix(APIPath.editorial + "/") {
      CORS.add(to: &problem.headers)
    }
    var fields = problem.fields
    fields[.requestID] = RequestID().description
    return RefusalResponse(status: status, fields: fields, body: problem.body)
  }

  /// The refusal of a client that has exceeded its rate limit (RFC 6585 section 4).
  ///
  /// - Parameter time: The time until a request is accepted again. `Retry-After` is rounded up to whole seconds.
  package static func tooManyRequests(in time: TimeAmount) -> ProblemError {
    let seconds = max(1, (time.nanoseconds + 999_999_999) / 1_000_000_000)
    return ProblemError(
      .tooManyRequests, "too-many-requests", "Too many requests", detail: "Try again in \(seconds) s.",
      headers: [.retryAfter: "\(seconds)"])
  }
}
