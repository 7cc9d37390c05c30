import HTTPEdge
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NetworkAddresses
import NewsStore

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
