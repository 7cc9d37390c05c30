import HTTPTypes
import Hummingbird
import Logging
import NewsStore

/// Gives the log lines of a request what they have in common, and says in a line of its own if it took long.
///
/// A trace that the client has begun (W3C Trace Context) is named in all of them; spans are made where the process has a
/// tracer, by the framework.
struct RequestLog: RouterMiddleware {
  let proxies: TrustedProxies
  /// nil to say nothing of slow ones.
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
    // An upload takes as long as its client does.
    if duration >= slow, context.endpointPath != "/v1/editorial/media" {
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
  /// The address of who asks, for the log.
  func client(of request: Request, _ context: APIContext) -> String {
    context.peer.map { "\(client(of: $0, request.headers[values: name]))" } ?? "unknown"
  }

  // Both are tokens of RFC 9110 section 5.6.2.
  fileprivate var name: HTTPField.Name { HTTPField.Name(field.rawValue)! }
}

extension Duration {
  /// Whole ones.
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
