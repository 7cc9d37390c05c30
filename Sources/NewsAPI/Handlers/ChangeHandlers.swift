import Hummingbird
import News
import NewsStore

/// `/v1/changes` and `/v1/state`: what a client follows.
struct ChangeHandlers: Sendable {
  let views: Views
  let caching: CachePolicy

  @Sendable func changes(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["since", "topics", "limit", "include", "at"])
    let query = ChangeQuery(
      scope: parameters.scope(),
      since: parameters.token("since"),
      limit: parameters.integer("limit", in: 1...1000, default: 200),
      includesHTML: parameters.includesHTML(),
      at: parameters.token("at"))
    try parameters.check()

    return try await views.changes(query, for: request.uri.string).response(to: request, caching, context.metrics)
  }

  @Sendable func state(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return try await views.state(scope, for: request.uri.string).response(to: request, caching, context.metrics)
  }
}
