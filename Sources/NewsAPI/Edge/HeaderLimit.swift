import HTTPTypes
import Hummingbird

/// Refuses requests whose target and fields are longer than any honest one.
struct HeaderLimit: RouterMiddleware {
  static let bytes = 16 * 1024

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var size = request.uri.string.utf8.count
    // A name and a value stand with a colon, a space and a line end.
    for field in request.headers { size += field.name.rawName.utf8.count + field.value.utf8.count + 4 }
    guard size <= Self.bytes else { throw ProblemError.headersTooLarge }
    return try await next(request, context)
  }
}
