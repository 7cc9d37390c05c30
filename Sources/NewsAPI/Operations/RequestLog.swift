import HTTPEdge
import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// Adds the client's trace (W3C Trace Context) to the log lines of a request, and logs slow requests.
///
/// With `NewsAPI.Settings.makesSpans`, the framework creates spans if the process has a tracer.
struct RequestLog: RouterMiddleware {
  let proxies: TrustedProxies
  /// The duration from which a request is logged as slow; nil for never.
  let slow: Duration?

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if let trace = TraceParent(request.headers) {
      context.logger[metadataKey: "trace_id"] = "\(trace.traceID)"
      context.logger[metadataKey: "parent_id"] = "\(trace.parentID)"
    }
    guard let slow else { return try await next(request, context) }
    let start = ContinuousClock.now
    let database = DatabaseTime()
    let response = try await DatabaseTime.$current.withValue(database) { [context] in try await next(request, context) }
    let duration = ContinuousClock.now - start
    // The client determines the duration of an upload.
    if duration >= slow, context.endpointPath != APIPath.uploads {
      context.logger.notice(
        "slow request",
        metadata: [
          "method": "\(request.method)", "route": "\(context.endpointPath ?? "unknown")",
          "path": "\(request.uri.path)", "status": "\(response.status.code)", "ms": "\(duration.milliseconds)",
          "database_ms": "\(database.total.milliseconds)", "client": "\(proxies.client(of: request, context))",
        ].merging(context.record.metadata) { own, _ in own })
    }
    return response
  }
}

extension TrustedProxies {
  /// Returns the address of the client, for the log.
  func client(of request: Request, _ context: APIContext) -> String {
    context.peer.map { "\(client(of: $0, request.headers[values: name]))" } ?? "unknown"
  }

  // Both names are tokens (RFC 9110 section 5.6.2).
  fileprivate var name: HTTPField.Name { HTTPField.Name(field.rawValue)! }
}

extension Duration {
  /// The duration in whole milliseconds.
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
