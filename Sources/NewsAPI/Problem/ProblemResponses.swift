import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// Converts errors thrown by inner layers to responses, which no other middleware does. It also removes the body of
/// responses to HEAD, and logs requests.
struct ProblemResponses: RouterMiddleware {
  let routes: RouteTable
  let proxies: TrustedProxies
  /// The minimum level of the lines; nil for the level of the context's logger.
  let logLevel: Logger.Level?
  /// Limits the lines that clients without a key can cause.
  let refusals = LogLineLimit()

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await next(request, context)
    } catch {
      var problem = problem(for: error, request)
      if problem.isOurFault {
        // The client cannot correct the error. The log contains the cause, under the request id in the response.
        context.logger.error(
          "request failed",
          metadata: [
            "method": "\(request.method)", "path": "\(request.uri.path)", "error": "\(String(reflecting: error))",
            "client": "\(proxies.client(of: request, context))",
          ].merging(context.record.metadata) { own, _ in own })
      }
      // A page that may read the resource may also read its errors.
      if routes.methods(of: request.uri.path).contains(.options) { CORS.add(to: &problem.headers) }
      response = problem.response
    }
    if response.status != .noContent || request.method != .options, !response.isForAll {
      response.headers[.requestID] = context.requestID
    }
    log(request, response, context)
    return request.method == .head ? response.createHeadResponse() : response
  }

  /// Logs the request: at `info` for an editorial write or a refused key, otherwise at `debug`. The lines at `info`
  /// record who has changed what. Further refusals beyond the limit are at `debug` too.
  private func log(_ request: Request, _ response: Response, _ context: APIContext) {
    let record = context.record
    var event: (message: Logger.Message, level: Logger.Level) = ("request", .debug)
    if record.refusal != nil {
      event = ("key refused", refusals.allow() ? .info : .debug)
    } else if record.key != nil, ![.get, .head].contains(request.method) {
      event = ("editorial write", .info)
    }
    var logger = context.logger
    if let logLevel { logger.logLevel = logLevel }
    guard event.level >= logger.logLevel else { return }
    logger.log(
      level: event.level, event.message,
      metadata: [
        "method": "\(request.method)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
        "client": "\(proxies.client(of: request, context))",
      ].merging(record.metadata) { own, _ in own })
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
    let methods = routes.methods(of: request.uri.path)
    return methods.isEmpty ? .notFound : .methodNotAllowed(methods)
  }
}

extension Response {
  /// Whether the response is the same for all clients and must not depend on the single request: one that caches may
  /// store, or one that several long polls share.
  fileprivate var isForAll: Bool {
    headers[.cacheControl].map { $0.contains("s-maxage") } ?? false || headers[.syncToken] != nil
  }
}
