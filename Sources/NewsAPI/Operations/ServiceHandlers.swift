import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import News
import NewsStore

/// The handlers of the health checks and of `/openapi.yaml`.
struct ServiceHandlers: Sendable {
  let store: NewsStore
  let caching: CachePolicy
  private let metrics: APIMetrics
  private let description: (representation: Representation, text: ByteBuffer)

  init(store: NewsStore, caching: CachePolicy, openAPI: Data, metrics: APIMetrics) {
    self.store = store
    self.caching = caching
    self.metrics = metrics
    // The media type of YAML (RFC 9512 section 2.1).
    description = (
      Representation([UInt8](openAPI), contentType: "application/yaml"), ByteBuffer(bytes: openAPI)
    )
  }

  /// Reports liveness: the process runs and need not be restarted.
  @Sendable func health(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return Self.status(["status": "ok", "version": TidingsVersion.current])
  }

  /// Reports readiness: whether the server can do its work. Otherwise a load balancer sends it no requests.
  ///
  /// - Throws: `ProblemError`, 503, if the server is not ready.
  @Sendable func readiness(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    do {
      if let problem = store.schemaProblem { throw problem }
      _ = try await store.snapshot()
    } catch {
      // The level is `debug` because load balancers ask every few seconds. The reason is logged where the connection is
      // lost.
      context.logger.debug("not ready", metadata: ["error": "\(String(reflecting: error))"])
      throw ProblemError.unavailable(store)
    }
    var fields = ["status": "ready"]
    // A server that cannot write is ready nonetheless: readers are served, and the other servers have the same database.
    if let obstacle = store.writeObstacle { fields["writes"] = obstacle.rawValue }
    return Self.status(fields)
  }

  @Sendable func openAPI(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try await description.representation.response(to: request, caching, metrics) { description.text }
  }

  private static func status(_ fields: [String: String]) -> Response {
    .json(headers: [.cacheControl: CachePolicy.notStored]) { $0.dictionary(fields) { $0.write($1) } }
  }
}
