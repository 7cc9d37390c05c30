import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The handlers of `/v1/editorial/items`: items in every state, with their revision as an optimistic lock.
struct EditorialItemHandlers: Sendable {
  let editorial: EditorialAPI
  /// The maximum size of the body of a batch, in bytes.
  let largestBatchBytes: Int
  /// The maximum size of the stored items that a batch changes, in bytes of JSON.
  let largestStoredBatchBytes: Int
  /// Limits the batches at a time, because each of them may use much memory.
  let batches: ConcurrencyLimiter

  var store: NewsStore { editorial.store }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["state", "topics", "from", "to", "breaking", "q", "limit", "cursor"])
    let states = EditorialItem.State.allCases.map(\.rawValue).joined(separator: ", ")
    var query = EditorialQuery(
      state: parameters.value("state", rule: "must be one of \(states)") { EditorialItem.State(text: $0) },
      scope: parameters.scope(),
      from: parameters.date("from"),
      to: parameters.date("to"),
      isBreaking: parameters.bool("breaking"),
      search: parameters.text("q", maximumBytes: 256).map(SearchQuery.init),
      limit: parameters.integer("limit", in: 1...200, default: 50),
      access: context.access)
    let cursor = PageCursor(query)
    query.after = parameters.cursor(cursor)
    try parameters.check()

    let page = try await store.editorialItems(query)
    var headers = HTTPFields()
    headers[.link] = page.next.map { request.link(toPage: cursor.text($0)) }
    return try await context.compute { [headers] in
      .json(headers: headers) { $0.write(EditorialItemList(items: page.items, counts: page.counts)) }
    }
  }

  @Sendable func item(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let item = try await store.editorialItem(try context.itemID(), for: context.access)
    return try .locked(revision: item.revision, to: request) { $0.write(item) }
  }

  @Sendable func create(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let fields = try await JSONBody.object(of: request, context: context)
    let (item, created) = try await editorial.create(fields, context)
    return Self.answer(item, created: created).response
  }

  @Sendable func replace(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.itemID()
    let fields = try await JSONBody.object(of: request, context: context)
    let (item, created) = try await editorial.replace(id, fields, headers: request.headers, context)
    return Self.answer(item, created: created).response
  }

  @Sendable func modify(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.itemID()
    let patch = try await JSONBody.object(
      of: request, context: context, types: ["application/merge-patch+json", "application/json"])
    return Self.answer(try await editorial.modify(id, patch, headers: request.headers, context)).response
  }

  @Sendable func retract(_ request: Request, context: APIContext) async throws -> Response {
    let reason = try Self.reason(in: request)
    let precondition = try WritePrecondition(request.headers)
    try await editorial.retract(try context.itemID(), reason: reason, if: precondition, context)
    return Response(status: .noContent)
  }

  @Sendable func erase(_ request: Request, context: APIContext) async throws -> Response {
    let reason = try Self.reason(in: request)
    let precondition = try WritePrecondition(request.headers)
    try await editorial.erase(try context.itemID(), reason: reason, if: precondition, context)
    return Response(status: .noContent)
  }
}

extension EditorialItemHandlers {
  /// Reads the explanation of a retraction in a query.
  private static func reason(in request: Request) throws -> String? {
    var parameters = request.parameters(["reason"])
    let reason = parameters.text("reason", maximumBytes: EditorialAPI.maximumReasonBytes)
    try parameters.check()
    return reason
  }

  static func answer(_ item: EditorialItem, created: Bool = false) -> EditorialAnswer {
    let location = created ? "\(APIPath.editorialItems)/\(item.item.id.uuidString.lowercased())" : nil
    return .locked(revision: item.revision, createdAt: location, content: .item) { $0.write(item) }
  }
}

extension PageCursor {
  /// Creates the cursor of a list for editors, whatever its page.
  fileprivate init(_ query: EditorialQuery) {
    self.init(
      filters: [
        "editorial", query.state?.rawValue, query.scope.topics.joined(separator: ","),
        query.from.map(RFC3339.string), query.to.map(RFC3339.string), query.isBreaking.map { "\($0)" },
        query.search?.text,
      ])
  }
}

extension Request {
  /// Returns the link to the next page (RFC 8288): this request with another cursor. The link is relative, so it is
  /// valid under every public name of the server.
  func link(toPage cursor: String) -> String {
    let others = (uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("cursor=") }
    // Inside a link, these two characters would end it. Percent-encoding them is always allowed.
    let query = (others.map { $0.replacing(">", with: "%3E").replacing("<", with: "%3C") } + ["cursor=\(cursor)"])
      .joined(separator: "&")
    return "<\(uri.path)?\(query)>; rel=\"next\""
  }
}
