import Foundation
package import HTTPEdge
import HTTPTypes
package import Hummingbird
import Logging
package import NetworkAddresses
import News
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
  /// Limits the lines about writes that have failed, as all of them do while the database does not respond.
  private let failures = LogLineLimit(perMinute: 6)

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
    if !context.record.isUpload {
      slow.log(duration: duration, database: database, status: response.status.code, context.logger) {
        facts(request, response, context)
      }
    }
    return response
  }

  /// Logs the request: at `info` for an editorial write, a failed one, or a refused key, otherwise at `debug`. The lines at
  /// `info` record who has changed what. Further failures and refusals beyond the limit are at `debug` too.
  private func log(_ request: Request, _ response: Response, _ context: APIContext) {
    let (message, limited) = event(request, response.status.code, context.record)
    let level: Logger.Level = limited == nil ? .debug : .info
    var logger = context.logger
    if let logLevel { logger.logLevel = logLevel }
    guard level >= logger.logLevel else { return }
    let facts = facts(request, response, context).merging(limited ?? [:]) { own, _ in own }
    logger.log(level: level, message, metadata: facts)
  }

  /// Returns the message about a request, and the metadata from its limit; nil for a line at `debug`.
  ///
  /// A refused write (4xx) has changed nothing, and the response has the reason. A write whose outcome is unknown may have
  /// changed something.
  private func event(
    _ request: Request, _ status: Int, _ record: RequestRecord
  ) -> (message: Logger.Message, limited: Logger.Metadata?) {
    if record.refusal != nil { return ("key refused", refusals.line()) }
    guard record.key != nil, ![.get, .head].contains(request.method) else { return ("request", nil) }
    if status < 400 || record.problem == Self.unknownOutcome { return ("editorial write", [:]) }
    guard status >= 500, var metadata = failures.line() else { return ("request", nil) }
    metadata["problem"] = record.problem.map { "\($0)" }
    return ("editorial write failed", metadata)
  }

  private static let unknownOutcome = ProblemError(StoreError.outcomeUnknown).problem.type

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
