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

  /// Logs a request if it took long.
  ///
  /// - Parameters:
  ///   - route: The path pattern of the route.
  ///   - duration: The time from the head of the request to the response.
  ///   - database: The time that the request waited for the database.
  ///   - facts: The metadata of all log lines about the request.
  func log(
    route: String, duration: Duration, database: DatabaseTime, _ logger: Logger, facts: () -> Logger.Metadata
  ) {
    guard let limit, duration >= limit else { return }
    let metadata: Logger.Metadata = [
      "route": "\(route)", "ms": "\(duration.milliseconds)", "database_ms": "\(database.total.milliseconds)",
    ]
    logger.notice("slow request", metadata: metadata.merging(facts()) { own, _ in own })
  }

  /// The metadata of log lines about a request that has not passed the router.
  func facts(_ head: HTTPRequestHead, peer: SocketAddress?, status: Int) -> Logger.Metadata {
    let lines = head.headers[proxies.field.rawValue]
    let client = peer.flatMap { IPAddress($0) }.map { "\(proxies.client(of: $0, lines))" }
    var facts: Logger.Metadata = [
      "method": "\(head.method)", "path": "\(head.uri.prefix { $0 != "?" })", "status": "\(status)",
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
