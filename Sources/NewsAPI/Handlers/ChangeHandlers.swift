import HTTPConditions
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// `/v1/changes` and `/v1/state`: what a client follows.
struct ChangeHandlers: Sendable {
  let store: NewsStore
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

    let list = try await store.changes(query)
    // The tag is the token, so that a client at a token asks with it, whatever it was it last got.
    var representation = Representation(
      try NewsJSON.encode(list), tag: EntityTag(strong: list.token.description))
    representation.fields[.syncToken] = list.token.description
    return try representation.response(to: request, caching, context.metrics)
  }

  @Sendable func state(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["topics"])
    let scope = parameters.scope()
    try parameters.check()
    return try Representation(try NewsJSON.encode(try await store.state(scope))).response(
      to: request, caching, context.metrics)
  }
}
