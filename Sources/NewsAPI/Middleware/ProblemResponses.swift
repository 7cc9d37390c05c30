import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// The outermost layer: the one place where a thrown error becomes a response, and where HEAD loses its body.
struct ProblemResponses: RouterMiddleware {
  let paths: KnownPaths
  let proxies: TrustedProxies

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await next(request, context)
    } catch {
      var problem = problem(for: error, request)
      if problem.isOurFault {
        // Who sees it is not who can mend it: the cause goes to the log, under the id that the client is told.
        context.logger.error(
          "request failed",
          metadata: [
            "method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(String(reflecting: error))",
            "client": "\(proxies.client(of: request, context))",
          ])
      }
      // Whoever may read what is here may also read why not.
      if paths.methods(of: request.uri.path).contains(.options) { CrossOrigin.add(to: &problem.headers) }
      response = problem.response
    }
    if response.status != .noContent || request.method != .options, !response.isForAll {
      response.headers[.requestID] = context.requestID
    }
    context.logger.debug(
      "request",
      metadata: [
        "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
        "client": "\(proxies.client(of: request, context))",
      ])
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func problem(for error: any Error, _ request: Request) -> ProblemError {
    switch error {
    case let error as ProblemError: error
    case let error as StoreError: ProblemError(error)
    case let error as HTTPError where error.status == .notFound: unroutable(request)
    case is CancellationError: .unavailable
    default: .internal
    }
  }

  private func unroutable(_ request: Request) -> ProblemError {
    let methods = paths.methods(of: request.uri.path)
    return methods.isEmpty ? .notFound : .methodNotAllowed(methods)
  }
}

extension Response {
  /// Whether it is the same for all who ask, and says nothing about the single request: what caches may keep, and what
  /// those get who wait for the same.
  fileprivate var isForAll: Bool {
    headers[.cacheControl].map { $0.contains("s-maxage") } ?? false || headers[.syncToken] != nil
  }
}
