import Hummingbird

/// Rejects other spellings of a path, such as `/v1/items/` and `//v1/items`, which the router treats as equal. Each
/// would be another key in every cache, and could bypass the rules of a proxy.
struct ExactPath: RouterMiddleware {
  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let path = request.uri.path
    guard path == "/" || !path.hasSuffix("/") && !path.contains("//") else { throw ProblemError.notFound }
    return try await next(request, context)
  }
}
