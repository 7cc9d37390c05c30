import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/items`: published items.
struct ItemHandlers: Sendable {
  let views: Views
  let caching: CachePolicy
  /// The cache policy of lists, which clients poll.
  let polled: CachePolicy

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters([
      "limit", "cursor", "topics", "language", "author", "from", "to", "q", "include", "at",
    ])
    var query = ItemQuery(
      scope: parameters.scope(),
      limit: parameters.integer("limit", in: 1...200, default: 50),
      language: parameters.value("language", rule: "must be a BCP 47 language tag such as en or pt-BR") {
        LanguageTag.isValid($0) ? $0 : nil
      },
      author: parameters.text("author", maximumBytes: 256),
      from: parameters.date("from"),
      to: parameters.date("to"),
      search: parameters.text("q", maximumBytes: 256).map(SearchQuery.init),
      includesHTML: parameters.includesHTML())
    let at = parameters.token("at")
    let cursor = PageCursor(query)
    query.after = parameters.cursor(cursor)
    try parameters.check()

    return try await views.items(query, cursor, at: at, for: request.uri.string)
      .response(to: request, polled, context.metrics)
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["include", "at"])
    let includesHTML = parameters.includesHTML()
    let at = parameters.token("at")
    try parameters.check()

    return try await views.item(try context.itemID(), includesHTML: includesHTML, at: at, for: request.uri.string)
      .response(to: request, caching, context.metrics)
  }
}

extension PageCursor {
  fileprivate init(_ query: ItemQuery) {
    filters = [
      "items", query.scope.topics.joined(separator: ","), query.language?.lowercased(), query.author,
      query.from.map(RFC3339.string), query.to.map(RFC3339.string),
      query.search?.text,
    ]
  }
}
