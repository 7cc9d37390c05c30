import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// The outermost layer: the one place where a thrown error becomes a response, and where HEAD loses its body.
struct ProblemResponses: RouterMiddleware {
  let paths: KnownPaths
  let proxies: TrustedProxies
  /// The level from which on lines are written; nil for that of the context's logger.
  let logLevel: Logger.Level?
  /// Bounds the lines that clients without a key can cause.
  let refusals = LineLimit()

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
          ].merging(context.record.metadata) { own, _ in own })
      }
      // Whoever may read what is here may also read why not.
      if paths.methods(of: request.uri.path).contains(.options) { CrossOrigin.add(to: &problem.headers) }
      response = problem.response
    }
    if response.status != .noContent || request.method != .options, !response.isForAll {
      response.headers[.requestID] = context.requestID
    }
    log(request, response, context)
    return request.method == .head ? response.createHeadResponse() : response
  }

  /// Writes the line of the request: at `info` for a write and for a refused key, which together are the record of who
  /// changed what, and at `debug` for everything else.
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
