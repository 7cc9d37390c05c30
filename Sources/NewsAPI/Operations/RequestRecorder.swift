import Foundation
package import HTTPEdge
import HTTPTypes
package import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
package import NetworkAddresses
import News
package import NewsStore
import Synchronization

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

/// The facts about a request that handlers establish and the log lines of outer layers contain.
///
/// A context is a value: each layer works on its own copy, and a field that an inner layer sets stays invisible to the
/// layers around it. All copies of a context share one record.
package final class RequestRecord: Sendable {
  private struct Facts {
    var key: APIKey?
    var subject: (name: String, value: String)?
    var refusal: String?
    var problem: String?
    var idempotencyKey: NamedRequest?
    var bodyDigest: Data?
    var bodyBytes: Int?
    var isReplayed = false
    var isUpload = false
  }

  /// A request with an `Idempotency-Key`.
  struct NamedRequest: Sendable {
    /// The id of the API key.
    let apiKey: String
    let method: String
    /// The path and the query.
    let target: String
    /// The value of `Idempotency-Key`.
    let text: String
  }

  private let facts = Mutex(Facts())

  /// The key that the request presented; nil without a key of this installation.
  var key: APIKey? { facts.withLock { $0.key } }

  /// The reason why the key was refused; nil for an accepted one.
  var refusal: String? { facts.withLock { $0.refusal } }

  /// The type of the problem in the response, such as `/problems/unavailable`; nil for another response.
  var problem: String? { facts.withLock { $0.problem } }

  /// The request, if it has an `Idempotency-Key`.
  var idempotencyKey: NamedRequest? { facts.withLock { $0.idempotencyKey } }

  /// The SHA-256 digest of the body, 32 bytes; nil if the body was not read.
  var bodyDigest: Data? { facts.withLock { $0.bodyDigest } }

  /// The size of the body that was read, in bytes; nil if none was read as a whole.
  var bodyBytes: Int? { facts.withLock { $0.bodyBytes } }

  /// Whether the request sends a file, so that the client determines its duration.
  var isUpload: Bool { facts.withLock { $0.isUpload } }

  /// Notes that the request may send a file.
  package func setUpload() { facts.withLock { $0.isUpload = true } }

  func setProblem(_ type: String) { facts.withLock { $0.problem = type } }

  func setIdempotencyKey(_ key: NamedRequest) { facts.withLock { $0.idempotencyKey = key } }

  func setBodyDigest(_ digest: Data) { facts.withLock { $0.bodyDigest = digest } }

  func setBodyBytes(_ bytes: Int) { facts.withLock { $0.bodyBytes = bytes } }

  /// Notes that the stored answer to an earlier request is sent.
  ///
  /// - Parameter location: The address of the resource that the earlier request has created; nil if there is none.
  func setReplayed(_ location: String?) {
    facts.withLock { facts in
      facts.isReplayed = true
      if let subject = facts.subject, let id = location?.split(separator: "/").last {
        facts.subject = (subject.name, String(id))
      }
    }
  }

  package func setKey(_ key: APIKey) { facts.withLock { $0.key = key } }

  package func setRefusal(_ refusal: String) { facts.withLock { $0.refusal = refusal } }

  /// Sets the resource that the request reads or writes.
  ///
  /// - Parameters:
  ///   - name: `item`, `media`, `subscription` or `topic`.
  ///   - value: The resource's id or slug.
  package func setSubject(_ name: String, _ value: String) { facts.withLock { $0.subject = (name, value) } }

  /// The facts as metadata of a log line. The key itself is not among them.
  var metadata: Logger.Metadata {
    facts.withLock { facts in
      var metadata: Logger.Metadata = [:]
      if let key = facts.key {
        metadata["key"] = "\(key.id)"
        metadata["key_name"] = "\(key.name.terminalSafe)"
        // The reader's subject is not logged beside the reader's address.
        if let subject = facts.subject { metadata[subject.name] = "\(subject.value)" }
      }
      if facts.isReplayed { metadata["replayed"] = "true" }
      if let refusal = facts.refusal { metadata["reason"] = "\(refusal)" }
      return metadata
    }
  }
}

/// Logs requests that take long, those of the router and those that wait for a load before it.
struct SlowRequests: Sendable {
  /// The duration from which a request is logged as slow; nil for never.
  let limit: Duration?
  let proxies: TrustedProxies
  private let lines = LogLineLimit()
  /// The limit for responses with 503. In an outage, each request waits for the database first, and the log has the outage.
  private let unavailable = LogLineLimit(perMinute: 6)

  /// Logs a request if it took long.
  ///
  /// - Parameters:
  ///   - duration: The time from the head of the request to the response.
  ///   - database: The time that the request waited for the database.
  ///   - status: The status of the response.
  ///   - facts: The metadata of all log lines about the request.
  func log(
    duration: Duration, database: DatabaseTime, status: Int, _ logger: Logger, facts: () -> Logger.Metadata
  ) {
    guard let limit, duration >= limit, let suppressed = (status == 503 ? unavailable : lines).line() else { return }
    var metadata = facts().merging(suppressed) { own, _ in own }
    metadata["ms"] = "\(duration.milliseconds)"
    metadata["database_ms"] = "\(database.total.milliseconds)"
    logger.notice("slow request", metadata: metadata)
  }

  /// The metadata of log lines about a request that has not passed the router.
  func facts(_ head: HTTPRequestHead, route: String, peer: SocketAddress?, status: Int) -> Logger.Metadata {
    let lines = head.headers[proxies.field.rawValue]
    let client = peer.flatMap { IPAddress($0) }.map { "\(proxies.client(of: $0, lines))" }
    var facts: Logger.Metadata = [
      "method": "\(head.method)", "route": "\(route)", "status": "\(status)",
      "client": "\(client ?? "unknown")", "hb.request.id": "\(RequestID())",
    ]
    if let trace = TraceParent(head.headers) {
      facts["trace_id"] = "\(trace.traceID)"
      facts["parent_id"] = "\(trace.parentID)"
    }
    return facts
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
