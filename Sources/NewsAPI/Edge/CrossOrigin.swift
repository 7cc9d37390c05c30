import HTTPTypes
import Hummingbird

/// Lets pages of any site read what is public (Fetch standard, section 3.3). It is the same for every origin, so that
/// caches need not tell them apart. Errors get it in `ProblemResponses`.
struct CrossOrigin: RouterMiddleware {
  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    Self.add(to: &response.headers)
    return response
  }

  static func add(to headers: inout HTTPFields) {
    headers[.accessControlAllowOrigin] = "*"
    // All of them: a list would be a fifth of the answer that nothing is new.
    headers[.accessControlExposeHeaders] = "*"
  }

  /// The answer to a browser that asks what it may send.
  static var preflight: Response {
    Response(
      status: .noContent,
      headers: [
        .accessControlAllowMethods: "GET, HEAD",
        .accessControlAllowHeaders: "If-None-Match, If-Modified-Since, If-Range, Range",
        .accessControlMaxAge: "86400",
      ])
  }
}
