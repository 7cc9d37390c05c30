import Hummingbird

/// Counts every request of the router. It is the outermost middleware, so responses of other middleware count too.
struct RequestMetrics: RouterMiddleware {
  let metrics: APIMetrics

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    var context = context
    context.metrics = metrics
    let response = try await next(request, context)
    // The framework uses `NotFound` if no route has the path and method.
    let route = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 }
    metrics.count(
      route: route, method: request.method, status: response.status.code, bytes: response.body.contentLength ?? 0,
      duration: ContinuousClock.now - start)
    return response
  }
}
