import Hummingbird

/// Refuses other spellings of a path, `/v1/items/` and `//v1/items`, which the router takes for the same: each would be
/// one more key in every cache, and slip past the rules of a proxy.
struct ExactPath: RouterMiddleware {
  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let path = request.uri.path
    guard path == "/" || !path.hasSuffix("/") && !path.contains("//") else { throw ProblemError.notFound }
    return try await next(request, context)
  }
}
