package import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
package import NewsStore

/// The handlers of `/v1/editorial/pushes`: what was sent to devices, and alerts at the request of an editor.
struct PushHandlers: Sendable {
  let editorial: EditorialAPI

  private var store: NewsStore { editorial.store }

  @Sendable func list(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = request.parameters(["before", "limit"])
    let limit = parameters.integer("limit", in: 1...200, default: 50)
    let before = parameters.value("before", rule: "must be the id of a push") { UUID(uuidString: $0) }
    try parameters.check()
    let list = PushList(pushes: try await store.pushes(limit: limit, before: before, access: context.access))
    var headers = HTTPFields()
    if list.pushes.count == limit, let last = list.pushes.last {
      // The link is relative, so it is valid under every public name of the server.
      headers[.link] = "<\(APIPath.pushes)?before=\(last.id.uuidString.lowercased())&limit=\(limit)>; rel=\"next\""
    }
    return try .json(headers: headers) { try $0.encode(list) }
  }

  @Sendable func push(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    let id = try context.resourceID("push")
    guard let push = try await store.push(id, access: context.access) else { throw ProblemError.notFound }
    return try .json { try $0.encode(push) }
  }

  @Sendable func send(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    var reader = FieldReader(try await JSONBody.object(of: request, context: context))
    let item = reader.id("item")
    if item == nil, reader.errors.isEmpty { reader.refuse("item", "is required") }
    let isDryRun = reader.bool("dryRun") ?? false
    reader.finish()
    guard reader.errors.isEmpty, let item else { throw ProblemError.invalidFields(reader.errors.list) }
    if isDryRun {
      let audience = try await store.alertAudience(of: item, access: context.access)
      return try .json { try $0.encode(audience) }
    }
    return Self.answer(to: try await editorial.requestAlert(item, context)).response
  }

  /// Returns the answer to the request of an alert. The alert itself is made a moment later.
  static func answer(to request: AlertRequest) -> EditorialAnswer {
    .json(status: request.isNew ? .accepted : .ok) { $0.write(request) }
  }
}

extension EditorialAPI {
  /// Requests an alert for an item, which has at most one. It is made when the item is published.
  ///
  /// - Throws: `ProblemError`, 403, for a key that may not send pushes; `StoreError`, `AnsweredBefore`.
  package func requestAlert(_ item: UUID, _ context: APIContext) async throws -> AlertRequest {
    try Self.requireAlertRights(true, context)
    // The scope is enough: an alert changes no item.
    let access = ItemAccess(topics: context.access.topics)
    context.record.setSubject("item", item.uuidString.lowercased())
    return try await store.requestAlert(
      item: item, access: access, by: context.editor, once: context.once { PushHandlers.answer(to: $0) })
  }
}

extension JSONWriter {
  /// Writes the answer to a request for an alert.
  fileprivate mutating func write(_ request: AlertRequest) {
    object { json in
      if let push = request.push { json.field("push", push) }
      json.field("state", request.state.rawValue)
    }
  }
}
