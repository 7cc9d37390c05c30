import Foundation
import HTTPTypes
import Hummingbird
import Logging
import News
import NewsStore

/// What an operator asks, and the description of the API.
struct ServiceHandlers: Sendable {
  let store: NewsStore
  let caching: CachePolicy
  private let description: Representation

  init(store: NewsStore, caching: CachePolicy, openAPI: Data) {
    self.store = store
    self.caching = caching
    // RFC 9512 section 2.1.
    description = Representation(openAPI, contentType: "application/yaml")
  }

  /// Whether the process lives: no reason to start it again.
  @Sendable func health(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try Self.status(["status": "ok", "version": TidingsVersion.current])
  }

  /// Whether it can do its work: a load balancer sends no requests otherwise.
  @Sendable func readiness(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    do {
      if let problem = store.schemaProblem { throw problem }
      _ = try await store.present()
    } catch {
      // Load balancers ask every few seconds: the reason is logged where the connection is lost.
      context.logger.debug("not ready", metadata: ["error": "\(String(reflecting: error))"])
      throw ProblemError.unavailable
    }
    return try Self.status(["status": "ready"])
  }

  @Sendable func openAPI(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    return try description.response(to: request, caching, context.metrics)
  }

  private static func status(_ fields: [String: String]) throws -> Response {
    try .json(fields, headers: [.cacheControl: CachePolicy.notStored])
  }
}
