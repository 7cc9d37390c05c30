import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/items`: published items.
struct ItemHandlers: Sendable {
  let reads: PublicReads

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
    query.after = parameters.cursor(PageCursor(query))
    try parameters.check()

    return try await reads.response(.items(query), at: at, to: request)
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["include", "at"])
    let includesHTML = parameters.includesHTML()
    let at = parameters.token("at")
    try parameters.check()

    return try await reads.response(.item(try context.itemID(), html: includesHTML), at: at, to: request)
  }
}
