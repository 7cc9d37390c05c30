import HTTPEdge
import HTTPTypes
import Hummingbird

/// Rejects requests whose target and fields are longer than those of any legitimate client.
struct HeaderLimit: RouterMiddleware {
  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var size = request.uri.string.utf8.count
    // Each field line also has a colon, a space and a line end.
    for field in request.headers { size += field.name.rawName.utf8.count + field.value.utf8.count + 4 }
    guard size <= EdgeChannel.maximumHeaderBytes else { throw ProblemError.headersTooLarge }
    return try await next(request, context)
  }
}
