import HTTPTypes
import Hummingbird
import News
import NewsStore

/// `/v1/items`: what is published.
struct ItemHandlers: Sendable {
  let store: NewsStore
  let caching: CachePolicy

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
      includesHTML: parameters.includesHTML(),
      at: parameters.token("at"))
    let cursor = PageCursor(query)
    query.after = parameters.cursor(cursor)
    try parameters.check()

    let page = try await store.items(query)
    var representation = Representation(
      try NewsJSON.encode(ItemList(items: page.items)), lastModified: page.lastModified)
    representation.fields[.syncToken] = page.token.description
    representation.fields[.link] = page.next.map { request.link(toPage: cursor.text($0)) }
    return try representation.response(to: request, caching, context.metrics)
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["include", "at"])
    let includesHTML = parameters.includesHTML()
    let at = parameters.token("at")
    try parameters.check()

    let answer = try await store.item(try context.itemID(), includesHTML: includesHTML, at: at)
    return try Representation(try NewsJSON.encode(answer.item), lastModified: answer.lastModified)
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

extension Request {
  /// The link to the next page (RFC 8288): this request with another cursor. It is relative, hence right whatever the
  /// server is called from outside.
  func link(toPage cursor: String) -> String {
    // `at` has done its work with the first page.
    let others = (uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("cursor=") && !$0.hasPrefix("at=") }
    // Inside of a link these two would end it; they are never needed unencoded.
    let query = (others.map { $0.replacing(">", with: "%3E").replacing("<", with: "%3C") } + ["cursor=\(cursor)"])
      .joined(separator: "&")
    return "<\(uri.path)?\(query)>; rel=\"next\""
  }
}
