import Foundation
package import HTTPEdge
import HTTPTypes
package import Hummingbird
import Logging
package import NetworkAddresses
import NewsStore

/// Counts, measures and logs every request of the router, whether a handler or another middleware has made the response.
/// The log lines have the client's trace (W3C Trace Context).
struct RequestRecorder: RouterMiddleware {
  let metrics: APIMetrics
  let slow: SlowRequests
  /// The minimum level of the lines about ordinary requests; nil for the level of the context's logger.
  let logLevel: Logger.Level?
  /// Limits the lines that clients without a key can cause.
  private let refusals = LogLineLimit()

  init(metrics: APIMetrics, slow: SlowRequests, logLevel: Logger.Level?) {
    self.metrics = metrics
    self.slow = slow
    self.logLevel = logLevel
  }

  func handle(
    _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if let trace = TraceParent(request.headers) {
      context.logger[metadataKey: "trace_id"] = "\(trace.traceID)"
      context.logger[metadataKey: "parent_id"] = "\(trace.parentID)"
    }
    let start = ContinuousClock.now
    let database = DatabaseTime()
    let response = try await DatabaseTime.$current.withValue(database) { [context] in try await next(request, context) }
    let duration = ContinuousClock.now - start
    // The framework uses `NotFound` if no route has the path and method.
    let route = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 }
    metrics.count(
      route: route, method: request.method, status: response.status.code, bytes: response.body.contentLength ?? 0,
      duration: duration)
    log(request, response, context)
    // The client determines the duration of an upload.
    if route != APIPath.uploads, !context.record.isUpload {
      slow.log(duration: duration, database: database, context.logger) { facts(request, response, context) }
    }
    return response
  }

  /// Logs the request: at `info` for an editorial write or a refused key, otherwise at `debug`. The lines at `info`
  /// record who has changed what. Further refusals beyond the limit are at `debug` too.
  private func log(_ request: Request, _ response: Response, _ context: APIContext) {
    var event: (message: Logger.Message, level: Logger.Level) = ("request", .debug)
    var suppressed: Logger.Metadata = [:]
    if context.record.refusal != nil {
      let line = refusals.line()
      event = ("key refused", line == nil ? .debug : .info)
      suppressed = line ?? [:]
    } else if context.record.key != nil, ![.get, .head].contains(request.method) {
      event = ("editorial write", .info)
    }
    var logger = context.logger
    if let logLevel { logger.logLevel = logLevel }
    guard event.level >= logger.logLevel else { return }
    let facts = facts(request, response, context).merging(suppressed) { own, _ in own }
    logger.log(level: event.level, event.message, metadata: facts)
  }

  private func facts(_ request: Request, _ response: Response, _ context: APIContext) -> Logger.Metadata {
    [
      "method": "\(request.method)", "route": "\(context.route)", "status": "\(response.status.code)",
      "client": "\(slow.proxies.client(of: request, context))",
    ].merging(context.record.metadata) { own, _ in own }
  }
}

extension APIContext {
  /// The path pattern of the route, for the log. A path itself may contain the id of a device, or the token of a callback.
  var route: String { endpointPath ?? "unknown" }
}

extension TrustedProxies {
  /// Returns the address of the client, for the log.
  func client(of request: Request, _ context: APIContext) -> String {
    address(of: request, context).map { "\($0)" } ?? "unknown"
  }

  /// Returns the address of the client; nil for a peer without an IP address.
  package func address(of request: Request, _ context: APIContext) -> IPAddress? {
    context.peer.map { client(of: $0, request.headers[values: name]) }
  }

  // Both names are tokens (RFC 9110 section 5.6.2).
  fileprivate var name: HTTPField.Name { HTTPField.Name(field.rawValue)! }
}
