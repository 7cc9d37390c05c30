import HTTPTypes
import Hummingbird

/// Adds the CORS fields to public reads, so that pages of any origin can read them (Fetch standard, section 3.3). The
/// fields are the same for every origin, so that caches need only one variant. `ProblemResponses` adds them to errors.
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
    // `*` exposes all fields. A list would make up a fifth of a response that reports nothing new.
    headers[.accessControlExposeHeaders] = "*"
  }

  /// The response to a preflight request, which names the allowed methods and fields.
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
