import Foundation
import Hummingbird
import News
import NewsStore

/// The handlers of the history: `/v1/editorial/history` and `/v1/editorial/items/{id}/history`.
extension EditorialItemHandlers {
  @Sendable func history(_ request: Request, context: APIContext) async throws -> Response {
    try await history(of: nil, request, context)
  }

  @Sendable func itemHistory(_ request: Request, context: APIContext) async throws -> Response {
    try await history(of: try context.itemID(), request, context)
  }

  private func history(of item: UUID?, _ request: Request, _ context: APIContext) async throws -> Response {
    var parameters = request.parameters(["limit", "cursor"])
    let limit = parameters.integer("limit", in: 1...200, default: 50)
    let cursor = PageCursor(filters: ["history", item?.uuidString])
    let position = parameters.position(cursor)
    try parameters.check()
    let page = try await store.history(
      of: item, after: position, limit: limit, for: context.access, owner: context.computingOwner)
    var headers = HTTPFields()
    headers[.link] = page.next.map { request.link(toPage: cursor.text(position: $0)) }
    return try await context.compute { [headers] in
      let body = try NewsJSON.encode(HistoryList(entries: page.entries, incomplete: page.isIncomplete ? true : nil))
      return .json(headers: headers) { $0.write(json: body) }
    }
  }

  /// Restores the content of an earlier revision, which is a write like any other.
  @Sendable func restore(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.itemID()
    guard let revision = context.parameters.get("revision").flatMap({ Int($0) }), revision > 0 else {
      throw ProblemError.notFound
    }
    let precondition = try WritePrecondition(request.headers)
    return Self.answer(try await editorial.restore(id, to: revision, if: precondition, context)).response
  }
}
